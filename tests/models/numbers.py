"""Numbers for tests, where functions have no kinks."""

import numpy as np


def floats(*shape, seed=0, low=-2.0, high=2.0):
    """Numbers away from zero and from each other."""
    n = int(np.prod(shape))
    ladder = np.linspace(low, high, n + 1)[:-1] + (high - low) / (3 * n)
    return np.random.default_rng(seed + n).permutation(ladder).reshape(shape).astype(np.float32)
