"""Subscripts: views, single elements, masks and index arrays."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad import InvalidIndex
from tests.helpers import assert_expressions, assert_gradient, line_of, refusal_or_gradient

READS = [
    "x[2] * x[-1]",
    "x[-9]",
    "x[2:7] * x[:5]",
    "x[::2] * x[::-2]",
    "x[7:1:-3] ** 2",
    "x[-3:] * x[:-6]",
    "x[-100:100] * 2.0",
    "x[1:8:3][::-1] * x[3:6]",
    "a[1] * a[-1]",
    "a[1, 2] * a[-2, -1]",
    "a[:, 1] * a[:, -1]",
    "a[::-1, ::2] * a[:, 1:]",
    "a[1:, None, 0] * a[0]",
    "a[..., 1] * a[..., 2]",
    "a[None, ..., 1] * x[:3]",
    "a[1][2] * a[1:][1][0]",
    "a.T[2] * a.T[0]",
    "x[idx] * x[:4]",
    "a[idx[:2]] * a[1:]",
    "a[:, idx] * x[2:6]",
    "x[idx[0]] * x[idx[-1] - 1]",
    "a[n] * a[n - 1]",
    "x[n:] * x[: 9 - n]",
    "x[-n:] * x[2:4]",
    "x[n::n] * 2.0",
]


def test_reads(rng, tmp_path):
    arguments = {"x": rng.standard_normal(9), "a": rng.standard_normal((3, 3)), "idx": np.array([2, -1, 2, 0]), "n": 2}
    assert_expressions(READS, arguments, tmp_path)


def empty_slices(x, n):
    y = x[5:2] * 1.0
    x[100:] += 1.0
    z = x[n:] * x[: len(x) - n]
    return np.sum(y) + np.sum(z) + x[0] * x[1]


@pytest.mark.parametrize("n", [9, 3])
def test_empty_slices(rng, n):
    x = rng.standard_normal(9)
    assert_gradient(empty_slices, lambda x, n: jnp.sum(x[n:] * x[: 9 - n]) + x[0] * x[1], x, n)


def writes(x, y, a):
    x[2] = y[0] * y[1]
    x[-1] += y[2] * x[0]
    x[3:6] *= y[:3]
    x[::3] -= x[1::3] * y[0]
    x[1:4] = x[0:3] * x[2:5]
    x[5:0:-2] /= 2.0 + y[:3] * y[:3]
    a[1] = x[:3]
    a[:, 0] += y[:3] * a[:, 1]
    a[2, 1] *= a[0, 0]
    a[::2, 1:] = a[1, 0] * y[3]
    a[1:, :] **= 2
    b = a[:, 1]
    b *= y[1]
    c = a.T
    c[0] = c[1] * c[2]
    x[:] = x + y
    return np.sum(x * x) + np.sum(a * a) * y[4]


def writes_jax(x, y, a):
    x = x.at[2].set(y[0] * y[1])
    x = x.at[-1].add(y[2] * x[0])
    x = x.at[3:6].multiply(y[:3])
    x = x.at[::3].add(-x[1::3] * y[0])
    x = x.at[1:4].set(x[0:3] * x[2:5])
    x = x.at[5:0:-2].divide(2.0 + y[:3] * y[:3])
    a = a.at[1].set(x[:3])
    a = a.at[:, 0].add(y[:3] * a[:, 1])
    a = a.at[2, 1].multiply(a[0, 0])
    a = a.at[::2, 1:].set(a[1, 0] * y[3])
    a = a.at[1:, :].power(2)
    a = a.at[:, 1].multiply(y[1])
    a = a.at[:, 0].set(a[:, 1] * a[:, 2])
    x = x + y
    return jnp.sum(x * x) + jnp.sum(a * a) * y[4]


def test_writes(rng):
    assert_gradient(writes, writes_jax, rng.uniform(0.5, 1, 9), rng.uniform(0.5, 1, 9), rng.uniform(0.5, 1, (3, 3)))


def overlapping(x):
    x[1:] = x[:-1] * x[1:]
    x[:-1] += x[1:] * x[1:]
    x[::-1] = x * x[2]
    return x * x


def overlapping_jax(x):
    x = x.at[1:].set(x[:-1] * x[1:])
    x = x.at[:-1].add(x[1:] * x[1:])
    x = (x * x[2])[::-1]
    return x * x


def test_overlapping_reads_come_before_writes(rng):
    assert_gradient(overlapping, overlapping_jax, rng.uniform(0.5, 1.5, 7))


def masks(x, y, s):
    x[x > 0.5] = s
    y[x < 0.2] = 3.0 * s
    return np.sum(x * y * y)


def masks_jax(x, y, s):
    x = jnp.where(x > 0.5, s, x)
    y = jnp.where(x < 0.2, 3.0 * s, y)
    return jnp.sum(x * y * y)


def copied_selections(x):
    chosen = x[x > 0.5]
    doubled = chosen.copy()
    doubled *= 2.0
    kept = np.copy(chosen)
    kept += 1.0
    x[0] = 7.0
    return np.sum(chosen * doubled) + np.sum(kept**3)


def copied_selections_jax(x):
    return jnp.sum(jnp.where(x > 0.5, 2.0 * x * x + (x + 1.0) ** 3, 0.0))


def test_copies_of_chosen_elements(rng):
    assert_gradient(copied_selections, copied_selections_jax, np.append(0.8, rng.uniform(0, 1, 9)))


def masked_updates(x, y):
    y[x < 0.2] *= 3.0
    x[y > 0.7] += 1.0
    return np.sum(x * y * y)


def masked_updates_jax(x, y):
    y = jnp.where(x < 0.2, y * 3.0, y)
    x = jnp.where(y > 0.7, x + 1.0, x)
    return jnp.sum(x * y * y)


def test_masks(rng):
    assert_gradient(masks, masks_jax, rng.uniform(0, 1, 12), rng.uniform(0, 1, 12), 0.3)


def test_masked_updates(rng):
    assert_gradient(masked_updates, masked_updates_jax, rng.uniform(0, 1, 12), rng.uniform(0, 1, 12))


def views(x):
    y = x[2:]
    z = x[:-2]
    y[0] = z[0] * z[1]
    w = y[::2]
    w += x[:3] * x[1]
    copied = np.copy(x)
    copied[1] = 7.0
    x[0] = copied[2] * copied[1]
    return np.sum(x * copied) * y[1]


def views_jax(x):
    x = x.at[2].set(x[0] * x[1])
    x = x.at[2::2].add(x[:3] * x[1])
    copied = x.at[1].set(7.0)
    x = x.at[0].set(copied[2] * copied[1])
    return jnp.sum(x * copied) * x[3]


def test_views_share_storage_and_copies_do_not(rng):
    assert_gradient(views, views_jax, rng.uniform(0.5, 1, 8))


def gathered(x, idx):
    y = x[idx]
    x[idx[0]] += y[1] * y[2]
    y[0] = 2.0
    return np.sum(y * y) * x[0]


def gathered_jax(x, idx):
    y = x[idx]
    x = x.at[idx[0]].add(y[1] * y[2])
    return jnp.sum(y.at[0].set(2.0) ** 2) * x[0]


def test_indexing_by_an_array_copies(rng):
    assert_gradient(gathered, gathered_jax, rng.uniform(0.5, 1, 5), np.array([1, 1, 3]))


def scattered(x, idx, v):
    x[idx] = v * v
    return np.sum(x * x)


def scattered_update(x, idx, v):
    x[idx] += v * v
    return np.sum(x * x)


@pytest.mark.parametrize("program", [scattered, scattered_update])
@pytest.mark.parametrize("idx", [[0, 2, 4], [0, 2, 0]])
def test_assignment_to_an_index_array(rng, program, idx):
    """Of equal indices the last one wins, in NumPy; that may be refused, but not computed in another way."""

    def reference(x, _, v):
        if program is scattered_update:
            v = jnp.sqrt(x[jnp.array(idx)] + v * v)
        for k, place in enumerate(idx):
            x = x.at[place].set(v[k] * v[k])
        return jnp.sum(x * x)

    args = (rng.uniform(0.5, 1, 5), np.array(idx), rng.uniform(0.5, 1, 3))
    error = refusal_or_gradient(program, reference, *args)
    assert error is None or (error.where is not None and len(set(idx)) < len(idx))


def triangles(a):
    for i in range(4):
        a[i, i:] *= a[i, i]
        a[i:, i] += a[i, : 4 - i]
        a[i, :i] = 0.0
    return np.sum(a * a)


def triangles_jax(a):
    for i in range(4):
        a = a.at[i, i:].multiply(a[i, i])
        a = a.at[i:, i].add(a[i, : 4 - i])
        a = a.at[i, :i].set(0.0)
    return jnp.sum(a * a)


def test_triangular_parts(rng):
    assert_gradient(triangles, triangles_jax, rng.uniform(0.5, 1, (4, 4)))


def index_in_a_branch(x, n):
    s = np.sum(x * x)
    if n > 5:
        s = s + x[7]
    return s * x[0]


def index_in_a_loop_in_an_empty_range(x, n):
    s = np.sum(x * x)
    for _ in range(5, 5):
        w = 0
        while w < n:
            w += 1
            s = s + np.sum(x[w - 1 : w]) * x[6]
    return s * x[0]


@pytest.mark.parametrize("program", [index_in_a_branch, index_in_a_loop_in_an_empty_range])
def test_an_index_out_of_range_that_is_not_reached(program):
    x = np.arange(1.0, 6.0)
    value, gradient = sdfgad.value_and_grad(program)(x, 2)
    assert value == program(x, 2)
    np.testing.assert_allclose(gradient, 2 * x * x[0] + np.where(np.arange(5) == 0, np.sum(x * x), 0.0))


def test_an_index_out_of_range_that_is_reached():
    with pytest.raises(InvalidIndex, match="an index is out of range for an axis of 5") as caught:
        sdfgad.grad(index_in_a_branch)(np.ones(5), 7)
    assert str(caught.value.where) == line_of(index_in_a_branch, "s = s + x[7]")
