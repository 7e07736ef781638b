"""Gauss-Seidel iteration in two dimensions: the mean over the nine-point stencil, in place."""


def initialize(TSTEPS, N, rng):
    return {"TSTEPS": TSTEPS, "N": N, "A": rng.uniform(-1, 1, (N, N))}


def seidel_2d(TSTEPS, N, A):
    for t in range(TSTEPS - 1):
        for i in range(1, N - 1):
            # Only the left neighbour depends on the current row's new values.
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, N - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0
