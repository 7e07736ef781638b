"""Lists, dicts and tuples from outside that hold arrays, where all of them are used at once."""

# ruff: noqa: C416, RUF005, RUF015 - how users write it is what is tested.

import copy
import itertools

import numpy as np
import pytest

from tests.helpers_ir import assert_value_and_slope, outputs_of, parsed

L, T = [np.zeros(3), np.zeros(3)], (np.zeros(3), np.zeros(3))
D, N = {"a": np.zeros(3), "b": np.zeros(3)}, [[np.zeros(3)], [np.zeros(3)]]
ARRAYS = [*L, *T, *D.values(), N[0][0], N[1][0]]
X = np.array([0.3, 0.5, 0.9])


def set_arrays(k):
    for number, array in enumerate(ARRAYS):
        array[:] = np.arange(1.0, 4.0) * (number + 1) + k * np.array([0.3, 0.2, 0.7])


def bound_anew(x):
    m = list(L)
    m[0] = m[0] + x
    m.append(x)
    return np.sum(m[0] * m[1]) + np.sum(L[0] * m[2])


def deep_copies(x):
    m = copy.deepcopy(L)
    m[0] *= x
    m[1][0] = x[0]
    return np.sum(m[0]) + np.sum(L[0] * m[1])


def dict_updated(x):
    m = dict(D)
    m["c"] = m["a"] * x
    return sum(np.sum(v) for v in m.values()) * len(m)


def in_a_loop(x):
    """The first attempts of the loop are given up, with the arrays that they have met."""
    y, last = x, None
    for _ in range(20):
        m = list(L) + [y]
        y = y + 0.01 * np.sum(np.stack(m), axis=0) * (1.0 if last is None else 0.9)
        last = y
    return np.sum(y)


PROGRAMS = {
    "lists": lambda x: np.sum(list(L)[0] * x) + np.sum(L[:][0] * x) + np.sum(L[1:][0] * x) + np.sum(L[::-1][0] * x),
    "copies": lambda x: np.sum(copy.copy(L)[0] * x) + np.sum(L.copy()[1] * x) + np.sum(copy.deepcopy(N)[1][0] * x),
    "operators": lambda x: np.sum((L + [x])[0] * x) + np.sum((L * 2)[3] * x) + np.sum(([x] + L)[1] * x),
    "tuples": lambda x: np.sum(tuple(L)[0] * x) + np.sum((*T, x)[0] * x) + np.sum(T[1:][0] * x) + np.sum([*L][0] * x),
    "dicts": lambda x: np.sum(dict(D)["a"] * x) + np.sum(D.copy()["b"] * x) + np.sum({**D}["a"] * x),
    "or": lambda x: np.sum((D | {"c": x})["a"] * x) + np.sum({k: v for k, v in D.items()}["b"] * x),
    "values": lambda x: np.sum(list(D.values())[0] * x) + sum(np.sum(v * x) for _, v in D.items()),
    "get": lambda x: np.sum(D.get("a") * x) + np.sum(D.get("z", L[0]) * x),
    "arrays": lambda x: np.sum(np.stack(L) * x) + np.sum(np.array(L) * x * x) + np.sum(np.concatenate(T)) * x[0],
    "sum": lambda x: np.sum(sum(L) * x) + sum(map(np.sum, T)) * x[0] + np.sum(sum(D.values()) * x),
    "max": lambda x: np.sum(max(L, key=lambda a: a[0]) * x) + np.sum(sorted(D.items(), key=lambda t: t[0])[0][1] * x),
    "nested": lambda x: np.sum(N[0][:][0] * x) + sum(np.sum(a * x) for a in itertools.chain(*N)),
    "pop": lambda x: np.sum(list(L).pop() * x) + np.sum(list(reversed(L))[0] * x),
    **{one.__name__: one for one in (bound_anew, deep_copies, dict_updated, in_a_loop)},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_reads_the_arrays(name):
    set_arrays(0)
    primal = parsed(PROGRAMS[name], X)
    for k in range(3):
        set_arrays(k)
        assert primal.is_current
        np.testing.assert_allclose(outputs_of(primal, X)["return"], PROGRAMS[name](X), rtol=1e-13)
    assert_value_and_slope(PROGRAMS[name], X)


def test_another_array_in_a_list_is_seen():
    set_arrays(0)
    primal = parsed(PROGRAMS["arrays"], X)
    before = L[0]
    try:
        L[0] = before.copy()
        assert not primal.is_current
    finally:
        L[0] = before
    assert primal.is_current
