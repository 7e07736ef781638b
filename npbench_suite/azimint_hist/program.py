"""Azimuthal integration: the mean of the data in each of npt rings of equal width, found by histograms.

The rings go from the smallest radius to the largest.
"""

import numpy as np


def initialize(N, npt, rng):
    # At least one radius in each ring, none close to a ring's edge except for the smallest and the largest one.
    rings = np.concatenate([np.arange(npt), rng.integers(0, npt, N - npt)])
    relative = (rings + rng.uniform(0.3, 0.7, N)) / npt
    relative[0] = 0.0
    relative[npt - 1] = 1.0
    order = rng.permutation(N)
    return {"data": rng.uniform(0, 1, N), "radius": 0.1 + 0.8 * relative[order], "npt": npt}


def azimint_hist(data, radius, npt):
    counts = np.histogram(radius, npt)[0]
    totals = np.histogram(radius, npt, weights=data)[0]
    return totals / counts
