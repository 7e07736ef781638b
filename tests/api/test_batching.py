"""vmap against a loop over the entries, and against jax.vmap."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.specialise import mapped as mapped_module
from tests.helpers import line_of

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((2, 4, 5))


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "shapes"),
    [
        (0, 0, ((4, 5), (4, 3))),
        ((0, None), 0, ((4, 5), (3,))),
        ((None, 1), 0, ((5,), (3, 4))),
        ((-1, 0), 0, ((5, 4), (4, 3))),
        ([0, 0], 0, ((1, 5), (1, 3))),
    ],
)
def test_axes_against_jax(in_axes, out_axes, shapes):
    x, y = (RNG.standard_normal(shape) for shape in shapes)
    found = sdfgad.vmap(outer, in_axes, out_axes)(x, y)
    expected = jax.vmap(jax_outer, tuple(in_axes) if isinstance(in_axes, list) else in_axes, out_axes)(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-13, strict=True)


def outer(x, y):
    return np.outer(np.tanh(x), y)


def jax_outer(x, y):
    return jnp.outer(jnp.tanh(x), y)


@pytest.mark.parametrize("out_axes", [1, 2, -1, -2])
def test_the_axis_of_the_results(out_axes):
    x, y = X, Y[:, :3]
    expected = np.moveaxis(np.stack([outer(*one) for one in zip(x, y, strict=True)]), 0, out_axes)
    np.testing.assert_allclose(sdfgad.vmap(outer, out_axes=out_axes)(x, y), expected, rtol=1e-13)


class Point(NamedTuple):
    x: np.ndarray
    y: np.ndarray


def of_trees(params, point, scale):
    w = params["w"] @ point.x
    return {"w": w, "rest": [point, params["b"][0] * scale]}


def test_trees():
    params, point = {"w": RNG.standard_normal((4, 2, 5)), "b": (np.arange(4.0),)}, Point(X, Y)
    found = sdfgad.vmap(of_trees, in_axes=(0, 0, None))(params, point, 3.0)
    np.testing.assert_allclose(found["w"], np.einsum("kij,kj->ki", params["w"], X), rtol=1e-12)
    assert isinstance(found["rest"][0], Point)
    np.testing.assert_array_equal(found["rest"][0].y, Y)
    np.testing.assert_array_equal(found["rest"][1], 3.0 * np.arange(4.0))


def of_numbers(x, n, flag, scale=2.0):
    total = 0.0
    for k in range(n):
        total += x[k]
    return (total if flag else -total) * scale


def test_numbers_integers_and_booleans_of_each_entry():
    n, flag, scale = np.array([0, 5, 2, 3]), np.array([True, True, False, True]), np.arange(1.0, 5.0)
    mapped = sdfgad.vmap(of_numbers)
    expected = [of_numbers(*one) for one in zip(X, n, flag, scale, strict=True)]
    np.testing.assert_allclose(mapped(X, n, flag, scale), expected, rtol=1e-13)
    np.testing.assert_allclose(mapped(X, n, flag, scale=scale), expected, rtol=1e-13)
    np.testing.assert_allclose(mapped(X, n, flag) * scale / 2, expected, rtol=1e-13)
    everywhere = sdfgad.vmap(of_numbers, in_axes=(0, None, None))(X, 3, False)
    np.testing.assert_allclose(everywhere, -2.0 * X[:, :3].sum(axis=1), rtol=1e-13)


def indexed(table, i):
    return table[i] * 2.0, table[i[::-1]][1:]


def test_integer_arrays_that_index():
    i = np.array([[0, 3], [-1, 2], [1, 1], [0, 0]])
    found = sdfgad.vmap(indexed, in_axes=(None, 0))(X[0], i)
    np.testing.assert_array_equal(found[0], X[0][i] * 2.0)
    np.testing.assert_array_equal(found[1], X[0][i[:, :1]])


def same_for_all(x):
    return np.ones(2), 3, x, np.argsort(x), x > 0.0


def test_results_keep_their_dtypes_and_share_no_memory():
    found = sdfgad.vmap(same_for_all)(X)
    assert [one.dtype.kind for one in found] == ["f", "i", "f", "i", "b"]
    assert [one.shape for one in found] == [(4, 2), (4,), (4, 5), (4, 5), (4, 5)]
    assert not np.shares_memory(found[2], X)
    np.testing.assert_array_equal(found[3], np.argsort(X))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(dtype):
    x = X.astype(dtype)
    found = sdfgad.vmap(doubled, in_axes=(0, None))(x, 2.0)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, x * 2, rtol=1e-6)


def doubled(x, a):
    return x * a


class Model:
    factor = 3.0

    def scaled(self, x, power=1):
        return x**power * self.factor


def test_methods_and_partials():
    np.testing.assert_allclose(sdfgad.vmap(Model().scaled)(X), 3.0 * X)
    np.testing.assert_allclose(sdfgad.vmap(partial(Model().scaled, power=2))(X), 3.0 * X**2)


def updated(x, y):
    x[0] = 5.0
    y += x
    return y * 1.0


def test_arguments_are_left_as_they_are():
    x, y = X.copy(), Y.copy()
    found = sdfgad.vmap(updated)(x, y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_allclose(found, [updated(*one) for one in zip(x, y, strict=True)])


def test_one_program_for_each_signature(monkeypatch):
    made, plain = [], mapped_module.batched
    monkeypatch.setattr(mapped_module, "batched", lambda *args: made.append(args) or plain(*args))
    mapped = sdfgad.vmap(doubled)
    for shift in (0.0, 1.0, 2.0):
        np.testing.assert_allclose(mapped(X + shift, Y[:, 0]), (X + shift) * Y[:, :1])
    kept = mapped(X, Y[:, 0])
    mapped(2 * X, Y[:, 0])
    np.testing.assert_allclose(kept, X * Y[:, :1])
    assert len(made) == 1
    mapped(X[:2], Y[:2, 0])
    assert len(made) == 2


def test_empty_batches_and_entries():
    assert sdfgad.vmap(doubled)(X[:0], Y[:0, 0]).shape == (0, 5)
    np.testing.assert_array_equal(sdfgad.vmap(np_sum)(np.zeros((3, 0))), np.zeros(3))


def np_sum(x):
    return np.sum(x)


# --- with other transformations


def energy(x):
    return np.sum(np.sin(x) * x[::-1])


def jax_energy(x):
    return jnp.sum(jnp.sin(x) * x[::-1])


slopes = sdfgad.grad(energy)
mapped_energy, mapped_slopes = sdfgad.vmap(energy), sdfgad.vmap(slopes)


def test_gradients_of_entries():
    np.testing.assert_allclose(mapped_slopes(X), jax.vmap(jax.grad(jax_energy))(X), rtol=1e-12)
    value, gradient = sdfgad.vmap(sdfgad.value_and_grad(energy))(X)
    np.testing.assert_allclose(value, jax.vmap(jax_energy)(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, mapped_slopes(X), rtol=1e-12)


def through_maps(x):
    return np.sum(mapped_energy(x) ** 2) + np.sum(sdfgad.vmap(slopes)(x)[:, 1] * x[:, 0])


def jax_through_maps(x):
    return jnp.sum(jax.vmap(jax_energy)(x) ** 2) + jnp.sum(jax.vmap(jax.grad(jax_energy))(x)[:, 1] * x[:, 0])


def settled(x, n):
    total = 0.0
    for i in range(n):
        t, k = x[i] * x[0], 0
        while t < 2.0 and k < 6:
            t = t * 1.3 + x[1] * 0.1
            k += 1
        total += t * t
    return total


def test_gradients_of_loops_in_which_loops_end_by_data():
    """Their numbers of trips are kept, one for each trip of the outer loop, and each entry has its own."""
    x, slope = np.random.default_rng(3).uniform(0.3, 1.3, (4, 5)), sdfgad.grad(settled)
    found = sdfgad.vmap(slope, in_axes=(0, None))(x, 5)
    np.testing.assert_allclose(found, [slope(one, 5) for one in x], rtol=1e-13)


def test_gradients_through_maps():
    np.testing.assert_allclose(sdfgad.grad(through_maps)(X), jax.grad(jax_through_maps)(X), rtol=1e-12)
    _, found = sdfgad.jvp(through_maps, (X,), (Y,))
    np.testing.assert_allclose(found, np.sum(jax.grad(jax_through_maps)(X) * Y), rtol=1e-12)


def test_maps_of_maps():
    x = RNG.standard_normal((2, 4, 5))
    np.testing.assert_allclose(sdfgad.vmap(mapped_energy)(x), jax.vmap(jax.vmap(jax_energy))(x), rtol=1e-12)
    products = sdfgad.vmap(sdfgad.vmap(np_dot, in_axes=(0, None)), in_axes=(None, 0), out_axes=1)
    np.testing.assert_allclose(products(X, Y), X @ Y.T, rtol=1e-12)


def np_dot(x, y):
    return np.dot(x, y)


def halved(x):
    n = 0
    while np.sum(x * x) > 0.5:
        x = x * 0.7
        n += 1
    return x * n


def of_halved(x):
    return np.sum(sdfgad.vmap(halved)(x), axis=0) + sdfgad.vmap(doubled, in_axes=(0, None))(x, 2.0)[1]


def test_maps_in_programs():
    expected = np.sum([halved(x) for x in X], axis=0) + 2.0 * X[1]
    np.testing.assert_allclose(sdfgad.differentiate(of_halved, reduce="sum").value(X), expected, rtol=1e-12)


# --- refusals


def nothing(x):
    x * 2.0


def drawn(x):
    return x + np.random.standard_normal(5)


def test_refusals():
    with pytest.raises(sdfgad.ArgumentError, match="`nothing` returns no array or number") as caught:
        sdfgad.vmap(nothing)(X)
    assert str(caught.value.where) == line_of(nothing, "def nothing")
    with pytest.raises(sdfgad.ArgumentError, match=r"in_axes=\(0,\) does not fit a call with 2 positional arguments"):
        sdfgad.vmap(doubled, in_axes=(0,))(X, Y)
    with pytest.raises(sdfgad.ArgumentError, match="the mapped axes have different lengths: `x` has 4, `a` has 3"):
        sdfgad.vmap(doubled)(X, Y[:3])
    with pytest.raises(
        sdfgad.ArgumentError, match="the argument `a` is a number, and is mapped over its axis 0"
    ) as caught:
        sdfgad.vmap(doubled)(X, 2.0)
    assert str(caught.value.where) == line_of(doubled, "def doubled")
    with pytest.raises(sdfgad.ArgumentError, match="the argument `x` has 2 axes, and is mapped over its axis 2"):
        sdfgad.vmap(np_sum, in_axes=2)(X)
    with pytest.raises(sdfgad.ArgumentError, match="no argument is mapped"):
        sdfgad.vmap(doubled, in_axes=None)(X, Y)
    with pytest.raises(sdfgad.UnsupportedProgram, match="`drawn` draws random numbers"):
        sdfgad.vmap(drawn)(X)


def test_results_have_the_axis_that_is_asked_for():
    with pytest.raises(
        sdfgad.ArgumentError, match="a result for all entries has 1 axes, and they lie along its axis 1"
    ):
        sdfgad.vmap(np_sum, out_axes=1)(X)


def of_any_number(*xs):
    return xs[0] + xs[1]


def of_any_names(x, **rest):
    return x * rest["a"]


def test_an_axis_for_one_of_any_number_of_arguments_is_refused():
    np.testing.assert_array_equal(sdfgad.vmap(of_any_number)(X, Y), X + Y)
    with pytest.raises(sdfgad.ArgumentError, match="takes `a` as one of any number of arguments by name"):
        sdfgad.vmap(of_any_names)(X, a=Y)


def of_parts(p, x):
    return {"y": p["w"] @ x + p["b"][0], "z": (np.outer(x, x), p["b"][1])}


def test_axes_of_parts():
    rng = np.random.default_rng(5)
    p, x = {"w": rng.random((3, 2, 2)), "b": (rng.random(2), 2.0)}, rng.random((2, 3))
    axes, out_axes = ({"w": 0, "b": (None, None)}, 1), {"y": 1, "z": (2, None)}
    found = sdfgad.vmap(of_parts, axes, out_axes)(p, x)
    expected = jax.vmap(of_parts_in_jax, axes, out_axes)(p, x)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def of_parts_in_jax(p, x):
    return {"y": p["w"] @ x + p["b"][0], "z": (jnp.outer(x, x), p["b"][1])}


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "what"),
    [
        (({"w": 0}, 1), 0, r"the axes {'w': 0} do not fit `p`"),
        (((0, 0), 1), 0, r"the axes \(0, 0\) do not fit `p`"),
        (({"w": 0, "b": "x"}, 1), 0, r"the axes 'x' do not fit `p\['b'\]`"),
        (({"w": 0, "b": None}, 1), {"y": 0}, "do not fit `return`"),
        (({"w": 0, "b": None}, 1), None, "a result differs from entry to entry, and has None in out_axes"),
    ],
)
def test_axes_that_do_not_fit(in_axes, out_axes, what):
    p, x = {"w": np.ones((3, 2, 2)), "b": (np.ones(2), 2.0)}, np.ones((2, 3))
    with pytest.raises(sdfgad.ArgumentError, match=what):
        sdfgad.vmap(of_parts, in_axes, out_axes)(p, x)
