"""Fields of dataclasses with a `default_factory`: each object gets a value of its own, which the program makes."""

import itertools
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.array([1.0, 2.0, 3.0])
RNG = np.random.default_rng(3)


@dataclass
class Cell:
    r: float
    v: np.ndarray = field(default_factory=lambda: np.zeros(2))
    w: list = field(default_factory=list)


@dataclass
class Containers:
    r: float
    array: np.ndarray = field(default_factory=partial(np.zeros, 3))
    counts: dict = field(default_factory=lambda: {"n": 0.0, "items": [0.0]})
    sums: dict = field(default_factory=lambda: defaultdict(float))
    last: deque = field(default_factory=lambda: deque(maxlen=2))
    seen: set = field(default_factory=set)
    more: dict = field(default_factory=dict)
    cell: Cell = field(default_factory=lambda: Cell(2.0))
    pair: list = field(default_factory=lambda: [1.0, 2.0])


@dataclass
class Lists:
    r: float
    high: list = field(default_factory=lambda: [])
    all: list = field(default_factory=list)


@dataclass
class Noisy:
    r: float
    z: float = field(default_factory=lambda: RNG.normal())
    y: float = field(default_factory=RNG.normal)


@dataclass
class Numbered:
    r: float
    number: int = field(default_factory=itertools.count().__next__)


def one_array(x):
    c = Cell(x[0])
    for j in range(2):
        c.v[j] = 0.9 * c.v[j] + c.r * (j + 1)
    return np.sum(c.v**2)


def arrays_of_several(x):
    cells = [Cell(r) for r in x]
    for k in range(3):
        for c in cells:
            for j in range(2):
                c.v[j] = 0.9 * c.v[j] + c.r * k
            c.w.append(c.v[0])
    return sum(np.sum(c.v**2) + sum(c.w) for c in cells)


def containers(x):
    a, b = Containers(x[0]), Containers(x[1])
    a.array[1] += a.r
    b.counts["items"].append(b.r)
    b.counts["n"] += b.r * x[2]
    a.sums["x"] += a.r
    a.last.append(x[1])
    a.seen.add(2)
    a.more["t"] = b.r
    a.cell.v[0] = x[2]
    b.pair[1] = a.r
    total = a.array.sum() + b.array.sum() + a.sums["x"] ** 2 + a.last[0] + a.cell.v.sum() + b.cell.v.sum()
    return total + b.counts["n"] + len(a.counts["items"]) * x[0] + b.pair[1] * a.pair[1] + len(a.seen) + len(b.more)


def lists_of_unknown_length(x):
    lists = [Lists(r) for r in x]
    for k in range(5):
        for one in lists:
            if x[k % 3] > 1.5:
                one.high.append(x[k % 3] * one.r)
                one.all.append(one.r)
    return sum(sum(one.high) for one in lists) + sum(len(one.all) for one in lists) * x[0]


def noisy(x):
    return sum(one.r * one.z + one.r**2 * one.y for one in [Noisy(r) for r in x])


def numbered(x):
    return sum(one.r for one in [Numbered(r) for r in x])


@pytest.mark.parametrize("program", [one_array, arrays_of_several, containers, lists_of_unknown_length])
def test_value_and_slope(program):
    assert_value_and_slope(program, X.copy())


def test_random_defaults_are_drawn_at_each_call():
    gradient = sdfgad.differentiate(noisy)
    for _ in range(2):
        state = RNG.bit_generator.state
        expected = noisy(X)
        RNG.bit_generator.state = state
        assert gradient.value(X) == pytest.approx(expected, rel=1e-14)


def test_counters_are_refused():
    with pytest.raises(
        UnsupportedProgram, match=r"default_factory of the field `number` is not supported\n.*numbered|Numbered"
    ):
        parsed(numbered, X)
