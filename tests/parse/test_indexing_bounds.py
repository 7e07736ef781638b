"""Indices out of range and shapes that do not fit are refused where NumPy would refuse them, never followed."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, ShapeMismatch, UnsupportedProgram
from tests.helpers import line_of


def static_index(x):
    y = x[1] * 2.0
    return y + x[5]


def loop_index(x):
    s = 0.0
    for i in range(4):
        s += x[i + 2] * x[i]
    return s


def data_index(x, idx):
    s = 0.0
    for i in range(3):
        s += x[idx[i]] * x[idx[i]]
    return s


def index_array(x, idx):
    return np.sum(x[idx] * 2.0)


def argument_index(x, n):
    return x[n] * x[n]


def written_index(x, idx):
    x[idx[0]] = 2.0 * x[0]
    return np.sum(x)


@pytest.mark.parametrize(
    ("program", "args", "text"),
    [
        (static_index, (), "return y + x[5]"),
        (loop_index, (), "s += x[i + 2]"),
        (data_index, (np.array([0, 5, 1]),), "s += x[idx[i]]"),
        (data_index, (np.array([0, 1, -6]),), "s += x[idx[i]]"),
        (index_array, (np.array([0, 5]),), "return np.sum(x[idx]"),
        (argument_index, (5,), "return x[n]"),
        (argument_index, (-6,), "return x[n]"),
        (written_index, (np.array([9]),), "x[idx[0]] ="),
    ],
)
def test_index_out_of_range(program, args, text):
    with pytest.raises(IndexError):
        program(np.ones(5), *args)
    g = sdfgad.differentiate(program)
    with pytest.raises(InvalidIndex, match="out of range") as caught:
        g(np.ones(5), *args)
    assert str(caught.value.where) == line_of(program, text)
    assert isinstance(caught.value, IndexError)


def test_a_bad_index_does_not_spoil_later_calls():
    g = sdfgad.differentiate(data_index)
    x = np.arange(1.0, 6.0)
    for _ in range(2):
        with pytest.raises(InvalidIndex):
            g(x, np.array([0, 7, 0]))
        np.testing.assert_array_equal(g(x, np.array([0, -1, 0]))["x"], [4, 0, 0, 0, 10])
        with pytest.raises(InvalidIndex):
            g.value(x, np.array([0, 7, 0]))


def too_many(x):
    return x[0, 1]


def by_float(x):
    return x[1.5]


def bad_broadcast(x, y):
    z = x + 1.0
    return np.sum(z * y)


def bad_assignment(x, y):
    x[1:4] = y
    return np.sum(x)


def test_too_many_indices():
    with pytest.raises(InvalidIndex, match="2 indices for an array of 1 dimensions"):
        sdfgad.differentiate(too_many)(np.ones(3))


def test_index_by_a_float():
    with pytest.raises(UnsupportedProgram, match=r"indexing by 1\.5"):
        sdfgad.differentiate(by_float)(np.ones(3))


@pytest.mark.parametrize(("program", "text"), [(bad_broadcast, "return np.sum(z * y)"), (bad_assignment, "x[1:4] = y")])
def test_shapes_that_do_not_broadcast(program, text):
    with pytest.raises(ValueError, match="broadcast"):
        program(np.ones(5), np.ones(4))
    with pytest.raises(ShapeMismatch, match="broadcast") as caught:
        sdfgad.differentiate(program)(np.ones(5), np.ones(4))
    assert str(caught.value.where) == line_of(program, text)
    assert isinstance(caught.value, ValueError)
