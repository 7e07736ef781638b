"""Texts, exact numbers and patterns that are known while parsing, and texts of run-time values."""

import decimal
import fractions
import functools
import inspect
import re

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.7, 1.3, 2.1])


class Named:
    def __init__(self, k):
        self.k = k

    def __repr__(self):
        return "Named({})".format(self.k)  # noqa: UP032


class Written(Named):
    def __init__(self, k):
        super(Written, self).__init__(k)  # noqa: UP008

    def __str__(self):
        return "written " + str(self.k)


def exact(x):
    half_up = int(decimal.Decimal("2.5").quantize(decimal.Decimal("1"), rounding=decimal.ROUND_HALF_UP))
    third = float(fractions.Fraction(1, 3) + fractions.Fraction(1, 6))
    return np.sum(x**half_up) * third * len(re.findall("a+", "aabcaa")) * bool(re.match(r"\d", "3x"))


def texts(x):
    facts = {"a": str(Named(x[0])), "b": repr(x), "c": str(x[1]), "d": "%.3f" % x[2]}  # noqa: UP031
    known = str(Named(2)) == "Named(2)" and str(Written(3)) == "written 3" and repr(Written(1)) == "Named(1)"
    return np.sum(x) * len(facts) * (2.0 if known else 3.0)


def classes(x):
    is_array = x.__class__ is np.ndarray and issubclass(Written, Named) and not issubclass(Named, Written)
    a, b, c = x.reshape(3, 1).flat
    named = Named(x[1])
    named.__setattr__("j", named.__getattribute__("k") * 2.0)
    return (a + b * c) * (2.0 if is_array else 3.0) * Written(x[0]).k * named.j


def none_for_nan(x):
    empty = np.asarray(None, dtype="float")
    row = np.array([[1.0, None]], dtype=float)
    same = np.array(x, copy=np._CopyMode.IF_NEEDED)
    return np.sum(x * same) * np.isnan(empty) * np.nansum(row)


class Filter:
    """A class with a place for what it measures, as many filters have one."""

    def __init__(self, n):
        self.z = np.array([[None] * n]).T

    def update(self, z):
        was = self.z.shape
        self.z = z * 2.0
        return was


def placeholder(x):
    f = Filter(3)
    shape = f.update(x)
    return np.sum(f.z**2) * shape[0]


def padded(x):
    widths = np.zeros([x.ndim, 2], dtype=int)
    widths[-1, 0] = 2
    y = np.pad(x, pad_width=widths, mode="constant", constant_values=1.0)
    return np.sum(y**2 * np.arange(5.0))


def doubled(function):
    @functools.wraps(function)
    def called(*args, **named):
        return function(*args, scale=2.0, **named)

    shown = inspect.signature(function)
    kept = [one for name, one in shown.parameters.items() if name != "scale"]
    called.__signature__ = shown.replace(parameters=kept)
    return called


@doubled
def scaled(x, scale, shift=1.0):
    return x * scale + shift


def decorated(x):
    return np.sum(scaled(x, shift=3.0) ** 2)


@pytest.mark.parametrize("program", [exact, texts, classes, none_for_nan, placeholder, padded, decorated])
def test_value_and_gradient(program):
    assert_value_and_slope(program, X)


def test_placeholder_that_is_read_is_refused():
    def reads(x):
        return np.sum(Filter(3).z * x)

    with pytest.raises(sdfgad.errors.UnsupportedProgram, match="an array of None"):
        sdfgad.differentiate(reads)(X)


def from_own_package(x):
    from .test_clocks import X as other

    return np.sum(x * other)


def test_relative_import_in_a_function():
    assert_value_and_slope(from_own_package, X)


def begins(x):
    s = 0.0
    for i in range(12):
        s = s * 0.9 + x[i % 3] * (2.0 if f"k{i}".startswith("k1") else 1.0)
    return s


def repeated(x):
    s = 0.0
    for i in range(12):
        name = f"k{i}"
        if name * 2 == "k3k3" or "%s-" % name == "k4-" or name + "-" == "k5-" or "{}-".format(name) == "k6-":  # noqa: UP031, UP032
            s = s + x[0]
        s = s * 0.9 + x[1]
    return s


def as_numbers(x):
    s = 0.0
    for i in range(12):
        try:
            s = s * 0.9 + x[i % 3] * float(f"{i}") + int("%d" % i)  # noqa: UP031
        except ValueError:
            s = s + 100.0
    return s


def joined_keys(x):
    d = {f"{i}-{j}": float(i + j) for i in range(4) for j in range(3)}
    s = 0.0
    for i in range(4):
        for j in range(3):
            s = s * 0.9 + x[j] * d["%d-%d" % (i, j)] + x[0] * d[str(i) + "-" + str(j)]  # noqa: UP031
    return s


@pytest.mark.parametrize("program", [begins, repeated, as_numbers, joined_keys])
def test_texts_with_counters_in_loops(program):
    assert_value_and_slope(program, X)


class Counted:
    def __init__(self):
        self.n = 0

    def next(self):
        self.n += 1
        return self.n


def interpolated(x):
    """What f-strings evaluate changes a list, an object and an array, also where nobody reads the text."""
    numbers, counted, y, parts = [x[0], x[1], x[2]], Counted(), 2.0 * x, {}

    def tripled(v):
        v *= 3.0
        return v[0]

    text = f"{numbers.pop():.3f} {len(numbers)} {tripled(y):>8.2f}"
    for k in range(3):
        parts[f"k{counted.next():02d}{'!'}"] = x[k]
        text += f"{counted.next()!r} {x[k] * k:.3f}"
    assert text
    return numbers[-1] * len(numbers) + np.sum(y) + parts["k01!"] * parts["k05!"] * counted.n


def test_f_strings_that_change_something():
    assert_value_and_slope(interpolated, np.array([0.31, 0.73, 0.43]))
