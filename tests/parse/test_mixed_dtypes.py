"""Arrays whose dtype is decided at run time: as in Python, or refused."""

import numpy as np
import pytest

from sdfgad.errors import Rebound
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, parsed

X = np.linspace(0.3, 1.1, 6)


def mask_after_a_loop(x):
    b = np.arange(6) % 2
    for _ in range(30):
        b = b > 0
    return np.sum(x[b])


def booleans_are_written(x):
    b = np.arange(6)
    for i in range(30):
        b = x > 0.01 * i
    b[1] = 2
    return np.sum(b * x)


def chosen_by_data(x):
    b = np.arange(6) % 2
    if x[0] < 0.5:
        b = b > 0
    return np.sum((b + b) * x) + np.sum(x[b])


def cut_off_in_a_branch(x):
    b = np.arange(6)
    if x[0] > 0.5:
        b = b * 0.5
    b[1] = 2.7
    return np.sum(b * x)


def cut_off_in_the_first_trip(x):
    b = np.arange(6)
    for i in range(30):
        b[i % 6] = 2.7 + x[0]
        b = b * 0.5
    return np.sum(b * x)


def small_integers(x):
    b = np.arange(6)
    for _ in range(30):
        b = b.astype(np.uint8) + np.uint8(100)
    return np.sum((b - np.uint8(200)) * x)


def sums_begin_with_integers(x, n):
    total = np.zeros(6, dtype=int)
    for i in range(n):
        total = total + x * i
    total[0] = 3
    return np.sum(total * x)


@pytest.mark.parametrize(
    "program",
    [
        mask_after_a_loop,
        booleans_are_written,
        chosen_by_data,
        cut_off_in_a_branch,
        cut_off_in_the_first_trip,
        small_integers,
    ],
)
def test_as_in_python(program):
    for x in (X, X[::-1].copy()):
        assert_like_python(program, x)


@pytest.mark.parametrize("n", [0, 3])
def test_what_both_dtypes_hold_may_be_written(n):
    assert_like_python(sums_begin_with_integers, X, n)


def written_after_a_loop(x, n):
    b = np.arange(6)
    for _ in range(n):
        b = b * 0.5
    b[1] = 2.7
    return np.sum(b * x)


def into_the_output(x, n):
    b = np.arange(6)
    for _ in range(n):
        b = b * 0.5
    np.multiply(x, 2.0, out=b)
    return np.sum(b * x)


def added_at(x, n):
    b = np.arange(6)
    for _ in range(n):
        b = b * 0.5
    np.add.at(b, [0, 0, 1], 0.5)
    return np.sum(b * x)


@pytest.mark.parametrize(
    ("program", "line"), [(written_after_a_loop, "b[1] ="), (into_the_output, "out=b"), (added_at, "np.add.at")]
)
def test_what_one_dtype_cuts_off_is_refused(program, line):
    with pytest.raises(Rebound, match="int64 or of float64, which is decided only at run time") as error:
        parsed(program, X, 2)
    assert line_of(program, line) in str(error.value)


def mask_or_numbers(x, n):
    b = np.arange(6)
    for _ in range(n):
        b = b > 1
    return np.sum(x[b])


@pytest.mark.parametrize("n", [0, 3])
def test_masks_that_may_be_numbers(n):
    assert_like_python(mask_or_numbers, X, n)


def a_mask_in_each_other_trip(x, n):
    b = np.arange(6)
    for i in range(n):
        b = b > 1 if x[i] > 0.5 else np.cumsum(b)
    return np.sum(x[b])


def test_a_dtype_that_goes_on_changing():
    assert_like_python(a_mask_in_each_other_trip, X, 3)
    with pytest.raises(IndexError):
        assert_like_python(a_mask_in_each_other_trip, X, 2)
