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
