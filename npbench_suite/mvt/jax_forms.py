"""Products of a matrix and of its transpose with vectors, in JAX, for timing: x1, the main output.

The expert form is the port: its gradient is one outer product and one matrix-vector product already.
"""


def port(x1, x2, y_1, y_2, A):
    """The vector x1 with A y_1 added; x2 does not take part in it."""
    return x1 + A @ y_1


expert = port
