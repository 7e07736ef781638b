"""Python's operators: NumPy's integer arithmetic, and updates in place that NumPy refuses."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope


def narrow(x, small, middle):
    return np.sum(x * (small * small)) + np.sum(x * (small + 100)) + np.sum(x * (middle * middle))


def test_narrow_integers_wrap_around():
    x = np.array([0.5, 1.5, -2.0])
    small, middle = np.array([1, 14, 120], np.int8), np.array([3, 300, -32768], np.int16)
    g = sdfgad.differentiate(narrow)
    assert g.value(x, small, middle) == narrow(x, small, middle)
    factors = [small * small, small + 100, middle * middle]
    np.testing.assert_array_equal(g(x, small, middle)["x"], sum(f.astype(float) for f in factors))


def with_lists(x, matrix):
    y = x * [1.0, 2.0, -1.0] + (0.5, x[0], 2.0)
    y[x > [0.0, 2.0, -1.0]] *= 3.0
    return np.sum([2, 1, 3] - matrix @ [1.0, x[1], 2.0] * y ** [1, 2, 3])


def test_lists_and_tuples_as_operands_of_arrays():
    x, matrix = np.array([0.5, 1.5, -2.0]), np.random.default_rng(3).random((3, 3))
    assert_value_and_slope(with_lists, x, matrix)


def floats_into_integers(x, k):
    k += 1.5
    return np.sum(x * k)


def quotient_into_integers(x, k):
    k[1:] /= 2
    return np.sum(x * k)


@pytest.mark.parametrize("program", [floats_into_integers, quotient_into_integers])
def test_updates_that_lose_their_kind(program):
    x, k = np.ones(3), np.arange(3)
    with pytest.raises(TypeError):
        program(x, k.copy())
    with pytest.raises(UnsupportedProgram, match="cannot turn float64 into int64") as caught:
        sdfgad.differentiate(program, wrt="x")(x, k)
    assert caught.value.where.text.startswith("k")


def divided(x):
    n = 0
    return x / (1 // n)


def test_what_python_itself_raises_is_reported_at_its_line():
    with pytest.raises(UnsupportedProgram, match="Python raises ZeroDivisionError") as caught:
        sdfgad.grad(divided)(1.0)
    assert caught.value.where.text == "return x / (1 // n)"
