"""JAX forms of atax. The expert form is the port: two matrix-vector products are all there is."""


def port(A, x):
    """The program's two products."""
    return (A @ x) @ A


expert = port
