"""A clipped array times a, another array times b, and c: their sum."""

import numpy as np


def initialize(M, N, rng):
    # Below, between and above the limits, and at least 0.1 away from them.
    return {
        "array_1": rng.integers(0, 13, (M, N)) + rng.uniform(0.1, 0.9, (M, N)),
        "array_2": rng.uniform(0, 10, (M, N)),
        "a": 4.0,
        "b": 3.0,
        "c": 9.0,
    }


def compute(array_1, array_2, a, b, c):
    return a * np.clip(array_1, 2, 10) + b * array_2 + c
