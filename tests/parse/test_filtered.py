"""Comprehensions with a condition on data: of tuples, arrays and dicts."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = [np.random.default_rng(seed).uniform(-1, 1.2, 6) for seed in range(5)]


def tuples(x):
    points = [(v, v**2) for v in x]
    points = [p for p in points if p[0] > 0.1]
    return sum(p[1] for p in points) + 0.1 * x[0]


def in_a_loop(x):
    points = [(v, i) for i, v in enumerate(x)]
    for k in range(2):
        points = [(a * 0.9, j) for a, j in points if a > 0.1 * k]
    return sum(a * j for a, j in points) + len(points) * x[1]


def first_of_them(x):
    high = [(i, v) for i, v in enumerate(x) if v > 0.1]
    if not high:
        return x[0]
    i, v = high[0]
    return v * i + sum(w for _, w in high) / len(high)


def rows(x):
    a = np.outer(x, x)
    found = [a[i] for i in range(4) if x[i] > 0.0]
    return sum(np.sum(row * x) for row in found) + x[2]


def dict_of_values(x):
    table = dict(zip("abcdef", x / np.sum(x * x), strict=True))
    major = {name: v for name, v in table.items() if v > 0.1}
    return sum(v**2 for v in major.values()) + len(major) * x[0]


def dict_in_a_loop(x):
    s = 0.0
    for k in range(3):
        table = {i: v * (k + 1) for i, v in enumerate(x) if v > 0.1 * k and i != 3}
        if 1 in table:
            s += table[1]
        s += 0.1 * len(table) + table.get(0, 0.0)
    return s


def dict_of_pairs(x):
    table = {(i, j): x[i] * x[j] for i in range(3) for j in range(3) if i < j and x[i] > x[j]}
    return sum(table.get((i, j), 0.5) for i in range(3) for j in range(3)) + ((0, 1) in table) * x[0]


PROGRAMS = [tuples, in_a_loop, first_of_them, rows, dict_of_values, dict_in_a_loop, dict_of_pairs]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program):
    for x in X:
        assert_value_and_slope(program, x)


def test_a_dict_with_a_mask_is_parsed_once():
    g = sdfgad.differentiate(dict_of_pairs)
    for x in X:
        np.testing.assert_allclose(g.value(x), dict_of_pairs(x), rtol=1e-12)
    (found,) = g._specialisations.found.values()
    assert len(found) == 1
