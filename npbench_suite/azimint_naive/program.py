"""Azimuthal integration: the mean of the data in each of npt rings of equal width, found by masks.

The rings go from 0 to the largest radius, which itself lies outside the last one.
"""

import numpy as np


def initialize(N, npt, rng):
    # At least one radius in each ring, none close to a ring's edge except for the largest one.
    rings = np.concatenate([np.arange(npt), rng.integers(0, npt, N - npt)])
    radius = (rings + rng.uniform(0.3, 0.7, N)) / npt
    radius[-1] = 1.0
    order = rng.permutation(N)
    return {"data": rng.uniform(0, 1, N), "radius": radius[order], "npt": npt}


def azimint_naive(data, radius, npt):
    outer = radius.max()
    means = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        low = outer * i / npt
        high = outer * (i + 1) / npt
        inside = np.logical_and((low <= radius), (radius < high))
        selected = data[inside]
        means[i] = selected.mean()
    return means
