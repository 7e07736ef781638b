"""The two products of the biconjugate gradient method: the transpose of A times r, and A p."""


def initialize(M, N, rng):
    return {
        "A": rng.uniform(-1, 1, (N, M)),
        "p": rng.uniform(-1, 1, M),
        "r": rng.uniform(-1, 1, N),
    }


def bicg(A, p, r):
    return r @ A, A @ p
