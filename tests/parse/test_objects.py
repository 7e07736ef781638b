"""Objects of the user's classes: what their classes define, inheritance, and how they are constructed."""

import textwrap
from typing import ClassVar

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope

HEAD = """
import operator
import numpy as np
from collections import namedtuple
from dataclasses import dataclass, field, replace
from functools import reduce
from types import SimpleNamespace

Pair = namedtuple("Pair", "a b", defaults=(2.0,))

@dataclass
class Point:
    x: np.ndarray
    y: float = 2.0
    tags: list = field(default_factory=list)

    @property
    def norm(self):
        return np.sqrt(np.sum(self.x**2) + self.y**2)

    @staticmethod
    def twice(u):
        return 2.0 * u

    @classmethod
    def at(cls, x):
        return cls(x, y=cls.scale)

    scale = 3.0

class Narrow(Point):
    def half(self):
        return 0.5 * self.x * self.y

@dataclass(kw_only=True)
class Checked:
    x: np.ndarray
    total: float = field(init=False, default=0.0)

    def __post_init__(self):
        self.total = np.sum(self.x)

class Base:
    weights = np.array([0.5, 1.0, 1.5, 2.0])
    count = 0

    def __init__(self, x):
        self.x = x
        self.steps = []

    def value(self):
        return np.sum(self.x * self.weights)

    @property
    def name(self):
        return "base"

    def __call__(self, s):
        return self.value() * s

class Derived(Base):
    count = 2

    def __init__(self, x, extra):
        super().__init__(x)
        self.extra = extra

    def value(self):
        return super().value() + self.extra * self.count * len(super().name)

class Last(Derived):
    def update(self, s):
        self.x = self.x * s
        self.steps.append(self.x)
        return self

class Fixed:
    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x
        self.y = x * 2.0

class Empty:
    pass

class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(*[a + b for a, b in zip(self.parts, other.parts)])
        return NotImplemented

    def __mul__(self, factor):
        return Vector(*[a * factor for a in self.parts])

    __rmul__ = __mul__

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return -1.0 * self

    def __invert__(self):
        return Vector(*[1.0 / a for a in self.parts])

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts))

    def __getitem__(self, k):
        return self.parts[k]

    def __setitem__(self, k, value):
        self.parts[k] = value

    def __len__(self):
        return len(self.parts)

    def __abs__(self):
        return np.sqrt(self @ self)

    def __eq__(self, other):
        return self.parts[0] == other.parts[0]

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __iadd__(self, other):
        self.parts = [a + b for a, b in zip(self.parts, other.parts)]
        return self

def program(x, s):
"""
PROGRAMS = {
    "a dataclass": "p = Point(x[0])\np.tags.append(s)\nreturn p.norm * p.x * len(p.tags) + Point.twice(p.y)",
    "inherited from a dataclass": "p = Narrow(x[0], s)\nreturn p.half() * p.norm",
    "a class method": "return Point.at(x[1]).y * Point.at(x[0]).x * s",
    "after construction": "c = Checked(x=x[0] * s)\nreturn c.total * c.x",
    "operators of one object": "v = ~-Vector(x[0], x[1])\nreturn v[0] * s + v[1]",
    "functions of operator": "v, w = Vector(x[0], x[1]), Vector(x[1], x[2])\n"
    "u = reduce(operator.add, [v, w, operator.neg(v), operator.invert(w)])\n"
    "return operator.mul(u, s)[0] + u[1] * operator.lt(v, w) + operator.eq(v, w)",
    "replaced": "p = Point(x[0], s)\nq = replace(p, y=s * s)\nreturn q.x * q.y + p.y",
    "a named tuple": "p = Pair(x[0])\nq = p._replace(a=x[1] * s)\na, b = q\nreturn a * b * p.a + Pair(b=s, a=x[2]).b",
    "inheritance": "d = Derived(x[0], s)\nreturn d.value() * d.x * Base(x[1]).value()",
    "methods in a row": "d = Last(x[0], s).update(s).update(2.0)\nreturn d.x * d(s) + d.steps[0]",
    "called": "f = Derived(x[0] * s, s)\nreturn f(s) * x[1]",
    "slots": "f = Fixed(x[0] * s)\nf.y = f.y + f.x\nreturn f.x * f.y",
    "operators": "v, w = Vector(x[0], x[1] * s), Vector(x[2], x[0])\nu = 2.0 * v - w * s + w\n"
    "return (u @ v) * abs(w) * len(u)",
    "items by methods": "v = Vector(x[0], s)\nv[1] = v[0] * v[1]\nreturn v[1] * v[-2]",
    "comparisons": "v, w = Vector(x[0, 0] * s), Vector(x[1, 0])\nif v < w and not v == w:\n"
    "    return v[0] * w[0]\nreturn w[0]",
    "in place, by a method": "v = Vector(x[0], x[1])\nw = v\nv += Vector(x[2], x[0] * s)\nreturn w[0] * w[1]",
    "in a loop": "v, w = Vector(x[0, 0], x[0, 1] * s), Vector(x[1, 0], 0.5)\nfor k in range(200):\n"
    "    v = v + 0.01 * w\n    w = w - 0.01 * v\nreturn v @ w * x",
    "without a constructor": "e = Empty()\ne.x = x[0] * s\ne.n = 2\nreturn e.x * e.n",
    "a namespace": "n = SimpleNamespace(a=x[0], b=s)\nn.c = n.a * n.b\nreturn n.c * x[1]",
    "kinds": "p = Point(x[0])\nif isinstance(p, Point) and not isinstance(p, Base):\n    return p.x * s\nreturn x[1]",
    "references": "p = Point(x[0])\nq = p\nq.y = s\nq.x = q.x * 2.0\nreturn p.x * p.y",
    "arrays in place": "p = Point(x[0] * 1.0)\nq = [p, p]\nq[0].x += s\nq[1].x[1:] *= x[1, 0]\nreturn p.x",
    "updates of what the class defines": "bases = [Base(x[k]) for k in range(3)]\nfor k in range(4):\n"
    "    for base in bases:\n        if np.sum(base.x) > 4.0 * s:\n            base.count += 1\n"
    "        base.x = base.x * 0.9\nbases[0].count += 2\nreturn sum(b.x * b.count for b in bases)",
    "in containers": "d = {'p': [Point(x[k], s * k) for k in range(3)]}\nreturn sum(p.x * p.y for p in d['p'])",
    "returned": "def make(k):\n    return Point(x[k]), Pair(x[k] * s)\na, b = make(1)\nreturn a.x * b.a",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    x = np.random.default_rng(2).random((3, 4)) + 0.5
    assert_value_and_slope(program, x, 0.3)


class Guarded:
    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        return self._x


def without_attribute(x):
    return np.sum(Guarded(x).y)


def without_operator(x):
    return Guarded(x) * 2.0


def without_length(x):
    return np.sum(x) * len(Guarded(x))


def to_a_property(x):
    g = Guarded(x)
    g.x = x * 2.0
    return np.sum(g.x)


def too_many(x):
    return np.sum(Guarded(x, x).x)


class Shared:
    log: ClassVar[list] = []


def of_all_objects(x):
    shared = Shared()
    shared.log += [x[0]]
    return shared.log[0]


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (of_all_objects, "shared.log +=", "`shared.log` is one list or dict of all objects of the class"),
        (without_attribute, "return", "Python raises AttributeError here"),
        (without_operator, "return", "Guarded is not a number or an array"),
        (without_length, "return", "`Guarded` does not define `__len__` in Python"),
        (to_a_property, "g.x =", r"`.x` is a property, which is not assigned to"),
        (too_many, "return", "does not fit|takes 2 positional"),
    ],
)
def test_what_is_refused(program, line, what):
    with pytest.raises((UnsupportedProgram, sdfgad.errors.ArgumentError), match=what) as caught:
        sdfgad.differentiate(program)(np.ones(3))
    assert str(caught.value.where) == line_of(program, line)


class Tensors:
    """Counts what is read and set."""

    def __init__(self, items):
        self.items, self.count = list(items), 0

    def __getitem__(self, place):
        self.count += 1
        return self.items[place]

    def __setitem__(self, place, value):
        self.count += 10
        self.items[place] = value


class View:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, place):
        return self.values[place]

    def __setitem__(self, place, value):
        self.values[place] = value


def updated_items(x):
    tensors, numbers = Tensors([x[:2], y := 2.0 * x]), Tensors([x[0], x[1], [x[2]]])
    tensors[-1] /= np.linalg.norm(tensors[-1])
    tensors[1] += 3.0
    numbers[1] *= 3.0
    numbers[0] -= numbers[1]
    numbers[2] += [1.0, x[0]]
    view = View(np.outer(x, x))
    view[0, 1] += 3.0
    view[1] *= 2.0
    view[view.values > 1.0] -= 0.5
    for k in range(3):
        view[k, 0] += view[k - 1, 0] * x[k]
    total = np.sum(np.sin(y)) + numbers[0] * numbers[1] + sum(numbers[2]) + np.sum(np.sin(view.values))
    return total + tensors.count + numbers.count


def test_updates_of_items_by_methods():
    assert_value_and_slope(updated_items, np.array([0.31, 0.73, 0.4]))


class Answers:
    """Its attributes are what a method says."""

    gain = 1.0

    def __getattribute__(self, name):
        return 5.0


def test_getattribute_is_refused():
    def program(x):
        return Answers().gain * x[0]

    with pytest.raises(UnsupportedProgram, match="`Answers` defines __getattribute__, which is not called") as caught:
        sdfgad.differentiate(program)(np.ones(2))
    assert str(caught.value.where) == line_of(program, "Answers().gain")
