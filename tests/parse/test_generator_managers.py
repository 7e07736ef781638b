"""``with`` of generators that `contextlib.contextmanager` decorates."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import IgnoredPrint, UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.3, 1.7, 12)


class Tank:
    def __init__(self, level):
        self.level, self.log = level, []


@contextmanager
def scaled(tank, scale):
    tank.level *= scale
    yield tank
    tank.level /= scale


@contextmanager
def restored(a):
    old = a.copy()
    try:
        yield a
    finally:
        a[:] = old


@contextmanager
def logged(tank, k):
    if k > 2:
        tank.log.append(k)
        yield k * 2
    else:
        yield k
    tank.log.append(-k)


def changes(x):
    tank, a = Tank(x[0]), x.copy()
    with scaled(tank, x[1]) as one, restored(a) as b:
        b *= 2
        inside = one.level**2 + np.sum(b)
    return inside + tank.level * np.sum(a)


def in_a_loop(x):
    tank, total = Tank(x[0]), 0.0
    for k in range(5):
        with logged(tank, k) as m:
            total += m * x[k]
    for v in x:
        with scaled(tank, v) as one:
            total += one.level
    return total + sum(tank.log) * x[0] + len(tank.log)


def returns(x):
    tank = Tank(x[0])
    with scaled(tank, x[1]) as one, scaled(one, x[2]) as other:
        if x[3] > 0.2:
            return other.level
        total = other.level * 2
    return total + tank.level


@pytest.mark.parametrize("program", [changes, in_a_loop, returns], ids=lambda one: one.__name__)
def test_what_runs_before_and_behind_the_block(program):
    assert_value_and_slope(program, X)


@contextmanager
def timed(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        print(name, time.perf_counter() - start)


def test_timers():
    def program(x):
        total = 0.0
        with timed("loop"):
            for v in x:
                total += v**2
        return total

    with pytest.warns(IgnoredPrint):
        value, gradients = sdfgad.differentiate(program).value_and_grad(X)
    np.testing.assert_allclose(value, np.sum(X**2), rtol=1e-12)
    np.testing.assert_allclose(gradients["x"], 2 * X, rtol=1e-12)


@contextmanager
def twice(a):
    yield a
    yield a


def test_a_generator_that_yields_twice():
    def program(x):
        with twice(x) as a:
            total = np.sum(a)
        return total

    with pytest.raises(UnsupportedProgram, match="yields twice") as caught:
        parsed(program, X)
    assert caught.value.where.text == "yield a"


def test_a_finally_that_runs_where_a_generator_is_forgotten():
    def program(x):
        tank = Tank(x[0])

        def levels():
            try:
                yield tank.level
                yield 2 * tank.level
            finally:
                tank.level += 1.0

        for level in levels():
            if level > 0:
                break
        return level * tank.level

    with pytest.raises(UnsupportedProgram, match="`yield` is supported only as a statement of its own"):
        parsed(program, X)
