"""Shapes: transposition, reshaping, flips, broadcasting and concatenation."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError, ShapeMismatch
from tests.helpers import assert_expressions, assert_gradient

EXPRESSIONS = [
    "a.T * a.T",
    "np.transpose(a) * 2.0",
    "np.transpose(c, (1, 2, 0)) ** 2",
    "c.transpose(2, 0, 1) ** 2",
    "c.transpose((0, 2, 1))[0] ** 2",
    "np.swapaxes(c, 0, -1) ** 2",
    "c.swapaxes(1, 2) ** 2",
    "np.reshape(c, (6, 4)) ** 2",
    "c.reshape(4, -1) ** 2",
    "c.T.reshape(3, 8) ** 2",
    "c.reshape((2, 12))[:, ::5] ** 2",
    "np.ravel(a.T) * np.ravel(a)",
    "a.T.flatten() * a.ravel()",
    "a.reshape(-1)[1:5] ** 2",
    "np.expand_dims(a, 1) * a[0]",
    "np.expand_dims(x, (0, 2)) * a[0]",
    "np.squeeze(a[:1, None]) ** 2",
    "a[:, :1].squeeze(axis=1) * x[:3]",
    "np.flip(a) * a",
    "np.flip(a, 1) * a",
    "np.broadcast_to(x[:4], (3, 4)) * a",
    "np.concatenate((x, a[0], x * x))",
    "np.concatenate([a, a * a], axis=1)",
    "np.stack((x[:4], a[1], a[2] * x[0]))",
    "np.stack([x[:3], a[:, 0]], axis=1) ** 2",
    "np.diagonal(a) * np.diag(a)",
    "np.array([x[0], x[1] * x[2], 3.0]) ** 2",
    "np.array([[x[0], x[1]], [x[2], x[0] * x[1]]]) ** 2",
    "a.shape[1] * x * a.ndim",
]


def test_expressions(rng, tmp_path):
    arguments = {
        "x": rng.standard_normal(5),
        "a": rng.standard_normal((3, 4)),
        "c": rng.standard_normal((2, 3, 4)),
    }
    assert_expressions(EXPRESSIONS, arguments, tmp_path)


def through_views(a):
    b = a.T
    b[0] *= b[1]
    c = a.reshape(2, 6)
    c[1, 2:] += c[0, :4] * c[1, 1]
    d = a[1:].ravel()
    d[3] = a[0, 0] * a[0, 1]
    return a * a


def through_views_jax(a):
    a = a.at[:, 0].multiply(a[:, 1])
    c = a.reshape(2, 6)
    a = c.at[1, 2:].add(c[0, :4] * c[1, 1]).reshape(3, 4)
    a = a.at[1, 3].set(a[0, 0] * a[0, 1])
    return a * a


def test_writes_through_views(rng):
    assert_gradient(through_views, through_views_jax, rng.uniform(0.5, 1.5, (3, 4)))


def through_views_of_views(a):
    v = a.reshape(-1).reshape(2, 6)
    v[0] *= 2.0
    w = a.reshape(2, 6)[:, 2:].reshape(2, 2, 2)
    w[1] *= w[0]
    b = a * a
    f = b.reshape(-1)
    f[::-1] = f * 0.5
    f[2:] = f[:-2] * 0.5
    f[1:-1] += f[:-2] * f[2:]
    return b


def through_views_of_views_jax(a):
    a = a.reshape(2, 6).at[0].multiply(2.0)
    a = a.at[1, 2:].multiply(a[0, 2:])
    f = (a * a).reshape(-1)
    f = (f * 0.5)[::-1]
    f = f.at[2:].set(f[:-2] * 0.5)
    return f.at[1:-1].add(f[:-2] * f[2:]).reshape(3, 4)


def test_writes_through_views_of_views(rng):
    assert_gradient(through_views_of_views, through_views_of_views_jax, rng.uniform(0.5, 1.5, (3, 4)))


def through_a_view_of_one_element(a, x):
    v = a.reshape(-1)
    v[:] *= x[0] @ x[1:].T
    return np.sum(a * a)


def through_a_view_of_one_element_jax(a, x):
    return jnp.sum((a * (x[0] @ x[1:].T)) ** 2)


def test_writes_through_a_view_of_one_element(rng):
    # The position of the only element is a number, while the row that it is multiplied with has a counter.
    args = rng.uniform(0.5, 1.5, 1), rng.uniform(0.5, 1.5, (2, 3))
    assert_gradient(through_a_view_of_one_element, through_a_view_of_one_element_jax, *args)


def flattened(a):
    b = a.flatten()
    b[0] = 0.0
    c = a.T.ravel()
    c[1] = 5.0
    d = a.T.reshape(2, 6)
    d[0, 0] = 7.0
    e = a[:, ::2].reshape(-1)
    e[0] = 3.0  # A view: its rows lie evenly in memory.
    return np.sum(a * a) * b[1] * c[1] + b[0]


def test_copies_do_not_write_back(rng):
    assert_gradient(
        flattened, lambda a: jnp.sum(a.at[0, 0].set(3.0) ** 2) * a[0, 1] * 5.0, rng.uniform(0.5, 1.5, (3, 4))
    )


@pytest.mark.parametrize(
    "program",
    [
        lambda a: np.sum(a.reshape(5, 2)),
        lambda a: np.sum(np.concatenate((a, a[:, :2]))),
        lambda a: np.sum(np.squeeze(a, axis=0)),
        lambda a: np.sum(np.stack((a[0], a[:, 0]))),
        lambda a: np.sum(np.broadcast_to(a, (3, 5))),
    ],
)
def test_shapes_that_do_not_fit(program):
    a = np.ones((3, 4))
    with pytest.raises(ValueError, match=r"."):
        program(a)
    with pytest.raises(ShapeMismatch):
        sdfgad.differentiate(program)(a)


@pytest.mark.parametrize(
    "program", [lambda a: np.sum(np.transpose(a, (0, 0))), lambda a: np.sum(np.expand_dims(a, 5)[0])]
)
def test_axes_that_do_not_fit(program):
    with pytest.raises(SdfgadError):
        sdfgad.differentiate(program)(np.ones((3, 4)))
