"""Shifts of ``np.roll`` that data decides: values, gradients, batches, and slopes along a direction."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = np.linspace(0.3, 1.1, 6)


def by_data(x):
    k = int(10.0 * x[0] + 0.5)
    y = np.outer(x, np.arange(1.0, 5.0))
    both = np.roll(y, (k, -int(x[1] * 9.0)), axis=(1, 0))
    return np.sum(np.roll(x * x, k) * x) + np.sum(both * y**2) + np.sum(np.roll(y, -k) * y**3)


def by_an_argument(x, k):
    return np.sum(np.roll(x * x, k[1]) * x)


def test_by_data():
    for x in (X, X[::-1].copy(), X - 1.9):
        assert_value_and_slope(by_data, x)


@pytest.mark.slow
def test_in_batches_and_second_derivatives():
    points, shifts = np.stack([X, X[::-1], X * 1.1]), np.array([[0, 2], [0, -7], [0, 13]])
    found = sdfgad.vmap(sdfgad.grad(by_an_argument))(points, shifts)
    slope = sdfgad.grad(by_an_argument)
    np.testing.assert_allclose(found, [slope(x, k) for x, k in zip(points, shifts, strict=True)], rtol=1e-14)
    moved = sdfgad.hvp(by_an_argument, (X, shifts[0]), (np.cos(X), None))
    ends = [slope(X + h * np.cos(X), shifts[0]) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(moved, (ends[0] - ends[1]) / 2e-5, rtol=1e-8)
