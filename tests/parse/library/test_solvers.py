"""Solvers of scipy.linalg."""

import numpy as np
import pytest
import scipy.linalg

import sdfgad
from sdfgad.errors import SdfgadError, SingularMatrix
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, checked_outputs, parsed

RNG = np.random.default_rng(9)
A, B, BAND = RNG.random((4, 4)), RNG.random(4), RNG.random((3, 4)) + np.array([[0.0], [3.0], [0.0]])


def banded(ab, b):
    return scipy.linalg.solve_banded((1, 1), ab, b)


def exponential(a):
    return scipy.linalg.expm(a)


def values(program, *args):
    return checked_outputs(parsed(program, *args), *args)["return"]


def test_bands_whose_rows_are_exchanged():
    small = BAND.copy()
    small[1, 0] = 0.0
    for ab in (BAND, small):
        assert_value_and_slope(banded, ab, B)


WIDTHS = [(0, 0), (0, 2), (2, 0), (1, 1), (2, 1)]


def of_all_widths(bands, sides):
    solved = [scipy.linalg.solve_banded(width, *one) for width, *one in zip(WIDTHS, bands, sides, strict=True)]
    return np.array([np.sum(np.abs(x) ** 2) for x in solved])


@pytest.mark.parametrize("dtypes", ["dd", "fd", "fF", "DD", "dD"])
def test_bands_of_all_widths_compiled(dtypes):
    """In one program, which has arguments of its own for each."""
    bands, sides = [RNG.standard_normal((low + high + 1, 7)) for low, high in WIDTHS], RNG.standard_normal((5, 7, 2))
    for (_, high), band in zip(WIDTHS, bands, strict=True):
        band[high] += 5.0
    bands, sides = [band.astype(dtypes[0]) for band in bands], [side.astype(dtypes[1]) for side in sides]
    values, expected = sdfgad.differentiate(of_all_widths).value(bands, sides), of_all_widths(bands, sides)
    is_single = dtypes[0] == "f" and dtypes[1] != "d"
    assert values.dtype == expected.dtype
    np.testing.assert_allclose(values, expected, rtol=1e-5 if is_single else 1e-12)
    if not is_single:
        sdfgad.check_grads(of_all_widths, bands, sides)


def test_what_is_not_in_the_matrix_is_not_read():
    ab = BAND.copy()
    ab[0, 0] = ab[2, -1] = np.nan
    found = sdfgad.grad(lambda ab, b: np.sum(banded(ab, b)), argnums=(0, 1))(ab, B)
    assert np.isfinite(found[1]).all()
    assert found[0][0, 0] == found[0][2, -1] == 0.0


def test_a_singular_band_fails():
    with pytest.raises(SingularMatrix, match="a matrix is singular"):
        sdfgad.grad(lambda ab: np.sum(banded(ab, B)))(0.0 * BAND)


def wrong_rows(ab):
    return np.sum(scipy.linalg.solve_banded((1, 2), ab, B))


def wrong_length(ab):
    return np.sum(scipy.linalg.solve_banded((1, 1), ab, B[1:]))


@pytest.mark.parametrize(("program", "text"), [(wrong_rows, "l . u . 1 diagonals"), (wrong_length, "another length")])
def test_bands_that_do_not_fit(program, text):
    with pytest.raises(SdfgadError, match=text) as caught:
        sdfgad.grad(program)(BAND)
    assert str(caught.value.where) == line_of(program, "return")


def test_exponentials_of_large_matrices():
    for factor in (1e-3, 1.0, 100.0):
        assert_like_python(exponential, factor * A, tolerance=1e-9)
    assert_slope(exponential, A)
    assert np.isnan(values(exponential, 1000.0 * A)).all()


@pytest.mark.parametrize("kind", ["d", "D"])
def test_factors_for_several_right_sides(kind):
    """A time loop with one factorisation, and the transposed systems."""

    def program(a, u):
        kept = scipy.linalg.lu_factor(a)
        for _ in range(4):
            u = scipy.linalg.lu_solve(kept, u)
        v = scipy.linalg.lu_solve(kept, u, trans=1) + scipy.linalg.lu_solve(kept, u, 2)
        return np.sum(np.abs(u) ** 2) + np.sum(np.abs(v) ** 3)

    a = RNG.standard_normal((5, 5)) + (1j * RNG.standard_normal((5, 5)) if kind == "D" else 0.0) + 3.0 * np.eye(5)
    for u in (RNG.standard_normal(5), RNG.standard_normal((5, 2)), RNG.standard_normal(5) + 1j):
        np.testing.assert_allclose(sdfgad.differentiate(program).value(a, u), program(a, u), rtol=1e-12)
        sdfgad.check_grads(program, a, u)
