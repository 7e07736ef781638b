"""General matrix-matrix product in JAX, to time gradients of.

The expert form is the port: with alpha on A, its gradient is one of the products, and a third is not needed.
"""


def port(alpha, beta, C, A, B):
    """The program, as it is."""
    return alpha * A @ B + beta * C


expert = port
