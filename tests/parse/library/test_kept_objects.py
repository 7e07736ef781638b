"""Objects that keep arrays of the program: whether they see later updates is as in SciPy, in values and gradients."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.interpolate import CubicSpline, RegularGridInterpolator, interp1d
from scipy.sparse.linalg import splu

import sdfgad

RNG = np.random.default_rng(0)
A, B, D = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3), RNG.normal(size=3), np.array([2.0, 3.0, 4.0, 0.5])
ROWS, COLUMNS = np.array([0, 1, 2, 0]), np.array([0, 1, 2, 1])
KNOTS, AT = np.arange(4.0), np.array([0.3, 1.4, 2.6])


def factors_of_an_argument(A, b):
    kept = scipy.linalg.lu_factor(A)
    A[1, 1] = 9.0
    return np.sum(scipy.linalg.lu_solve(kept, b) ** 2) + np.sum(A)


def factors_of_an_array(A, b):
    A = A.copy()
    kept = scipy.linalg.lu_factor(A)
    A *= 2.0
    return np.sum(scipy.linalg.lu_solve(kept, b, trans=1) ** 2) * A[0, 0]


def sparse_factors(d, b):
    S = sp.csc_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    kept = splu(S)
    S.data[:] = S.data * 3.0
    return np.sum(kept.solve(b) ** 2) + np.sum(S.data)


def shared_entries(d, b):
    """Which conversions share the entries, and which copy them."""
    S = sp.coo_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)).tocsr()
    same, again, copied = S.tocsr(), sp.csr_matrix(S), sp.csr_array(S, copy=True)
    apart, turned, coo = S.tocsc().tocoo(), S.T, sp.coo_matrix(S)
    S.data[0] = S.data[0] * 5.0
    apart.data[1] = 7.0
    same.data[2] = same.data[2] ** 2
    of_columns = turned.tocoo()
    turned.data[3] = turned.data[3] * 3.0
    coo.data[0] = coo.data[0] + 1.0
    return np.sum((of_columns @ b) ** 2) + sum(
        np.sum((one @ b) ** 2) for one in (S, same, again, copied, apart, turned, coo, S.tocoo(copy=False))
    )


def spline(d, b):
    y = d * 2.0
    f = CubicSpline(KNOTS, y)
    y[1] = 7.0
    return np.sum(f(AT) * b) * y[1]


def lines(d, b):
    y = d * 2.0
    f, g = interp1d(KNOTS, y, assume_sorted=True), interp1d(KNOTS, y, kind="nearest")
    y *= 3.0
    return np.sum(f(AT) * b) + np.sum(g(AT) ** 2) + np.sum(y)


def grid(d, b):
    v = np.outer(d, b)
    f = RegularGridInterpolator((KNOTS, np.arange(3.0)), v)
    v[1] = v[1] * 5.0
    return np.sum(f(np.stack([AT, 0.5 * AT], axis=1)) ** 2)


CASES = [
    (factors_of_an_argument, A),
    (factors_of_an_array, A),
    (sparse_factors, D),
    (shared_entries, D),
    (spline, D),
    (lines, D),
    (grid, D),
]


@pytest.mark.parametrize(("program", "first"), CASES)
def test_later_updates(program, first):
    value = sdfgad.differentiate(program).value(first.copy(), B)
    np.testing.assert_allclose(value, program(first.copy(), B), rtol=1e-12)
    sdfgad.check_grads(program, first, B)
