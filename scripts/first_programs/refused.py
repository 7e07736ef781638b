"""A program that is not understood: `x` grows, by data, to a length that nobody knows before the run."""

import numpy as np

import sdfgad


def padded(x):
    while np.sum(x) > 1.0:
        x = np.append(x, -0.5)
    return np.sum(x * x)


sdfgad.differentiate(padded)(np.linspace(0.0, 1.0, 9))
