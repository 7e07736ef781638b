"""Loops whose bounds, and subscripts whose indices, are known only at run time."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from tests.helpers import assert_close, assert_gradient, jax_vjp


def power_of(x, s, n):
    for i in range(n):
        s = s * x[i]
        x[i] = s * s
    return s + np.sum(x)


def power_of_jax(x, s, n):
    for i in range(n):
        s = s * x[i]
        x = x.at[i].set(s * s)
    return s + jnp.sum(x)


def test_bound_is_a_run_time_argument(rng):
    x = rng.uniform(0.5, 1.2, 9)
    g = sdfgad.differentiate(power_of)
    for n in (4, 0, 9, 1, 4):
        found = g(x, 0.9, n)
        expected = jax_vjp(power_of_jax, (x, 0.9, n), 1.0)
        assert_close(found["x"], expected[0], what=f"x, n={n}")
        assert_close(found["s"], expected[1], what=f"s, n={n}")


def test_run_time_bounds_share_one_specialisation(rng):
    x = rng.uniform(0.5, 1.2, 9)
    g = sdfgad.differentiate(power_of)
    assert g.sdfg(x, 0.9, 4) is g.sdfg(x, 0.9, 7)
    assert g.sdfg(x, 0.9, 4) is g.sdfg(x, 0.9, 1)


def run_time_range(x, start, stop, step):
    s = 1.0
    for i in range(start, stop, step):
        s = s * x[i] + x[i]
    return s


@pytest.mark.parametrize("bounds", [(0, 11, 3), (7, -1, -2), (2, 9, 1)])
def test_range_of_run_time_arguments(rng, bounds):
    x = rng.uniform(0.2, 1.2, 12)
    assert_gradient(run_time_range, run_time_range, x, *bounds)


def product(x, start, stop):
    s = 1.0
    for i in range(start, stop):
        s = s * x[i]
    return s


@pytest.mark.parametrize("first", [(2, 6), (5, 5), (6, 5)])
def test_no_trips_give_a_zero_gradient_in_any_order_of_calls(rng, first):
    x = rng.uniform(0.2, 1.2, 8)
    g = sdfgad.differentiate(product)
    g(x, *first)
    for bounds in ((5, 5), (6, 5), (3, 0)):
        np.testing.assert_array_equal(g(x, *bounds)["x"], np.zeros(8))
    assert_close(g(x, 2, 6)["x"], jax_vjp(product, (x, 2, 6), 1.0)[0])


def run_time_triangle(x, n, m):
    for i in range(n):
        for j in range(m - i):
            x[i + j] = x[i] * x[j] + 0.1
    return np.sum(x)


def run_time_triangle_jax(x, n, m):
    for i in range(n):
        for j in range(m - i):
            x = x.at[i + j].set(x[i] * x[j] + 0.1)
    return jnp.sum(x)


@pytest.mark.parametrize("bounds", [(3, 4), (4, 2), (0, 2)])
def test_triangle_with_run_time_bounds(rng, bounds):
    assert_gradient(run_time_triangle, run_time_triangle_jax, rng.uniform(0.5, 1, 6), *bounds)


def sparse_product(x, start, column, value):
    y = np.zeros(3)
    for i in range(3):
        for k in range(start[i], start[i + 1]):
            y[i] += value[k] * x[column[k]]
    return np.sum(y * y)


def test_bounds_from_an_index_array(rng):

    start, column = np.array([0, 2, 2, 4]), np.array([0, 3, 1, 5])

    def reference(x, _, __, value):
        t = value * x[column]
        return (t[0] + t[1]) ** 2 + (t[2] + t[3]) ** 2

    args = (rng.uniform(0.5, 1, 6), start, column, rng.uniform(0.5, 1, 4))
    assert_gradient(sparse_product, reference, *args)


def gathered(x, idx, w):
    for i in range(6):
        x[idx[i]] = x[idx[i]] * w[i] + x[idx[5 - i]] * x[i]
    return np.sum(x * x)


def gathered_jax(x, idx, w):
    for i in range(6):
        x = x.at[idx[i]].set(x[idx[i]] * w[i] + x[idx[5 - i]] * x[i])
    return jnp.sum(x * x)


def test_index_array_in_a_sequential_loop(rng):
    idx = np.array([3, 0, 3, -1, 2, 3])
    assert_gradient(gathered, gathered_jax, rng.uniform(0.5, 1, 7), idx, rng.uniform(0.5, 1, 6))


def changing_index(x, idx):
    s = 1.0
    for i in range(5):
        s = s * x[idx[0]] + x[i]
        idx[0] = (idx[0] + 2) % 5
    return s


def changing_index_jax(x, idx):
    s, k = 1.0, int(idx[0])
    for i in range(5):
        s = s * x[k] + x[i]
        k = (k + 2) % 5
    return s


def test_index_that_changes_in_the_loop(rng):
    assert_gradient(changing_index, changing_index_jax, rng.uniform(0.5, 1, 5), np.array([1]))


def without_end(x, factor):
    s, n = np.sum(x), 0
    while s > 1.0:
        n += 1
        if n > 100:
            raise ValueError("no end")
        s = s * factor
    return s * np.sum(x)


def test_a_raise_ends_a_while_loop():
    g = sdfgad.differentiate(without_end, wrt="x")
    with pytest.raises(sdfgad.ProgramRaises, match="no end"):
        g(np.ones(3), 1.0)
    np.testing.assert_allclose(g(np.ones(3), 0.5), 3 * np.full(3, 0.5), rtol=1e-12)
