"""What loops go over: ranges at places that are data, ``np.arange`` with run-time bounds, and known masks."""

import numpy as np

import sdfgad
from sdfgad.ir.program import walk
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.1, 1.0, 12)
U = np.sin(np.arange(12.0) + 0.3) + 1.1
FOLDS = np.arange(12) % 4


def program(x, u, folds):
    """A spline by de Boor's recursion, a tree by `np.arange`, and a cross-validation."""
    k = 3
    while x[k] < 0.5:
        k += 1
    d = [np.array(u[j], dtype=float) for j in range(k - 3, k + 1)]
    for r in range(1, 4):
        for j in range(3, r - 1, -1):
            i = k - 3 + j
            share = (u[0] - x[i]) / (x[i + 1] + x[i])
            d[j] = (1.0 - share) * d[j - 1] + share * d[j]
    total = d[3]
    for i in np.arange(9, -1, -1):
        for j in np.arange(max(0, i - 5), min(i + 1, 12)):
            total += x[j] * u[i] * (i - j) / (j + 1)
        total += sum(x[m] for m in np.arange(i, i + 2))
    for fold in np.unique(folds):
        kept = folds != fold
        order = np.argsort(u[kept])
        total += np.sum(x[kept][order] * u[:9]) / len(x[kept])
    return total


def test_iterables():
    g = sdfgad.differentiate(program, wrt=("x", "u"))
    for shift in (0.0, 0.3):
        x = X + shift
        value, gradients = g.value_and_grad(x, U, FOLDS)
        np.testing.assert_allclose(value, program(x, U, FOLDS), rtol=1e-13)
        d, h = np.cos(np.arange(12.0)), 1e-6
        for gradient, (dx, du) in zip(gradients, ((d, 0.0), (0.0, d)), strict=True):
            ahead, behind = (program(x + s * dx, U + s * du, FOLDS) for s in (h, -h))
            np.testing.assert_allclose(gradient @ d, (ahead - behind) / (2.0 * h), rtol=1e-6)


def test_arange_loops_stay_loops():
    def tree(x, n):
        for i in np.arange(n - 1, -1, -1):
            for j in np.arange(0, i + 1):
                x[j] = 0.5 * (x[j] + x[j + 1])
        return x[0]

    assert sum(1 for _ in walk(parsed(tree, X, 11).program.body)) < 6


def of_data(x):
    first = int(np.argmax(x))
    return np.sum(np.arange(first, 9)) * x[0]


def test_arange_of_data_as_an_array():
    assert_value_and_slope(of_data, X)
