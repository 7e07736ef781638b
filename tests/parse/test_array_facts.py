"""What arrays tell of their memory, and arrays that are protected against updates."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, parsed

X = np.array([0.9, 0.4, 1.7, 0.6])


def sizes(x, n):
    y = x[:n]
    z = y.astype(np.float32)
    return np.sum(x) * x.itemsize + y[0] * z.nbytes


def test_sizes():
    for n in (4, 2):
        assert_like_python(sizes, X, n)
    assert_slope(sizes, X, 3)


def protected(x):
    y = x * 2.0
    y[0] *= x[1]
    y.setflags(write=False)
    z = y.copy()
    z[1] = 3.0 * x[2]
    return np.sum(y * z)


def test_a_protected_array():
    assert_value_and_slope(protected, X)


def updated(x):
    y = x * 2.0
    y.setflags(write=False)
    y[0] = 1.0
    return np.sum(y)


def an_argument(x):
    x.setflags(write=False)
    return np.sum(x)


def in_a_loop(x, n):
    y = x * 2.0
    for k in range(n):
        y[0] += k
        y.setflags(write=False)
    return np.sum(y)


@pytest.mark.parametrize(
    ("program", "args", "line", "message"),
    [
        (updated, (), "y[0]", "may protect"),
        (an_argument, (), "x.setflags", "of an argument"),
        (in_a_loop, (300,), "y.setflags", "in a loop"),
    ],
)
def test_refused(program, args, line, message):
    with pytest.raises(UnsupportedProgram, match=message) as caught:
        parsed(program, X, *args)
    assert str(caught.value.where) == line_of(program, line)
