"""Loops over generator expressions and ``filter`` whose conditions are data."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope
from tests.parse.test_filtered_objects import agents_of


def of_objects(a):
    """With every kind of jump; the name that the loop binds is one that the condition has, too."""
    agents, total = agents_of(a), 0.0
    for _ in range(3):
        for p in (p for p in agents if p.x > 0.3 and p.alive):
            total += p.x
            p.x *= 0.9
            if p.x > 0.52:
                break
            if p.x < 0.4:
                continue
            p.alive = False
        else:
            total += 1.0
    return total


def by_filter(a):
    agents, total = agents_of(a), 0.0

    def is_far(p):
        return p.x > 0.35

    for p in filter(lambda p: p.x > 0.3, agents):
        total += p.x
        p.x *= 0.8
    for p in filter(is_far, agents):
        total += p.m
    return total + len(list(filter(is_far, agents))) * a[0, 0] + sum(p.x for p in filter(is_far, agents))


def of_numbers(a):
    """Names of the generator are its own, and the loop's name keeps the last item that it had."""
    q, total = 2.0, 0.0
    for v in (q * q for q in a[:, 0] if q > 0.3):
        total += v * q
    for v in (q * i for i, q in enumerate(a[:, 1]) if q > 0.3 if i > 2):
        total += v * q
    total += sum(filter(lambda v: v > 0.3, a[:, 0])) + max(filter(lambda v: v > 0.2, a[:, 1]))
    return total * v + q


def by_names_around(a):
    """The function of a `filter` is evaluated once, and sees the names around it."""
    v, total = 0.3, 0.0
    total += sum([w * w for w in filter(lambda q: q > v, a[:, 0])])
    total += sum([v * w for v in filter(lambda q: q > v, [0.2, 0.4]) for w in a[:2, 1]])

    def is_far(q):
        return q > 0.4

    def is_near(q):
        return q < 0.4

    for q in filter(is_far, [0.1, 0.5, 0.45]):
        is_far = is_near
        total += q * a[0, 0]
    return total * v


def of_known_items(a):
    total = 0.0
    for k in (k for k in range(12) if k % 3 == 0):
        total += a[k, 0] * k
    for k, v in enumerate(filter(lambda k: k % 5 == 0, range(12))):
        total += a[v, 1] * k
    for v in filter(None, [0, 3, 0, 2]):
        total += a[v, 2]
    return total


PROGRAMS = [by_names_around, of_objects, by_filter, of_numbers, of_known_items]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program, rng):
    for _ in range(2):
        assert_value_and_slope(program, rng.uniform(0.1, 0.6, (12, 3)))


def all_of_them(a):
    return of_objects(a) + by_filter(a) * 2 + of_numbers(a) + of_known_items(a)


def test_gradients_of_compiled_code(rng):
    a = rng.uniform(0.1, 0.6, (12, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-12)
    sdfgad.check_grads(all_of_them, a)


def test_a_loop_stays_one(rng):
    def long(x):
        total = 0.0
        for v in (v for v in x if v > 0.3):
            total += np.sin(v)
        return total

    x = rng.uniform(0.1, 0.6, 2000)
    assert len(str(sdfgad.explain(long, x, stage="parsed")).splitlines()) < 30
    assert sdfgad.differentiate(long).value(x) == pytest.approx(long(x), rel=1e-12)
