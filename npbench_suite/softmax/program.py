"""Softmax over the last axis, in single precision; the largest element is taken off before the exponential."""

import numpy as np


def initialize(N, H, SM, rng):
    return {"x": rng.uniform(-2, 2, (N, H, SM, SM)).astype(np.float32)}


def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    weights = np.exp(x - largest)
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / total
