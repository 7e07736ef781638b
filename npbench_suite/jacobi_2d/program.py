"""Jacobi iteration in two dimensions: the mean over the five-point stencil, from A to B and back."""


def initialize(TSTEPS, N, rng):
    return {"TSTEPS": TSTEPS, "A": rng.uniform(-1, 1, (N, N)), "B": rng.uniform(-1, 1, (N, N))}


def jacobi_2d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[:-2, 1:-1] + B[2:, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:])
