"""Fourier transform of x, of size R to the power of K, by the Stockham algorithm with the radix R; y receives it."""

import numpy as np


def initialize(R, K, rng):
    N = R**K
    return {
        "N": N,
        "R": R,
        "K": K,
        "x": rng.uniform(-1, 1, N) + 1j * rng.uniform(-1, 1, N),
        "y": rng.uniform(-1, 1, N) + 1j * rng.uniform(-1, 1, N),
    }


def stockham_fft(N, R, K, x, y):
    # The transform of size R as a matrix.
    row, column = np.mgrid[0:R, 0:R]
    butterfly = np.empty((R, R), dtype=np.complex128)
    butterfly = np.exp(-2.0j * np.pi * row * column / R)

    y[:] = x[:]

    digit, position = np.mgrid[0:R, 0 : R**K]

    for i in range(K):
        done, left = R**i, R ** (K - i - 1)

        permuted = np.transpose(np.reshape(y, (done, R, left)), axes=(1, 0, 2))

        angle = -2.0j * np.pi * digit[:, :done] * position[:, :done] / R ** (i + 1)
        twiddle = np.empty((R, done, left), dtype=np.complex128)
        twiddle[:] = np.repeat(np.reshape(np.exp(angle), (R, done, 1)), left, axis=2)

        twisted = np.reshape(permuted, (N,)) * np.reshape(twiddle, (N,))
        y[:] = np.reshape(butterfly @ np.reshape(twisted, (R, R ** (K - 1))), (N,))
