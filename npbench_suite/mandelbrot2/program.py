"""Mandelbrot set: where the points of a window have got when they leave a disc, and after how many iterations.

Only the points that are still in the disc are iterated on. Those that never leave have the value and the count 0.
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
        "itermax": maxiter,
        "horizon": horizon,
    }


def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    rows, columns = np.mgrid[0:xn, 0:yn]
    real = np.linspace(xmin, xmax, xn, dtype=np.float64)[rows]
    imaginary = np.linspace(ymin, ymax, yn, dtype=np.float64)[columns]
    C = real + imaginary * 1j
    counts = np.zeros(C.shape, dtype=np.int64)
    last = np.zeros(C.shape, dtype=np.complex128)
    rows.shape = columns.shape = C.shape = xn * yn

    Z = np.zeros(C.shape, np.complex128)
    for n in range(itermax):
        if not len(Z):
            break

        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)

        # What has left is recorded.
        mask = abs(Z) > horizon
        counts[rows[mask], columns[mask]] = n + 1
        last[rows[mask], columns[mask]] = Z[mask]

        # The rest goes on.
        np.logical_not(mask, mask)
        Z = Z[mask]
        rows, columns = rows[mask], columns[mask]
        C = C[mask]
    return last.T, counts.T
