"""``with`` statements: managers of the user's classes, and those that only set how Python and NumPy warn and print."""

import contextlib
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.7, 1.3, 2.1])


class Scale:
    """Doubles its number where it is entered, and takes a quarter of it where it is left."""

    def __init__(self, k):
        self.k = k
        self.left = 0

    def __enter__(self):
        self.k = self.k * 2.0
        return self

    def __exit__(self, *error):
        self.k = self.k / 4.0
        self.left += 1 if error == (None, None, None) else 100


class Device:
    def __init__(self, number):
        self.number = number

    def __enter__(self):
        return None if self.number < 0 else self

    def __exit__(self, *_):
        pass


DEVICE = Device(-1)


def entered_and_left(x):
    scale = Scale(x[1])
    with scale as inside, contextlib.nullcontext(x[0]) as first, DEVICE:
        y = x * inside.k * first
    return np.sum(y * scale.k) * scale.left


def returns_within(x):
    scale = Scale(x[1])
    with scale as inside:
        y = x * inside.k
        if x[2] > 5.0:
            return np.sum(y) * inside.k
    return np.sum(y * scale.k) * scale.left


def jumps_within(x):
    scale, total = Scale(1.0), 0.0
    for i in range(3):
        with scale:
            if x[i] < 0.0:
                continue
            total += scale.k * x[i] ** 2
            if total > 5.0:
                break
    return total * scale.k


def settings(x):
    old = np.seterr(invalid="ignore")
    np.set_printoptions(precision=3)
    with warnings.catch_warnings(), np.printoptions(precision=4), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = np.log(x)
    np.seterr(**old)
    return np.sum(y * x)


@pytest.mark.parametrize("program", [entered_and_left, returns_within, jumps_within, settings])
@pytest.mark.parametrize("x", [X, X * [1.0, 1.0, 3.0], X * [1.0, -1.0, 1.0]], ids=["small", "large", "negative"])
def test_managers_are_entered_and_left_as_in_python(program, x):
    x = np.abs(x) if program is settings else x
    assert_value_and_slope(program, x)


@pytest.mark.parametrize("x", [X, X * [1.0, 1.0, 3.0]])
def test_compiled_gradient_of_a_with_that_returns(x):
    value, gradient = sdfgad.differentiate(returns_within, wrt="x").value_and_grad(x)
    steps = np.eye(3) * 1e-6
    assert np.isclose(value, returns_within(x), rtol=1e-13)
    np.testing.assert_allclose(
        gradient, [(returns_within(x + e) - returns_within(x - e)) / 2e-6 for e in steps], rtol=1e-7
    )


def recorded(x):
    with warnings.catch_warnings(record=True) as caught:
        y = np.log(x)
    return np.sum(y) * len(caught)


def suppressed(x):
    with contextlib.suppress(ValueError):
        x = x * 2.0
    return np.sum(x)


def of_a_number(x):
    with x[0]:
        return np.sum(x)


def raising(x):
    np.seterr(all="raise")
    return np.sum(x)


def named_alike(x):
    errstate = Scale
    with errstate(x[0]):
        return np.sum(x)


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (recorded, "with warnings", "the warnings that a compiled program gives are not recorded"),
        (suppressed, "with contextlib", "`suppress` in `with` is not supported"),
        (of_a_number, "with x", "it has no `__enter__` in Python"),
        (raising, "np.seterr", "`np.seterr` changes a setting, which has no effect"),
        (named_alike, "with errstate", "this `errstate` is not supported in `with`"),
    ],
)
def test_managers_that_are_refused(program, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(program)(X)
    assert line_of(program, line) in str(caught.value)
