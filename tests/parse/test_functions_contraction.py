"""Products of matrices and vectors, of every combination of ranks."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError, ShapeMismatch
from tests.helpers import assert_close, assert_expressions, assert_gradient, jax_vjp

EXPRESSIONS = [
    "x @ x",
    "a @ x",
    "y @ a",
    "a @ a.T",
    "a.T @ a",
    "np.dot(x, x) * x",
    "np.dot(a, x)",
    "y.dot(a)",
    "a.dot(a.T)",
    "np.dot(2.0, x)",
    "np.matmul(a, b)",
    "a @ b @ x",
    "(a * a) @ (b + 1.0)",
    "a[:, 1:] @ b[1:, ::2]",
    "a[1] @ b",
    "a[::-1, ::-1] @ b.T",
    "y @ a @ x",
    "np.outer(x, y)",
    "np.outer(x, x) @ x",
    "np.outer(a[0], y) * a.T",
    "c @ b",
    "c @ x",
    "a @ c.transpose(0, 2, 1)",
    "c @ c.transpose(0, 2, 1)[0]",
    "np.dot(c, b)",
    "np.dot(a, c.transpose(0, 2, 1))",
    "np.sum(x * (b @ x))",
    "k @ a",
]


def test_expressions(rng, tmp_path):
    arguments = {
        "x": rng.standard_normal(4),
        "y": rng.standard_normal(3),
        "a": rng.standard_normal((3, 4)),
        "b": rng.standard_normal((4, 4)),
        "c": rng.standard_normal((2, 3, 4)),
        "k": np.array([[1, 2, 3], [0, 1, -1]]),
    }
    assert_expressions(EXPRESSIONS, arguments, tmp_path)


def in_place(a, b, x):
    a[:] = a @ b
    b[1:, :] += np.outer(x[1:], a[0])
    x[:] = b @ x
    a[0] = x @ a
    return np.sum(a * b) + x[0]


def in_place_jax(a, b, x):
    a = a @ b
    b = b.at[1:, :].add(jnp.outer(x[1:], a[0]))
    x = b @ x
    a = a.at[0].set(x @ a)
    return jnp.sum(a * b) + x[0]


def test_results_may_overwrite_operands(rng):
    a, b, x = rng.standard_normal((4, 4)), rng.standard_normal((4, 4)), rng.standard_normal(4)
    assert_gradient(in_place, in_place_jax, a, b, x)


def powers(a, n):
    p = np.eye(3)
    for _ in range(n):
        p = p @ a
    return np.sum(p)


def powers_jax(a, n):
    p = jnp.eye(3)
    for _ in range(n):
        p = p @ a
    return jnp.sum(p)


def test_products_in_a_loop(rng):
    a = 0.5 * rng.standard_normal((3, 3))
    g = sdfgad.differentiate(powers)
    for trips in (3, 0, 5):
        expected = jax_vjp(powers_jax, (a, trips), 1.0)
        assert_close(g(a, trips)["a"], expected[0])


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_empty_products(shape):
    a = np.ones(shape)
    found = sdfgad.differentiate(lambda a: np.sum(a @ a.T) + np.sum(a), wrt="a")(a)
    np.testing.assert_array_equal(found, np.ones(shape) * (2 * shape[0] + 1))


def test_single_precision(rng):
    a, x = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    g = sdfgad.differentiate(lambda a, x: np.sum((a @ x) ** 2))
    found = g(a, x)
    assert found["a"].dtype == found["x"].dtype == np.float32
    assert_close(found["x"], 2 * a.T @ (a @ x), 1e-5)


@pytest.mark.parametrize("program", [lambda a, x: a @ x, lambda a, x: np.dot(x, a), lambda a, x: a @ a])
def test_inner_extents_differ(program):
    with pytest.raises(ShapeMismatch, match="inner extents"):
        sdfgad.differentiate(program, reduce="sum")(np.ones((3, 4)), np.ones(5))


def test_scalars():
    with pytest.raises(SdfgadError, match="do not take numbers"):
        sdfgad.differentiate(lambda a, s: a @ s, reduce="sum")(np.ones((3, 4)), 2.0)
