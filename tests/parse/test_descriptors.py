"""Attributes that descriptors compute, functions that singledispatch chooses, and `InitVar`s of dataclasses."""

import functools
from dataclasses import InitVar, dataclass

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.3, 1.71, 12)


class Cached:
    def __init__(self, x):
        self.x, self.reads = x, 0

    @functools.cached_property
    def wave(self):
        self.reads += 1
        return 3 * np.sin(self.x)

    def at(self, t):
        return self.wave * t


def cached(x):
    one, other, set_before = Cached(x[0]), Cached(x[1]), Cached(x[2])
    first = one.wave
    one.x = 5.0
    set_before.wave = x[3]
    return first + one.wave * x[4] + one.reads + other.reads + set_before.wave


def cached_in_a_loop(x):
    one, several, total = Cached(x[0]), [Cached(v) for v in x], 0.0
    for v in x:
        total += one.at(v)
    for k in range(3):
        for other in several:
            total += other.at(x[k])
    return total + one.reads + sum(other.reads for other in several)


class Scaled:
    """A data descriptor, which an object's own attribute of that name does not replace."""

    def __init__(self, scale):
        self.scale = scale

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, one, owner=None):
        return self if one is None else one.__dict__[self.name] * self.scale

    def __set__(self, one, value):
        one.__dict__[self.name] = value + 1


class Twice:
    def __get__(self, one, owner=None):
        return 2 * one.length


class Body:
    mass = Scaled(1000.0)
    width = Twice()

    def __init__(self, mass, length):
        self.mass, self.length = mass, length

    def moved(self, by, scale):
        return self.length * scale + by

    shifted = functools.partialmethod(moved, scale=3.0)


def of_users(x):
    one = Body(x[0], x[1])
    one.mass = 2 * one.mass
    before = one.width
    one.width = x[2]
    return one.mass * before + one.width + Body.mass.scale + one.shifted(x[3])


@functools.singledispatch
def weight(value):
    return 2 * value


@weight.register(int)
def _(value):
    return 100 * value


@weight.register(np.ndarray)
def _(value):
    return 7 * np.sum(value)


@weight.register(Body)
def _(value):
    return 13 * value.length


def dispatched(x):
    numbers = weight(x[0]) + weight(3) * x[1] + weight(2.0) + sum(weight(k) * x[k] for k in range(3))
    return numbers + weight(x) + weight(Body(x[0], x[1]))


@dataclass
class Rod:
    length: float
    density: float = 2.0
    scale: InitVar[float] = 1.0
    extra: InitVar[float] = None

    def __post_init__(self, scale, extra):
        self.mass = self.length * self.density * scale + (0.0 if extra is None else extra)


def init_only(x):
    return Rod(x[0]).mass + Rod(x[0], scale=x[1]).mass + Rod(x[1], x[2], x[3], x[4]).mass


PROGRAMS = [cached, cached_in_a_loop, of_users, dispatched, init_only]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_what_python_calls_for_them_is_called(program):
    # Descriptors of users were not asked, and singledispatch took the function for all other classes.
    assert_value_and_slope(program, X)


def test_compiled_code():
    def program(x):
        return cached(x) + of_users(x) * dispatched(x) + init_only(x)

    assert sdfgad.differentiate(program).value(X) == pytest.approx(program(X), rel=1e-12)
    sdfgad.check_grads(program, X)


def read_in_a_branch(x):
    one, total = Cached(x[0]), 0.0
    for v in x:
        if v > 0.8:
            total += one.wave * v
    return total


class Chooses:
    @functools.singledispatchmethod
    def weight(self, value):
        return value


def by_a_method(x):
    return Chooses().weight(x[0])


class Counting(type):
    def __call__(cls, *arguments):
        made = super().__call__(*arguments)
        made.scale = 2.0
        return made


class Counted(metaclass=Counting):
    scale = 1.0


def by_a_metaclass(x):
    return x[0] * Counted().scale


@pytest.mark.parametrize(
    ("program", "what", "line"),
    [
        (read_in_a_branch, r"`.wave` is a cached_property that is read first in a loop or branch", r"one\.wave \* v"),
        (by_a_method, r"`functools.singledispatchmethod` is not supported", r"Chooses\(\)\.weight"),
        (by_a_metaclass, r"`Counting` defines __call__, which is not called", r"Counted\(\)\.scale"),
    ],
)
def test_refusals(program, what, line):
    with pytest.raises(SdfgadError, match=f"(?s){what}.*{line}"):
        parsed(program, X)
