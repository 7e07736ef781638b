"""Functions that make arrays, and what is written into them."""

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import Loop
from tests.helpers import assert_expressions, assert_gradient
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed

EXPRESSIONS = [
    "np.zeros(3) + x",
    "np.ones((2, 3)) * x",
    "np.full(3, s) * x",
    "np.full((2, 3), 2) * x",
    "np.zeros_like(x) + x * x",
    "np.ones_like(x) * x * s",
    "np.full_like(x, s) * x",
    "np.copy(x) * x.copy()",
    "np.array(x) * np.asarray(x)",
    "np.array(x, dtype=np.float64) ** 2",
    "np.eye(3) * x + np.identity(3)",
    "np.eye(2, 3, 1) * x",
    "np.arange(3) * x",
    "np.arange(1, 7, 2) * x",
    "np.arange(0.0, 0.3, 0.1)[:3] * x",
    "np.arange(n) * x",
    "np.zeros(n)[:2] + x[:2]",
    "x * np.array([1, 2, 3])",
    "x * np.array([1.5, 2.5, s])",
]


def test_expressions(rng, tmp_path):
    assert_expressions(EXPRESSIONS, {"x": rng.standard_normal(3), "s": 0.5, "n": 3}, tmp_path)


def filled(x, n):
    a = np.empty((n, 3))
    b = np.zeros(n, dtype=x.dtype)
    c = np.empty_like(x)
    for i in range(n):
        a[i] = x * i
        b[i] = x[0] * a[i, 1]
    c[:] = x
    c[0] += b[n - 1] * b[n - 1]
    return np.sum(a * a) + np.sum(c * c)


def filled_jax(x, n):
    a = jnp.arange(float(n))[:, None] * x
    b = x[0] * a[:, 1]
    c = x.at[0].add(b[n - 1] ** 2)
    return jnp.sum(a * a) + jnp.sum(c * c)


@pytest.mark.parametrize("n", [3, 5])
def test_local_arrays(rng, n):
    assert_gradient(filled, filled_jax, rng.standard_normal(3), n)


def test_sizes_are_specialised_for(rng):
    g = sdfgad.differentiate(filled)
    x = rng.standard_normal(3)
    assert g.sdfg(x, 3) is not g.sdfg(x, 5)


def loses_writes(x):
    y = np.array(x)
    z = np.asarray(x)
    y[0] = 1.0
    z[1] = 2.0 * y[2]
    return np.sum(x * y)


def test_array_copies_and_asarray_does_not(rng):
    def reference(x):
        y = x.at[0].set(1.0)
        return jnp.sum(x.at[1].set(2.0 * x[2]) * y)

    assert_gradient(loses_writes, reference, rng.standard_normal(3))


@pytest.mark.parametrize(
    "program",
    [lambda x: np.sum(np.zeros(-2)) + x[0], lambda x: np.sum(np.zeros(x[0]))],
)
def test_refusals(program):
    with pytest.raises(UnsupportedProgram):
        sdfgad.differentiate(program)(np.ones(3))


def of_neighbours(x, t):
    total = 0.0
    for k in range(2):
        before = int(np.floor(t[k] / 0.1))
        places = np.arange(before - 1, before + 3)
        total += np.sum(x[places] * places) * t[k] + np.sum(np.arange(before, before - 5, -2, dtype=float))
    return total


def along(x, t):
    total = 0.0
    for i in range(1, len(x) - 1):
        total += np.sum(x[np.arange(i - 1, i + 2)] ** 2) * t[0]
    return total


def test_ranges_whose_length_is_known_though_their_ends_are_data():
    x = np.random.default_rng(2).uniform(0.5, 1.5, 9)
    for t in ([0.33, 0.51], [0.17, 0.42]):
        assert_value_and_slope(of_neighbours, x, np.array(t))
    assert any(isinstance(one, Loop) for one in assert_like_python(along, x, np.array(t)).program.body)


def of_names(x):
    names = np.array([["a", "b"], ["c", "d"]])
    total = np.sum(x[np.where(names == "c")]) * names.size
    for k, name in enumerate(names[1]):
        if name == "d":
            total += x[1, k] ** 2
    return total


def test_arrays_of_strings_that_are_known():
    x = np.arange(4.0).reshape(2, 2)
    assert_value_and_slope(of_names, x)


def first_items(x):
    return np.sum(np.fromiter((t * t for t in x), np.float64, count=2) ** 2) + np.fromiter(range(3), int).sum() * x[0]


def items_that_are_counted(x):
    taken = [0]

    def counted(t):
        taken[0] += 1
        return t * t

    return np.sum(np.fromiter((counted(t) for t in x), np.float64, 3)) * taken[0]


@pytest.mark.parametrize("program", [first_items, items_that_are_counted])
def test_fromiter_takes_as_many_items_as_count_says(program):
    assert_value_and_slope(program, np.linspace(0.3, 1.1, 5))


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda x: np.sum(np.fromiter((t for t in x), np.float64, 9)), "iterator too short"),
        (lambda x: np.sum(np.fromiter((x * k for k in range(3)), np.float64)), "np.fromiter needs numbers as items"),
    ],
)
def test_fromiter_refuses_what_numpy_refuses(program, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program, np.linspace(0.3, 1.1, 5))
    assert "np.fromiter(" in str(caught.value)
