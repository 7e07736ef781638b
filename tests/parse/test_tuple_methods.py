"""Named tuples whose classes define operators, properties and what builtin functions call."""

from typing import NamedTuple

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.31, 0.73, 0.4])


class Vec(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vec(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __sub__(self, other):
        return self + (-other)

    def __abs__(self):
        return np.sqrt(self.x**2 + self.y**2)

    @property
    def length(self):
        return abs(self)

    @classmethod
    def polar(cls, radius, angle):
        return cls(radius * np.cos(angle), radius * np.sin(angle))


class Odd(NamedTuple):
    """What tuples do otherwise."""

    a: float
    b: float

    def __eq__(self, other):
        return self.b == other.b

    def __lt__(self, other):
        return self.b > other.b

    def __bool__(self):
        return False

    def __len__(self):
        return 7

    def __getitem__(self, place):
        return 5.0 * place * self.a

    def __iter__(self):
        return iter([self.b, self.a, 3.0])

    def __contains__(self, value):
        return value == 17

    def __call__(self, x):
        return self.a * x + self.b


def arithmetic(x):
    v = 2.0 * Vec(x[0], x[1]) * x[2] - Vec(1.0, x[0]) + Vec(0.5, 0.25)
    return v.x * v.y + abs(v) * v.length


def a_loop(x):
    position, velocity = Vec(x[0], x[1]), Vec.polar(x[2], 0.3)
    for _ in range(30):
        velocity += 0.1 * -position * (1.0 / position.length**3)
        position += velocity * 0.1
    return position.x - position.y


def sums(x):
    return sum((Vec(x[0] * k, x[1]) * 2.0 for k in range(9)), Vec(0.0, 0.0)).length


def comparisons(x):
    total = 0.0
    for k, found in enumerate([Odd(x[0], 2.0) == Odd(3.0, 2.0), Odd(1.0, 2.0) != Odd(1.0, 3.0), 17 in Odd(1.0, 2.0)]):
        total += x[k] if found else -2.0 * x[k]
    if Odd(0.0, 3.0) < Odd(1.0, 2.0) and Odd(1.0, 2.0) > Odd(0.0, 3.0) and 1.0 not in Odd(1.0, 2.0):
        total += 3.0 * x[0]
    return total * (x[1] if Odd(x[0], 1.0) else x[2])


def builtin_functions(x):
    odd, total = Odd(x[0], x[1]), 0.0
    for value in odd:
        total = 2.0 * total + value
    a, b, c = odd
    return total + len(odd) * odd[2] + odd(x[2]) + a * b - c


@pytest.mark.parametrize("program", [arithmetic, a_loop, sums, comparisons, builtin_functions])
def test_they_do_what_their_classes_define(program):
    assert_value_and_slope(program, X)


def test_compiled():
    gradient = sdfgad.differentiate(a_loop).value_and_grad(X)
    assert gradient[0] == pytest.approx(a_loop(X), rel=1e-12)
    step = 1e-6 * np.array([0.3, -0.5, 0.8])
    assert np.dot(gradient[1]["x"], step) == pytest.approx(0.5 * (a_loop(X + step) - a_loop(X - step)), rel=1e-6)
