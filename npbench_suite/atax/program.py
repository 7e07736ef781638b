"""Normal matrix times a vector: the transpose of A times A x."""


def initialize(M, N, rng):
    return {"A": rng.uniform(-1, 1, (M, N)), "x": rng.uniform(-1, 1, N)}


def atax(A, x):
    return (A @ x) @ A
