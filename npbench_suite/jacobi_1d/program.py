"""Jacobi iteration in one dimension: the mean of three neighbours, from A to B and back."""


def initialize(TSTEPS, N, rng):
    return {"TSTEPS": TSTEPS, "A": rng.uniform(-1, 1, N), "B": rng.uniform(-1, 1, N)}


def jacobi_1d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
