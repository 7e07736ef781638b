"""A matrix plus the sum of the hyperbolic tangents of its diagonal."""

import numpy as np


def initialize(N, rng):
    return {"a": rng.uniform(-1, 1, (N, N))}


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace
