"""Attributes of objects in lists that are counters, flags and strings: columns, as others that loops assign to."""

import itertools
from enum import Enum

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError
from tests.helpers_ir import assert_value_and_slope
from tests.parse.test_attributes import N, lines


class Agent:
    def __init__(self, x, k):
        self.x, self.k = x, k
        self.alive, self.age, self.state = True, 0, "idle"

    def tire(self, most):
        self.age += 1
        if self.age > most:
            self.age, self.state = 0, "tired"


def agents_of(a):
    return [Agent(a[i, 0], i) for i in range(len(a))]


def alive(a):
    agents = agents_of(a)
    for _ in range(9):
        for p in agents:
            if p.alive:
                p.x = p.x + 0.1
                if p.x > 1.03:
                    p.alive = False
    return sum(p.x**2 for p in agents if p.alive) + sum(p.x for p in agents)


def aged(a):
    """Counters as factors, indices, numbers of trips and in conditions, also of the object that data chooses."""
    agents = agents_of(a)
    for t in range(6):
        for p in agents:
            p.age += 1
            if p.x > 0.4 and p.age > 2:
                p.age = 0
            p.k = (3 * p.k + t) // 2 % 5
            for j in range(p.age):
                p.x = p.x + 0.01 * a[p.k, 1] * j
        best = max(agents, key=lambda p: p.x)
        best.age -= 1
        best.x *= 0.9
    return sum(p.x * p.age for p in agents)


def stated(a):
    """Strings, which a method assigns, and `None` beside them."""
    agents = agents_of(a)
    for _ in range(8):
        for p in agents:
            if p.state == "idle":
                p.x = p.x * 1.2
                if p.x > 0.7:
                    p.state = "busy"
            elif p.state in ("busy", "tired"):
                p.x = p.x * 0.93
                p.tire(2)
            if p.x < 0.3:
                p.state = None
            elif p.state is None:
                p.x = p.x + 0.05
    return sum(p.x for p in agents if p.state == "busy") - sum(p.age * p.x for p in agents if p.state != "tired")


class Health(Enum):
    WELL = 0
    ILL = 1
    IMMUNE = 2


def infected(a):
    """Members of an enumeration, in an attribute that a loop is the first to set."""
    agents = agents_of(a)
    for p in agents:
        p.health = Health.WELL
    agents[3].health = Health.ILL
    for _ in range(5):
        ill = sum(p.health is Health.ILL for p in agents)
        for p in agents:
            if p.health is Health.WELL and p.x * ill > 0.5:
                p.health = Health.ILL
            elif p.health is Health.ILL:
                p.age += 1
                if p.age > 2:
                    p.health = Health.IMMUNE
            p.x = p.x * (1.0 + 0.001 * ill)
    return sum(p.x * p.age for p in agents if p.health is not Health.WELL)


def compared(a):
    """Truth values of NumPy beside Python's, in arithmetic and logic."""
    agents = agents_of(a)
    for _ in range(4):
        for p in agents:
            p.alive = p.x > 0.4
            p.age += int(p.alive)
            p.alive = p.alive and p.age < 4
            if not p.alive:
                p.x = p.x * 1.1
    return sum(p.x * p.age for p in agents if p.alive)


def remembered(a):
    """What counters, flags and strings were when names got them."""
    agents, total = agents_of(a), 0.0
    for _ in range(3):
        for p in agents:
            age, flag, state = p.age, p.alive, p.state
            p.age += 2
            p.alive = p.x > 0.35
            p.state = "high" if p.alive else "low"
            if flag and state != "low":
                total = 0.5 * np.sin(total) + age * p.x
            p.x = p.x + 0.02
    return total


ROLLED = {alive: 100, aged: 100, stated: 160, infected: 160, compared: 100, remembered: 100}


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_loops_stay(program, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < ROLLED[program]


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_values_and_slopes(program, rng):
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (20, 3)))


def all_of_them(a):
    return alive(a) + 2 * aged(a) + 3 * stated(a) + infected(a) - compared(a) + remembered(a)


def test_gradients(rng):
    a = rng.uniform(0.1, 0.6, (20, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-11)
    sdfgad.check_grads(all_of_them, a)


# --- what has to be known


def sizes(a):
    """Counters that are lengths afterwards: they are known where the loops are written out."""
    agents = agents_of(a)
    for _ in range(2):
        for p in agents:
            p.age += 1
    return sum(np.sum(np.ones(p.age) * p.x) for p in agents)


def keys(a):
    """Strings that are keys of functions."""
    functions, after = {"idle": np.sin, "busy": np.cos}, {"idle": "busy", "busy": "idle"}
    agents = agents_of(a)
    for _ in range(3):
        for p in agents:
            p.x = functions[p.state](p.x)
            p.state = after[p.state]
    return sum(p.x for p in agents)


def unlike(a):
    """Other kinds of values: a float among integers, None among floats, a number instead of a flag."""
    agents = agents_of(a)
    for p in agents:
        p.age += 1
        p.k = p.k * 0.5 if p.x > 0.4 else p.k
    agents[0].age, agents[1].age, agents[2].alive = 0.5, None, 3
    return sum(p.x * p.age * p.k for p in agents if p.age is not None) + agents[2].alive


def large(a):
    """Integers that are known, of which products, sums, powers and shifts need more than 64 bits."""
    agents = agents_of(a)
    for p in agents:
        p.age = 3000000 + p.k
    total = sum(p.age * p.age * p.age * 1e-18 * p.x for p in agents)
    for p in agents:
        p.age = 7**p.k
    for p, q in itertools.pairwise(agents):
        total += (p.age * q.age % 1009) * p.x
    for p in agents:
        p.age = 2**60 if p.k % 3 else -(2**62)
    total += sum(p.age for p in agents) * 1e-18
    for p in agents:
        p.k = p.age + p.age + p.k
    total += sum(p.k % 1009 * p.x for p in agents)
    for k, p in enumerate(agents):
        p.age = k * 6
    return total + sum((1 << p.age) * 1e-20 * p.x for p in agents)


def with_none(a):
    """`None` as a key beside strings."""
    rates, agents, total = {"idle": 0.1, "busy": 0.2, None: 0.9}, agents_of(a), 0.0
    for _ in range(3):
        for p in agents:
            total = np.sin(total) + rates[p.state] * p.x
            p.state = "busy" if p.x > 0.3 and p.state == "idle" else None
    return total


def trips_of_sums(a):
    """A number of items that a counter is: lengths that data decides, more than may be constants in one loop."""
    agents = agents_of(a)[:8]
    for _ in range(2):
        for p in agents:
            if p.x > 0.4:
                p.age = p.age + 1
            p.x = p.x + 0.01 * sum(a[j, 0] for j in range(p.age % 5))
    return sum(p.x for p in agents)


@pytest.mark.parametrize(
    "program", [sizes, keys, unlike, large, with_none, trips_of_sums], ids=lambda one: one.__name__
)
def test_what_must_be_known_is(program, rng):
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (16, 3)))


# --- integers of more than 64 bits


def doubled(a, steps):
    agents = agents_of(a)
    for p in agents:
        p.age = 1 if p.x > 0.3 else 2
    for _ in range(steps):
        for p in agents:
            p.age *= 2
    return sum(p.x * p.age for p in agents)


def trebled(a):
    agents = agents_of(a)
    for _ in range(45):
        for p in agents:
            p.k = 3 * p.k + 1
    return sum(p.x * p.k for p in agents)


def test_integers_that_outgrow_64_bits_are_noticed(rng):
    g, a = sdfgad.differentiate(doubled, wrt="a"), rng.uniform(0.1, 0.6, (20, 3))
    assert g.value(a, 50) == pytest.approx(doubled(a, 50))
    with pytest.raises(ArgumentError, match=r"an integer needs more than 64 bits\n.*: p.age \*= 2"):
        g(a, 70)


def test_integers_that_outgrow_64_bits_are_known_where_the_loops_are_written_out(rng):
    assert_value_and_slope(trebled, rng.uniform(0.1, 0.6, (20, 3)))


def negative(a):
    agents = agents_of(a)
    for _ in range(2):
        for p in agents:
            p.age -= int(p.x > 0.3)
    return sum(2**p.age * p.x for p in agents)


def test_negative_powers_are_noticed(rng):
    """They were powers of integers, of which C++ makes something."""
    with pytest.raises(ArgumentError, match=r"an integer to a negative power.*\n.*: return sum\(2\*\*p\.age"):
        sdfgad.differentiate(negative)(rng.uniform(0.1, 0.6, (20, 3)))
