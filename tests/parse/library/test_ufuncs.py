"""Reductions by ufuncs over several axes, through compiled code."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises
from tests.helpers import line_of

X = np.random.default_rng(46).random((3, 4, 2))


def several_axes(x):
    total = np.logaddexp.reduce(x, axis=None) + np.fmax.reduce(x, None)
    total = total + np.sum(np.hypot.reduce(x, axis=(0, 2), keepdims=True) ** 3)
    return total + np.sum(np.logaddexp.reduce(x, axis=(-1, 0)) ** 2 * np.arange(4))


def test_reductions_over_several_axes():
    np.testing.assert_allclose(sdfgad.differentiate(several_axes).value(X), several_axes(X), rtol=1e-13)
    sdfgad.check_grads(several_axes, X)


def in_some_order(x):
    return np.subtract.reduce(x, axis=None)


def test_that_the_order_of_differences_matters():
    with pytest.raises(ValueError, match="not reorderable"):
        in_some_order(X)
    with pytest.raises(ProgramRaises, match="not reorderable") as caught:
        sdfgad.differentiate(in_some_order)(X)
    assert line_of(in_some_order, "return") in str(caught.value)


def of_nothing(x, i, u, b):
    bits = np.bitwise_or.reduce(i[:0]) + np.bitwise_and.reduce(i[:0]) + np.bitwise_xor.reduce(i[:0])
    rows = np.logaddexp.reduce(x[:0], axis=0, keepdims=True)
    return bits, np.bitwise_and.reduce(u[:0]), np.logical_xor.reduce(b[:0]), rows, np.hypot.reduce(x[:0], initial=2.0)


def test_reductions_of_nothing_give_the_identity():
    args = X[0], np.arange(3), np.arange(3, dtype=np.uint8), np.zeros(3, bool)
    for found, expected in zip(sdfgad.vjp(of_nothing, *args)[0], of_nothing(*args), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
