"""Eigenvalues of real matrices: real arrays where all are real, complex ones else."""

import numpy as np
import pytest
import scipy.linalg

import sdfgad
from sdfgad.errors import ArgumentError
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, checked_outputs, parsed

REAL = np.array([[7.0, 3.0, 1.0], [2.0, 9.0, 4.0], [1.0, 3.0, 6.0]])
TURNED = np.array([[0.5, -2.0, 0.3], [2.0, 0.4, 0.1], [0.2, 0.3, 1.5]])


def spectral_radius(a):
    return np.max(np.abs(np.linalg.eigvals(a)))


def parts_by_names(a):
    w, v = np.linalg.eig(a)
    rates = np.linalg.eigvals(2.0 * a)
    return w[0].real * np.abs(v[0, 1]) + rates.real.max() + np.abs(rates[1])


def other_forms(a):
    return np.linalg.eig(a)[0].real.max() + abs(np.linalg.eig(a).eigenvalues[0]) + scipy.linalg.eigvals(a).imag[0]


PARTS = [spectral_radius, parts_by_names, other_forms]


@pytest.mark.parametrize("program", PARTS)
def test_parts_alone_need_no_check(program):
    assert not any("real arrays" in check.message for check in parsed(program, REAL).program.checks)
    assert_value_and_slope(program, REAL, tolerance=1e-9)


def stationary(a):
    """The distribution that a Markov chain leaves as it is."""
    chain = np.abs(a) / np.abs(a).sum(axis=1, keepdims=True)
    w, v = np.linalg.eig(chain.T)
    found = np.real(v[:, np.argmin(np.abs(w - 1.0))])
    return found[0] / found.sum()


def principal(a):
    """Of a symmetric matrix, sorted as only real numbers are."""
    w, v = np.linalg.eig(a @ a.T)
    order = np.argsort(w)[::-1]
    w, v = w[order], v[:, order]
    return np.sum((a @ v[:, :2]) ** 2) + w[0] / w.sum()


def bound_anew(a):
    w = np.linalg.eigvals(a)
    w = w * 2.0
    return np.max(np.abs(w))


def of_drawn_numbers(a):
    rng = np.random.default_rng(5)
    data = rng.normal(size=(12, 3)) @ a
    return np.linalg.eigvals(np.cov(data.T)).max()


@pytest.mark.parametrize("program", [stationary, principal, bound_anew, of_drawn_numbers])
@pytest.mark.parametrize("a", [REAL, TURNED], ids=["real", "turned"])
def test_what_tells_real_numbers_from_complex_ones(program, a):
    assert_value_and_slope(program, a, tolerance=1e-9)


def all_of_them(a):
    return np.linalg.eigvals(a) * 2.0


def test_the_dtype_is_that_of_the_call_at_hand():
    """Calls with real and with complex eigenvalues in turn, by one compiled gradient."""
    values = sdfgad.differentiate(all_of_them, wrt="a")
    for a in (REAL, TURNED, REAL.T.copy(), TURNED.T.copy()):
        found, expected = values.value(a), all_of_them(a)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_compiled_gradients_of_real_and_complex_ones_in_turn():
    gradient = sdfgad.differentiate(bound_anew, wrt="a")
    direction = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [0.2, 0.6, -0.1]])
    for a in (REAL, TURNED, REAL.T.copy()):
        value, slope = gradient.value_and_grad(a)
        difference = (bound_anew(a + 1e-6 * direction) - bound_anew(a - 1e-6 * direction)) / 2e-6
        assert np.isclose(value, bound_anew(a), rtol=1e-13)
        assert np.isclose(np.sum(slope * direction), difference, rtol=1e-7)


def in_a_loop(a):
    total = 0.0
    for k in range(4):
        w = np.linalg.eigvals(a * (1.0 + k))
        total += np.abs(w[0] * (1.0 + 0.5j * k))
    return total


def test_in_a_loop_they_are_complex():
    assert_value_and_slope(in_a_loop, TURNED, tolerance=1e-9)
    with pytest.raises(ArgumentError, match="all eigenvalues of a real matrix are real") as caught:
        checked_outputs(parsed(in_a_loop, REAL), REAL)
    assert str(caught.value.where) == line_of(in_a_loop, "w = np.linalg")
    assert "a.astype(complex)" in str(caught.value)
