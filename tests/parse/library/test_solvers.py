"""Solvers of scipy.linalg: where their algorithms are not to be trusted, the result is NaN."""

import numpy as np
import scipy.linalg

from tests.helpers_ir import assert_like_python, assert_slope, checked_outputs, parsed

RNG = np.random.default_rng(9)
A, B, BAND = RNG.random((4, 4)), RNG.random(4), RNG.random((3, 4)) + np.array([[0.0], [3.0], [0.0]])


def banded(ab, b):
    return scipy.linalg.solve_banded((1, 1), ab, b)


def exponential(a):
    return scipy.linalg.expm(a)


def values(program, *args):
    return checked_outputs(parsed(program, *args), *args)["return"]


def test_bands_without_pivoting():
    assert_like_python(banded, BAND, B)
    assert_slope(banded, BAND, B)
    small = BAND.copy()
    small[1, 0] = 1e-9
    assert np.isfinite(banded(small, B)).all()
    assert np.isnan(values(banded, small, B)).any()


def test_exponentials_of_large_matrices():
    for factor in (1e-3, 1.0, 100.0):
        assert_like_python(exponential, factor * A, tolerance=1e-9)
    assert_slope(exponential, A)
    assert np.isnan(values(exponential, 1000.0 * A)).all()
