"""Mandelbrot set: the iterates of all points of a window, each until it has left a disc, and when it did.

A point that has not left has the count 0.
"""

import numpy as np


def initialize(xmin, xmax, XN, ymin, ymax, YN, maxiter, horizon, rng):
    return {
        "xmin": xmin,
        "xmax": xmax,
        "ymin": ymin,
        "ymax": ymax,
        "xn": XN,
        "yn": YN,
        "maxiter": maxiter,
        "horizon": horizon,
    }


def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon=2.0):
    real = np.linspace(xmin, xmax, xn, dtype=np.float64)
    imaginary = np.linspace(ymin, ymax, yn, dtype=np.float64)
    C = real + imaginary[:, None] * 1j
    counts = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        inside = np.less(abs(Z), horizon)
        counts[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    counts[counts == maxiter - 1] = 0
    return Z, counts
