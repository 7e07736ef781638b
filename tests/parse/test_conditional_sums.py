"""Sums and extrema of comprehensions with conditions on data; objects that define ``__iter__``; setters."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(49)
ARGS = RNG.random((4, 6)), RNG.random(6), 0.6, 5


def some_items(x, u, s, n):
    total = sum(w * v for v, w in zip(u, x[0], strict=True) if v > 0.3 if w < 0.8) + np.sum([v**2 for v in u if v > s])
    total += sum((1 for v in u if v > 0.5), 10) * s + sum(np.log(v - 0.3) for v in u if v > 0.3)
    total += sum(y**2 for v in u if (y := v * s) > 0.1) + sum(u[i] * i for i in range(6) if i % 2)
    return total + sum(x[i, j] for i in range(4) for j in range(6) if x[i, j] > s and i != j and n > 3)


class Rows:
    def __init__(self, a):
        self.a = a

    def __iter__(self):
        return iter(self.a)


class Halves:
    def __init__(self, first, number):
        self.first, self.number = first, number

    def __iter__(self):
        value = self.first
        for k in range(self.number):
            value = value * 0.5
            yield k, value


def objects_gone_over(x, u, s, n):
    rows, total = Rows(x), 0.0
    for row in rows:
        total += np.sum(row**2) * s
    for row, factor in zip(rows, u, strict=False):
        total += row[0] * factor
    total += sum(row[1] for row in rows) + [row.sum() for row in rows][2]
    first, *_ = rows
    return total + first[3] + sum(u[k] * value for k, value in Halves(s, 4))


class Field:
    def __init__(self, values):
        self._values, self.changes = values, 0

    @property
    def values(self):
        return self._values

    @values.setter
    def values(self, new):
        self._values = new
        self.changes += 1

    @property
    def mass(self):
        return self._values.sum()

    @mass.setter
    def mass(self, new):
        self._values = self._values * (new / self._values.sum())


def set_by_properties(x, u, s, n):
    start = u.copy()
    field = Field(start)
    field.values *= s
    field.mass += 1.0
    field.values[1] = s
    field.mass = s * 3
    for _ in range(n):
        field.values = np.sin(field.values)
    return np.sum(field.values**2) * field.changes + np.sum(start * x)


@pytest.mark.parametrize("program", [some_items, objects_gone_over, set_by_properties])
def test_values_and_slopes(program):
    assert_value_and_slope(program, *ARGS)


def test_gradients_of_compiled_code():
    sdfgad.check_grads(some_items, *ARGS)


def some_rows(x, u, s, n):
    return sum(row @ u for row in x if row[0] > s) + sum(row for row in x if row[0] > s)[1]


def test_that_arrays_are_not_left_out():
    with pytest.raises(UnsupportedProgram, match="a comprehension with a condition on data") as caught:
        sdfgad.differentiate(some_rows)(*ARGS)
    assert line_of(some_rows, "return") in str(caught.value)


def left_out(x):
    total = sum(v * np.log(v) for v in x if v > 0.0)
    total += sum(np.cos(v) / v**2 for v in x if v != 0.0)
    return total + sum(np.exp(v) for v in x if v < 5.0)


def test_what_is_left_out_has_no_gradient_where_it_is_not_finite():
    """Zeros, numbers without a logarithm, and one with an infinite exponential, compiled."""
    x = np.array([0.5, 0.0, -1.0, 0.9, 1000.0])
    value, gradient = sdfgad.differentiate(left_out, wrt="x").value_and_grad(x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(value, left_out(x), rtol=1e-13)
        of_log = np.where(x > 0.0, np.log(x) + 1.0, 0.0)
        of_quotient = np.where(x != 0.0, -np.sin(x) / x**2 - 2.0 * np.cos(x) / x**3, 0.0)
        expected = of_log + of_quotient + np.where(x < 5.0, np.exp(x), 0.0)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


# --- extrema


def extrema(x, s):
    """The ratio test of the simplex method, and extrema of pairs, of integers that index, and of nothing."""
    ratio = min([a / b for a, b in zip(x, x[::-1] - 1.0, strict=True) if b > 0], default=1.0)
    pairs = max(x[i] * x[j] for i in range(3) for j in range(3) if i != j and x[i] > 0.5 if x[j] < 1.2)
    place = min(i for i in range(6) if x[i] > s)
    total = 0.0
    for k in range(3):
        total = total + min((x[i] for i in range(6) if x[i] > 4.0 * x[k]), default=s) * x[k]
    return ratio + pairs * x[place] + total + max((n for n, v in enumerate(x) if v > 9.0), default=-1)


def test_extrema_of_chosen_items():
    for x in (np.linspace(0.3, 1.9, 6), np.linspace(0.55, 0.9, 6)[::-1].copy()):
        assert_value_and_slope(extrema, x, 0.72)


def least(x):
    return min(v * v for v in x if v > 1.0)


def test_an_extremum_of_no_items_raises():
    g = sdfgad.differentiate(least)
    np.testing.assert_allclose(g.value(np.array([0.5, 3.0, 2.0])), 4.0)
    with pytest.raises(SdfgadError, match="min or max of no elements"):
        g.value(np.array([0.5, 0.25, 0.0]))
