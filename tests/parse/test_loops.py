"""Loops: the values of names in loops and after them, and loops over other iterables than ranges."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from tests.helpers import assert_gradient, jax_vjp
from tests.helpers_ir import assert_value_and_slope


def row_after_nested_loops(a):
    for i in range(3):
        v = a[i]
        m = i
        for j in range(2):
            k = m - j
    return np.sum(v * v) * a[k, 0] * j


def row_after_nested_loops_jax(a):
    return jnp.sum(a[2] * a[2]) * a[1, 0]


def views_in_a_tuple(a):
    for i in range(2):
        t = (a[i], a[i + 1] * 2.0)
    u, v = t
    return np.sum(u * v * v)


def views_in_a_tuple_jax(a):
    return jnp.sum(a[1] * (2 * a[2]) ** 2)


def counted(a):
    count = 0
    total = 0.0
    for i in range(3):
        if a[i, 0] > 0.7:
            count += 1
        if count > i:
            total += a[i, 1] * count
        if count % 2 == 0:
            total += a[i, 2] ** 3
    return total + (count == 2) * a[0, 0]


def counted_jax(a):
    count, total = 0, 0.0
    for i in range(3):
        count += int(a[i, 0] > 0.7)
        total = total + (a[i, 1] * count if count > i else 0) + (a[i, 2] ** 3 if count % 2 == 0 else 0)
    return total + (a[0, 0] if count == 2 else 0)


def boundary_then_step(a):
    u = a[0] * 1.0
    for t in range(4):
        u[0] = 0.3 * u[1]
        u = u + 0.1 * u * a[1]
    u[1] *= 2.0
    return np.sum(u * u)


def boundary_then_step_jax(a):
    u = a[0]
    for _ in range(4):
        u = u.at[0].set(0.3 * u[1])
        u = u + 0.1 * u * a[1]
    return jnp.sum(u.at[1].multiply(2.0) ** 2)


def double_buffered(a):
    x, y = a[0] * 1.0, a[1] * 2.0
    for t in range(5):
        y[1:-1] = x[:-2] * x[2:]
        x, y = y, x
    return np.sum(x * y)


def double_buffered_jax(a):
    x, y = a[0], 2.0 * a[1]
    for _ in range(5):
        x, y = y.at[1:-1].set(x[:-2] * x[2:]), x
    return jnp.sum(x * y)


def kept_before_rebinding(a):
    k, u = 0.0, a[0]
    for i in range(4):
        m, old = k, u
        k = k + a[1, i] * a[1, i]
        u = u * u + a[2]
    return m * k + np.sum(old * u)


def kept_before_rebinding_jax(a):
    k, u = 0.0, a[0]
    for i in range(4):
        m, old = k, u
        k, u = k + a[1, i] ** 2, u * u + a[2]
    return m * k + jnp.sum(old * u)


CASES = [
    (row_after_nested_loops, row_after_nested_loops_jax),
    (views_in_a_tuple, views_in_a_tuple_jax),
    (counted, counted_jax),
    (boundary_then_step, boundary_then_step_jax),
    (double_buffered, double_buffered_jax),
    (kept_before_rebinding, kept_before_rebinding_jax),
]


@pytest.mark.parametrize(("program", "reference"), CASES, ids=[case[0].__name__ for case in CASES])
def test_names(rng, program, reference):
    assert_gradient(program, reference, rng.uniform(0.3, 1.0, (3, 4)))


def ragged(x, start, column, value):
    y, s = np.zeros(3), 1.0
    for i in range(3):
        for k in range(start[i], start[i + 1]):
            y[i] = np.sin(y[i]) + value[k] * x[column[k]] * s
            s = s * y[i]
        x[i : i + 3] *= np.cos(x[i : i + 3])
    return np.sum(y * y) + s


def ragged_jax(x, start, column, value):
    y, s = jnp.zeros(3), 1.0
    for i in range(3):
        for k in range(start[i], start[i + 1]):
            y = y.at[i].set(jnp.sin(y[i]) + value[k] * x[column[k]] * s)
            s = s * y[i]
        x = x.at[i : i + 3].multiply(jnp.cos(x[i : i + 3]))
    return jnp.sum(y * y) + s


def test_trips_that_are_data(rng):
    """Rows of a sparse matrix; another call has other rows, and so other numbers of trips."""
    x, value, column = rng.uniform(0.5, 1.0, 6), rng.uniform(0.5, 1.0, 4), np.array([0, 3, 1, 5])
    g, _ = assert_gradient(ragged, ragged_jax, x, np.array([0, 2, 2, 4]), column, value)
    for start in ([0, 0, 1, 4], [0, 0, 0, 0], [1, 3, 4, 4]):
        args = (x, np.array(start), column, value)
        found = g.vjp(*args, cotangent=1.0)
        for mine, other in zip(found.values(), jax_vjp(ragged_jax, args, 1.0), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9)


def moving_index(x, idx):
    k = idx[0]
    s = x[k]
    for j in range(3):
        s = s * x[idx[0]] + x[idx[0]]
        idx[0] += 1
    x[: idx[1]] = x[: idx[1]] * x[: idx[1]]
    return s * np.sum(x)


def moving_index_jax(x, idx):
    s = x[0]
    for j in range(3):
        s = s * x[j] + x[j]
    return s * jnp.sum(x.at[:2].multiply(x[:2]))


def test_an_index_is_read_again_after_it_was_written(rng):
    assert_gradient(moving_index, moving_index_jax, rng.uniform(0.5, 1.0, 4), np.array([0, 2]))


def collected(x):
    parts = []
    for i in range(3):
        parts.append(x[i] * 2.0)
    return parts[0] * parts[1] * parts[2]


def test_a_list_filled_in_a_loop_unrolls_it(rng):
    assert_gradient(collected, lambda x: 8.0 * x[0] * x[1] * x[2], rng.uniform(0.5, 1.0, 4))


def boundary_first(u, n):
    for t in range(n):
        u[0] = 0.3 * u[1]
        for i in range(1, 3):
            u[i] = u[i] * u[i - 1] + 0.5
        u = u + 0.1 * u * u[::-1]
    return np.sum(u * u)


def boundary_first_jax(u, n):
    for _ in range(n):
        u = u.at[0].set(0.3 * u[1])
        for i in range(1, 3):
            u = u.at[i].set(u[i] * u[i - 1] + 0.5)
        u = u + 0.1 * u * u[::-1]
    return jnp.sum(u * u)


def test_the_first_trip_updates_the_argument_and_the_others_do_not(rng):
    u = rng.uniform(0.5, 1.0, 5)
    g, _ = assert_gradient(boundary_first, boundary_first_jax, u, 4)
    updated = sdfgad.differentiate(boundary_first, output="u", reduce="sum")
    for n in (1, 0, 3, -2):
        np.testing.assert_allclose(g.value(u, n), boundary_first(u.copy(), n))
        np.testing.assert_allclose(g(u, n)["u"], jax_vjp(boundary_first_jax, (u, n), 1.0)[0], rtol=1e-9)
        if n > 0:
            expected = u.copy()
            boundary_first(expected, n)
            np.testing.assert_array_equal(updated.value(u, n), expected)


def filled_at_run_time(x):
    parts = {"sum": x[0]}
    while parts["sum"] > 0.5:
        parts["more"] = x[1]
        parts["sum"] *= 0.5
    return parts["sum"] + parts.get("more", 3.0)


def test_a_dict_to_which_a_key_is_added_at_run_time():
    for x in (np.array([1.7, 0.4, 0.2]), np.array([0.3, 0.4, 0.2])):
        assert_value_and_slope(filled_at_run_time, x)


def summed(x):
    s = 0.0
    for i in range(4):
        s += x[i]
    return s


def test_a_python_number_takes_the_precision_of_what_is_added():
    x = np.linspace(0.0, 1.0, 4, dtype=np.float32)
    assert sdfgad.differentiate(summed).value(x).dtype == np.float32


HORNER = [-1, 6, -16, 32, -9, 64, -128, 2048, 9, -16, 768, 3, -5, 512, -7, 1280, -7, 2048]


def horner_by_while(n, p, s, x):
    y = float(0 if n < 0 else p[s])
    while n > 0:
        n -= 1
        s += 1
        y = y * x + p[s]
    return y


def horner_by_for(n, p, s, x):
    y = float(p[s])
    for _ in range(n):
        s += 1
        y = y * x + p[s]
    return y


@pytest.mark.parametrize("horner", [horner_by_while, horner_by_for])
def test_an_outer_loop_is_unrolled_for_an_inner_one_that_walks_through_a_list(horner):
    def series(x):
        total, power, o = 0.0, x[0], 0
        for k in range(1, 7):
            n = (6 - k) // 2
            total += power * horner(n, HORNER, o, x[0] * x[1]) / HORNER[o + n + 1]
            o += n + 2
            power *= x[0]
        return total

    x = np.array([0.3, 2.5])
    assert_value_and_slope(series, x)
