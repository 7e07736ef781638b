"""Sum of two scaled matrix-vector products in JAX, to time gradients of.

The expert form scales the vector, not the matrices.
"""


def port(alpha, beta, A, B, x):
    """The program, as it is."""
    return alpha * A @ x + beta * B @ x


def expert(alpha, beta, A, B, x):
    """Two products with scaled vectors."""
    return A @ (alpha * x) + B @ (beta * x)
