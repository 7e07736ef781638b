"""Integers that are divided by others, which may be zero at run time."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import DivisionByZero
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, assert_value_and_slope, checked_outputs, parsed

X = np.array([0.9, 0.4, 1.7])


def by_data(x, n):
    k = 0
    if x[0] > 0.5:
        k = n
    return x[1] * (7 // k) + x[2] * (8 % k)


def by_an_argument(x, n):
    return x[1] * (7 // n) + x[2] ** 2 * (8 % n)


def guarded(x, n):
    k = n if x[0] > 0.5 else 0
    return x[1] * (7 // k if k else 2) + x[0]


def test_divisors_that_are_not_zero():
    for program in (by_data, by_an_argument, guarded):
        for n in (2, 3, -3):
            assert_value_and_slope(program, X, n)
    assert_like_python(guarded, 0.1 * X, 2)


@pytest.mark.parametrize(("x", "n"), [(0.1 * X, 2), (X, 0)])
def test_a_divisor_that_is_zero_at_run_time(x, n):
    with pytest.raises(ZeroDivisionError) as caught:
        checked_outputs(parsed(by_data, X, 2), x, n)
    assert isinstance(caught.value, DivisionByZero)
    assert str(caught.value.where) == line_of(by_data, "return")


def test_an_argument_that_is_zero_in_a_later_call():
    g = sdfgad.differentiate(by_an_argument)
    np.testing.assert_allclose(g(X, 3)["x"], [0.0, 2.0, 2 * X[2] * 2])
    with pytest.raises(ZeroDivisionError):
        g(X, 0)
