"""Three matrix products in JAX, to time gradients of.

The expert form is the port: eight products in the gradient, in any order, and at most sizes this one is shortest.
"""


def port(A, B, C, D):
    """The program, as it is."""
    return A @ B @ C @ D


expert = port
