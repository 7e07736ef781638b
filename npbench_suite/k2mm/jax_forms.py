"""Two matrix products in JAX, to time gradients of.

The expert form is the port: five products in the gradient, in either order, and this one is shorter.
"""


def port(alpha, beta, A, B, C, D):
    """The program, as it is."""
    return alpha * A @ B @ C + beta * D


expert = port
