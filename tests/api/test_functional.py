"""`grad` and `value_and_grad`: JAX's names and argument habits."""

import jax
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutputError, UnusedArgument


def weighted(x, y, s):
    return np.sum(x * x * y) / s


X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("argnums", [0, 1, 2, (0, 1), (2, 0), (1,)])
def test_grad_has_the_habits_of_jax(argnums):
    found = sdfgad.grad(weighted, argnums)(X, Y, 2.0)
    expected = jax.grad(lambda x, y, s: jax.numpy.sum(x * x * y) / s, argnums)(X, Y, 2.0)
    assert isinstance(found, tuple) == isinstance(argnums, tuple)
    jax.tree.map(np.testing.assert_allclose, found, expected)


def test_first_argument_by_default():
    np.testing.assert_array_equal(sdfgad.grad(weighted)(X, Y, 2.0), X * Y)


def test_value_and_grad():
    value, found = sdfgad.value_and_grad(weighted, "y")(X, Y, s=2.0)
    assert value == weighted(X, Y, 2.0)
    np.testing.assert_array_equal(found, X * X / 2)


def test_lambda():
    np.testing.assert_array_equal(sdfgad.grad(lambda x: np.sum(x * x))(X), 2 * X)
    scale = 3.0
    value, found = sdfgad.value_and_grad(lambda x: np.sum(x) * scale)(X)
    assert value == 18.0
    np.testing.assert_array_equal(found, [3, 3, 3])


def test_refusals():
    with pytest.raises(OutputError, match="not that of a scalar"):
        sdfgad.grad(lambda x: x * x)(X)
    with pytest.raises(UnusedArgument):
        sdfgad.grad(lambda x, y: np.sum(x), 1)(X, Y)
    assert sdfgad.grad(lambda x, y: np.sum(x), 1, allow_unused=True)(X, 1.0) == 0.0
