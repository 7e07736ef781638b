"""Functions with a cache, of which each call for the same arguments returns the same object."""

from functools import cache, lru_cache

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

X = np.array([0.9, 0.6, 1.2, 0.7])


@cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def binomial_tree(x):
    @cache
    def value(i, j):
        if i == 14:
            return x[0] * x[3] ** j * x[1] ** (i - j)
        return 0.5 * value(i + 1, j + 1) + x[2] * value(i + 1, j)

    return value(0, 0) + fibonacci(30) * 1e-6 * x[0]


def splines(x):
    @lru_cache
    def basis(i, p, t):
        if p == 0:
            return 1.0 if i <= 4.2 < i + 1 else 0.0
        return (t - i) / p * basis(i, p - 1, t) + (i + p + 1 - t) / p * basis(i + 1, p - 1, t)

    return sum(x[k] * basis(k, 3, x[0]) for k in range(4))


def counted(x):
    """The function counts how often its body runs."""
    count = 0

    @cache
    def item(k):
        nonlocal count
        count += 1
        return x[k] * x[0]

    total = item(0) + item(1) + item(0) + item(1) * item(0)
    for k in range(4):
        total += item(k)
    return total + count


def as_it_was(x):
    """What it reads changes between two calls."""
    scale = 1.0

    @cache
    def item(k):
        return x[k] * scale

    first = item(0)
    scale = 2.0
    return first + 3.0 * item(0) + 5.0 * item(1)


def the_same_array(x):
    @cache
    def multiple(k):
        return x * k

    u = multiple(2)
    u += 1.0
    total = np.sum(multiple(2))
    for _ in range(3):
        w = multiple(3)
        w += 1.0
        total += np.sum(w)
    return total


def the_same_list(x):
    @cache
    def begun(k):
        return [x[k]]

    for k in range(6):
        begun(k % 2).append(x[k % 4])
    return sum(begun(0)) + len(begun(1))


def a_kernel(x):
    @cache
    def kernel(n):
        k = np.exp(-np.arange(n) * x[0])
        return k / k.sum()

    u = np.concatenate([x, x, x])
    for _ in range(30):
        k = kernel(3)
        u[1:-1] = u[:-2] * k[0] + u[1:-1] * k[1] + u[2:] * k[2]
    return u @ u


def in_branches(x):
    log = []

    @cache
    def item(k):
        return x[k] * x[1]

    total = 0.0
    for k in range(4):
        if x[k] > 0.65:
            total += item(2) * x[k]
            log.append(k)
    return total + item(2) + item(k=2)


class Fluid:
    def __init__(self, rho, table):
        self.rho, self.table = rho, table


def properties(x):
    """Objects, dicts and lists that are returned, at numbers that are data."""

    @lru_cache(maxsize=128)
    def air(t):
        return {"rho": 1.0 / t, "table": np.arange(3) * t}

    @lru_cache
    def water(t):
        return Fluid(1.0 / t, np.arange(3) + t)

    @cache
    def pair(n):
        return [np.arange(n) * 1.0, 2.0]

    total = air(x[0])["rho"] * water(x[1]).rho
    for k in range(20):
        a, w, p = air(x[k % 4] + 0.01 * k), water(x[1] * (1.0 + total * 0.001)), pair(3)
        total += a["rho"] * w.rho + w.table @ a["table"] * 0.01 + p[0][2] * p[1]
    return total


def changed_in_a_loop(x):
    @cache
    def fluid(t):
        return Fluid(x[0] * t, x * t)

    total = 0.0
    for _ in range(4):
        one = fluid(2.0)
        one.rho += x[1]
        one.table += 1.0
        total += one.rho * np.sum(fluid(2.0).table)
    return total


PROGRAMS = [
    properties,
    changed_in_a_loop,
    binomial_tree,
    splines,
    counted,
    as_it_was,
    the_same_array,
    the_same_list,
    a_kernel,
    in_branches,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_slope(program):
    assert_value_and_slope(program, X)


def steps_of_an_argument(x, n):
    @cache
    def value(i, j):
        if i == n:
            return x[0] * x[3] ** j * x[1] ** (i - j)
        return 0.5 * value(i + 1, j + 1) + x[2] * value(i + 1, j)

    return value(0, 0)


@pytest.mark.parametrize("n", [0, 1, 16])
def test_a_recursion_that_an_integer_argument_ends(n):
    """Followed anew in each branch on it, the last one would not end."""
    assert_value_and_slope(steps_of_an_argument, X, n)


def test_loops_stay_loops():
    assert size_of(parsed(a_kernel, X).program.body) < 20
    assert size_of(parsed(properties, X).program.body) < 30


def of_data(x):
    count = 0

    @cache
    def squared(v):
        nonlocal count
        count += 1
        return v * v

    return squared(x[0]) + squared(x[1]) + count


def test_effects_of_calls_that_may_be_the_same_are_refused():
    text = (
        r"a function with a cache changes something.*not known before the run\n.*squared\(x\[0\]\).*\n.*out the cache"
    )
    with pytest.raises(UnsupportedProgram, match=text):
        parsed(of_data, X)
