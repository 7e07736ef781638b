"""Arrays of objects that a program fills item by item."""

import numpy as np
import pytest

import sdfgad


def by_none(x):
    parts = np.array([None] * 3)
    for k in range(3):
        parts[k] = x[: k + 1] ** 2
    return np.sum(parts[2]) * np.sum(parts[0]) + len(parts) * parts.size


def by_empty(x):
    parts = np.empty(3, dtype=object)
    for k in range(parts.shape[0]):
        parts[k] = x[k] * np.exp(x[k])
    total = 0.0
    for part in parts:
        total += part
    return total + np.sum(parts) + sum(list(parts))


def by_full(x):
    parts = np.full(2, None)
    if x[0] > 0.0:
        parts[0] = x * 2.0
    else:
        parts[0] = x * 3.0
    parts[1] = parts[0] + x
    return np.sum(np.stack(list(parts)) ** 2)


def by_zeros(x):
    counts = np.zeros(3, dtype=object)
    for k in range(3):
        counts[k] += x[k] * x[0]
    other = counts.copy()
    other[0] = 0.0
    return counts[0] + counts[2] + other[0] + other[1]


@pytest.mark.parametrize("program", [by_none, by_empty, by_full, by_zeros])
def test_items(program):
    x = np.array([0.4, 0.9, 1.3])
    assert sdfgad.differentiate(program, wrt="x").value(x) == pytest.approx(program(x), rel=1e-13)
    assert sdfgad.check_grads(program, x).error < 1e-8
