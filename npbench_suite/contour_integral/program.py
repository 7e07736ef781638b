"""Contour integral of a matrix inverse: its first two moments, applied to Y, from points on two circles.

The matrix at a point is a polynomial in the point and its inverse, with the matrices in Ham as coefficients.
"""

import numpy as np


def initialize(NR, NM, slab_per_bc, num_int_pts, rng):
    def noise(*shape):
        return rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)

    Ham = noise(slab_per_bc + 1, NR, NR) / (4 * NR)
    Ham[slab_per_bc // 2] += 2.0 * np.eye(NR)
    # Half of the points inside the unit circle, half outside.
    radius = np.where(np.arange(num_int_pts) % 2, 1.25, 0.8)
    return {
        "NR": NR,
        "NM": NM,
        "slab_per_bc": slab_per_bc,
        "Ham": Ham,
        "int_pts": radius * np.exp(1j * rng.uniform(-np.pi, np.pi, num_int_pts)),
        "Y": noise(NR, NM),
    }


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    zeroth = np.zeros((NR, NM), dtype=np.complex128)
    first = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        matrix = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            matrix += np.power(z, slab_per_bc / 2 - n) * Ham[n]
        if NR == NM:
            X = np.linalg.inv(matrix)
        else:
            X = np.linalg.solve(matrix, Y)
        if abs(z) < 1.0:
            X = -X
        zeroth += X
        first += z * X
    return zeroth, first
