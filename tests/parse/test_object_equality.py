"""``==`` of objects, ``in`` and ``index`` of lists of them."""

from dataclasses import dataclass

import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope
from tests.parse.test_filtered_objects import agents_of


@dataclass
class Body:
    x: float
    k: int


class Named:
    def __init__(self, x, k):
        self.x, self.k = x, k

    def __eq__(self, other):
        return self.k == other.k


def of_plain_objects(a):
    """Without a method of theirs they are equal if they are one."""
    agents, total = agents_of(a), 0.0
    for p in agents:
        for q in agents:
            if p == q:
                continue
            total += p.x * q.m
            if q != agents[0] and q.x > p.x:
                total += q.x
    first = agents[3]
    return total + (first.x if first in agents else 0.0) + (a[0, 0] if agents[0] in agents[1:] else a[1, 0])


def of_a_chosen_object(a):
    agents, total = agents_of(a), 0.0
    for _ in range(3):
        best = max(agents, key=lambda p: p.x)
        total += agents.index(best) * best.x
        if best in agents[:6]:
            total += best.m
        if best == agents[3] or best != agents[5]:
            total += a[1, 0]
        best.x *= 0.6
    return total


def of_dataclasses(a):
    """The fields are compared, which are data here, and known there."""
    bodies = [Body(a[k, 0], k % 3) for k in range(6)]
    bodies.append(Body(a[0, 0], 0))
    total = a[2, 2]
    for k, p in enumerate(bodies):
        for q in bodies[k + 1 :]:
            total += p.x * q.x if p == q else p.x
    if bodies[1] in bodies[2:]:
        total += 100.0
    return total + bodies.index(bodies[4]) * a[0, 1] + (50.0 if bodies[0] == 3 else 0.0)


def of_classes_that_define_it(a):
    named, total = [Named(a[k, 0], k % 3) for k in range(6)], 0.0
    for p in named:
        for q in named:
            if p == q:
                total += p.x * q.x
            if p != q:
                total += p.x
    return total


def of_what_may_be_none(a):
    """It was checked at run time that none of them is."""
    agents, best, second, value, total = agents_of(a), None, None, None, 0.0
    for _ in range(2):
        for p in agents:
            if p == best or p is second:
                continue
            total += p.x
            if p.x > 0.45:
                best = p
            second = best if p.x > 0.5 else agents[0]
        total += (best is second) + 2 * (best == second) + 3 * (best != agents[2])
    for k in range(4):
        total += 10.0 if value == a[2, 2] else 0.1 * (value != a[2, 2])
        if a[k, 0] > 0.3:
            value = a[2, 2]
    return total


def of_none_beside_a_method(a):
    """`best` is no None where its class compares it."""
    named, best, total = [Named(a[k, 0], k % 3) for k in range(6)], None, 0.0
    for p in named:
        if best is not None and best == p:
            total += p.x
        if p.x > 0.3:
            best = p
    return total


def first_near(a):
    """`next` of a list that data chooses."""
    agents, total = agents_of(a), 0.0
    for p in agents:
        others = [q for q in agents if q != p and abs(q.x - p.x) < 0.1]
        one = next((q for q in others if q.x > p.x), None)
        if one is not None:
            total += one.x * p.m
    return total


PROGRAMS = [of_what_may_be_none, of_none_beside_a_method, first_near]
PROGRAMS += [of_plain_objects, of_a_chosen_object, of_dataclasses, of_classes_that_define_it]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program, rng):
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (12, 3)))


def test_gradients_of_compiled_code(rng):
    a = rng.uniform(0.1, 0.6, (12, 3))
    gradient = sdfgad.differentiate(of_a_chosen_object)
    for values in (a, a[::-1].copy()):
        assert gradient.value(values) == pytest.approx(of_a_chosen_object(values), rel=1e-12)
    sdfgad.check_grads(of_a_chosen_object, a)
