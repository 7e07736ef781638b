"""``<`` and the like of objects, extrema and sums of them, and functions of what objects give one by one."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.3, 1.71, 12)


class Ranked:
    def __init__(self, value, weight):
        self.value, self.weight = value, weight

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Ranked) else other)


class Heavier(Ranked):
    def __gt__(self, other):
        return self.weight > other.weight


@functools.total_ordering
class Total(Ranked):
    def __eq__(self, other):
        return self.value == other.value


class Undecided(Ranked):
    def __lt__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return self.value > other.value


@dataclass(order=True)
class Dated:
    time: float
    size: float


def chosen(holds, x):
    return x if holds else 3 * x


def comparisons(x):
    low, high = Ranked(x[0], 1), Ranked(x[5], 5)
    swapped = chosen(low > high, x[0]) + chosen(0.5 > high, x[1]) + chosen(x[4] > high, x[2])  # noqa: SIM300
    derived = chosen(low < Heavier(x[1], 5), x[3]) + chosen(Undecided(x[0], 1) < Undecided(x[5], 1), x[4])
    return swapped + derived + chosen(Total(x[0], 1) >= Total(x[1], 1), x[5])


def extrema(x):
    objects = [Ranked(v, k) for k, v in enumerate(x[:5])]
    first = max(objects).weight * x[0] + min(objects[2:]).value + max(objects[0], objects[1]).weight
    return first + max(objects[:0], default=objects[2]).value + max([Total(v, 1) for v in x]).value


def sorted_objects(x):
    objects = [Ranked(v, k) for k, v in enumerate(np.sin(9 * x[:5]))]
    known = sorted([Ranked(v, x[k]) for k, v in enumerate([3, 1, 2, 1])])
    total = sum(one.weight * k * one.value for k, one in enumerate(sorted(objects)))
    objects.sort(reverse=True)
    return total + objects[1].value + sum(one.weight * k for k, one in enumerate(known))


def of_fields(x):
    events = [Dated(v, x[9 - k]) for k, v in enumerate(x[:5])]
    return max(events).size + min(events).size + chosen(Dated(x[0], x[1]) >= Dated(x[0], x[2]), x[3])


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)

    def __iter__(self):
        yield self.a
        yield self.b


def items(x):
    one, other = Pair(x[0], x[1]), Pair(x[2], x[3])
    total = sum([one, other], Pair(0.0, 0.0))
    return sum(one) + max(other) + all(one) * x[4] + total.a * total.b + np.sum(np.array([*one]))


@pytest.mark.parametrize(
    "program", [comparisons, extrema, sorted_objects, of_fields, items], ids=lambda one: one.__name__
)
def test_objects_compare_themselves(program):
    assert_value_and_slope(program, X)


def test_objects_that_cannot_be_compared():
    def program(x):
        return max([Pair(x[0], x[1]), Pair(x[2], x[3])]).a

    with pytest.raises(SdfgadError, match=r"(?s)`Pair` does not define `__gt__`.*max\(\[Pair"):
        parsed(program, X)
