"""Lists, dicts, sets and objects from outside a program: what changes in them between calls counts at the next one."""

import copy
import functools

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import outputs_of, parsed

FACTORS = [1.0, 2.0]
ROWS = [[1.0, 2.0], [3.0]]
SETTINGS = {"scale": 1.0}
SHOWN = {1}
PAIRS = ([0.5, 0.25], 2.0)
PLACES = [0, 1, 2] * 30


def scaled(x, by=3.0):
    return x * by


def program(x):
    y = x * len(FACTORS) * sum(FACTORS) * ROWS[0][1] * PAIRS[0][1]
    for value in SETTINGS.values():
        y = y * value
    if 3 in SHOWN:
        y = y * 2.0
    total = 0.0
    for k in PLACES:
        total += x[k] * y[k]
    return scaled(total) + np.sum(y * np.array(FACTORS[:2])[1])


CHANGES = {
    "a longer list": lambda: FACTORS.append(4.0),
    "a list in a list": lambda: ROWS[0].__setitem__(1, 7.0),
    "a list in a tuple": lambda: PAIRS[0].__setitem__(1, 0.75),
    "another key": lambda: SETTINGS.__setitem__("more", 3.0),
    "a larger set": lambda: SHOWN.add(3),
    "what a loop goes over": lambda: PLACES.append(2),
    "another default": lambda: setattr(scaled, "__defaults__", (4.0,)),
    "an integer for a float": lambda: FACTORS.__setitem__(0, 1),
}


def test_the_next_call_sees_changes():
    x = np.array([0.5, 1.5, 2.5])
    g = sdfgad.differentiate(program)
    assert g.value(x) == pytest.approx(program(x), rel=1e-14)
    for name, change in CHANGES.items():
        change()
        assert g.value(x) == pytest.approx(program(x), rel=1e-14), name


def test_what_is_unchanged_is_not_read_again():
    x = np.array([0.5, 1.5, 2.5])
    g = sdfgad.differentiate(program)
    g.compile(x)
    specialised = g._bind_and_specialise((x,), {})[1]
    assert g._bind_and_specialise((x,), {})[1] is specialised
    FACTORS[1] = FACTORS[1] * 1.0
    assert g._bind_and_specialise((x,), {})[1] is specialised


class Part:
    def __init__(self, k):
        self.k = k

    def times(self, x):
        return self.k * x

    @property
    def numbers(self):
        return np.array([self.k, 2.0 * self.k])

    @property
    def parts(self):
        return [Part(self.k)]


class Whole:
    def __init__(self):
        self.part, self.parts, self.pair = Part(2.0), [Part(1.0)], (Part(5.0), 1)
        self.table = {"a": Part(4.0)}
        self.function, self.method = np.sin, Part(3.0).times
        self.partial = functools.partial(Part.times, Part(8.0))
        self.kind = Part


WHOLE = Whole()


def of_an_object(x):
    y = WHOLE.part.k * x[0] + WHOLE.parts[0].times(x[1]) + WHOLE.pair[0].k * x[2] + WHOLE.table["a"].k * x[3]
    y = y + WHOLE.function(x[4]) * WHOLE.method(x[5]) + WHOLE.partial(x[0])
    return y * WHOLE.part.numbers[1] + WHOLE.part.parts[0].k * WHOLE.kind(x[0]).times(x[1])


def thrice(self, x):
    return 3 * self.k * x


CHANGES_OF_AN_OBJECT = {
    "another object": lambda: setattr(WHOLE, "part", Part(7.0)),
    "a number of an object in an object": lambda: setattr(WHOLE.part, "k", 8.0),
    "another list": lambda: setattr(WHOLE, "parts", [Part(9.0)]),
    "another item": lambda: WHOLE.parts.__setitem__(0, Part(1.5)),
    "another tuple": lambda: setattr(WHOLE, "pair", (Part(2.5), 1)),
    "another dict": lambda: setattr(WHOLE, "table", {"a": Part(0.5)}),
    "another item of a dict": lambda: WHOLE.table.__setitem__("a", Part(0.25)),
    "another function of NumPy's": lambda: setattr(WHOLE, "function", np.cos),
    "a function of the user's": lambda: setattr(WHOLE, "function", Part(0.5).times),
    "a bound method": lambda: setattr(WHOLE, "method", Part(0.75).times),
    "a partial function": lambda: setattr(WHOLE, "partial", functools.partial(Part.times, Part(3.5))),
    "a method of a class": lambda: setattr(Part, "times", thrice),
    "a function for a method": lambda: setattr(WHOLE.parts[0], "times", np.exp),
}


def test_the_next_call_sees_changes_of_an_object():
    x = np.linspace(0.3, 1.0, 6)
    g = sdfgad.differentiate(of_an_object)
    assert g.value(x) == pytest.approx(of_an_object(x), rel=1e-14)
    for name, change in CHANGES_OF_AN_OBJECT.items():
        change()
        assert g.value(x) == pytest.approx(of_an_object(x), rel=1e-14), name
        specialised = g._bind_and_specialise((x,), {})[1]
        assert g._bind_and_specialise((x,), {})[1] is specialised, f"{name}: parsed again though nothing has changed"


class Vector:
    def __init__(self, k):
        self.k, self.items = k, [k, 2 * k]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, v):
        return v in self.items

    def __call__(self, x):
        return x * self.k

    def __lt__(self, other):
        return self.k < other.k

    def __bool__(self):
        return self.k > 1.0

    def __add__(self, other):
        return Vector(self.k + other.k)

    def __mul__(self, x):
        return self.k * x

    def __neg__(self):
        return -self.k

    def __enter__(self):
        return self.k

    def __exit__(self, *args):
        pass


class Options:
    pass


A, C, OPTIONS, BY_OBJECT = Vector(2.0), Vector(3.0), Options(), {}
BY_OBJECT[A] = 1.5


def entered(x):
    with A as k:
        return k * x[0]


PROTOCOLS = {
    "len": lambda x: x[0] * len(A) + x[1] * sum(len(one) for one in [A, C]),
    "items": lambda x: x[0] * A[1] + x[1] * list(A)[-1] + sum([*A]) * x[2],
    "loops": lambda x: sum(v * x[0] for v in A) + sum(i * u * v for i, (u, v) in enumerate(zip(A, C, strict=False))),
    "in": lambda x: x[0] * (4.0 if 2.0 in A else 1.0),
    "call": lambda x: A(x[0]) + A(x)[1],
    "order": lambda x: x[0] * (2.0 if A < C else 1.0) + sorted([C, A])[0].k * x[1] + max(A, C, key=lambda v: v.k).k,
    "truth": lambda x: x[0] * (2.0 if A else 1.0) + (A and C).k * x[1] + (0.5 if not A else 0.25),
    "operators": lambda x: (A + C).k * x[0] + A * x[1] - -A * x[2],
    "copies": lambda x: copy.copy(A).k * x[0] + copy.deepcopy(A).items[0] * x[1],
    "hasattr": lambda x: x[0] * (2.0 if hasattr(OPTIONS, "z") else 1.0) * getattr(OPTIONS, "z", 5.0),
    "vars": lambda x: x[0] * len(vars(OPTIONS)) + x[1] * (2.0 if isinstance(OPTIONS.__dict__.get("z"), float) else 1.0),
    "callable": lambda x: x[0] * (2.0 if callable(getattr(OPTIONS, "function", None)) else 1.0),
    "with": entered,
    "keys": lambda x: x[0] * BY_OBJECT[A] + x[1] * (2.0 if C in BY_OBJECT else 1.0) + BY_OBJECT.get(C, 0.5),
}
CHANGES_OF_STATE = [
    lambda: None,
    lambda: setattr(A, "k", 0.5),
    lambda: A.items.append(9.0),
    lambda: A.items.__setitem__(0, 4.0),
    lambda: setattr(C, "k", 0.25),
    lambda: setattr(OPTIONS, "z", 7.0),
    lambda: setattr(OPTIONS, "function", np.sin),
    lambda: setattr(A, "items", [5.0, 6.0]),
    lambda: BY_OBJECT.__setitem__(C, 2.5),
]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_python_asks_objects_for(name):
    program, x = PROTOCOLS[name], np.linspace(0.3, 1.0, 6)
    A.k, A.items, C.k, C.items = 2.0, [2.0, 4.0], 3.0, [3.0, 6.0]
    vars(OPTIONS).clear()
    BY_OBJECT.pop(C, None)
    for change in CHANGES_OF_STATE:
        change()
        primal = parsed(program, x)
        assert primal.is_current
        np.testing.assert_allclose(outputs_of(primal, x)["return"], program(x), rtol=1e-14)


def test_a_change_makes_a_program_stale():
    x = np.linspace(0.3, 1.0, 6)
    for program, changes in (
        (PROTOCOLS["len"], lambda: A.items.append(1.0)),
        (PROTOCOLS["truth"], lambda: setattr(A, "k", A.k + 1.0)),
        (PROTOCOLS["hasattr"], lambda: setattr(OPTIONS, "z", getattr(OPTIONS, "z", 1.0) + 1.0)),
        (PROTOCOLS["keys"], lambda: BY_OBJECT.__setitem__(A, BY_OBJECT[A] + 1.0)),
    ):
        primal = parsed(program, x)
        assert primal.is_current
        changes()
        assert not primal.is_current


item = np.ones(3)


def names_of_a_comprehension(x):
    """A comprehension has the name for itself, whatever it is outside."""
    return np.sum(np.concatenate([item.ravel() for row in [[x, x], [x]] for item in row]))


def test_names_of_comprehensions_are_no_global_ones(monkeypatch):
    x = np.linspace(0.3, 1.0, 6)
    primal = parsed(names_of_a_comprehension, x)
    monkeypatch.setitem(globals(), "item", None)
    assert primal.is_current
    np.testing.assert_allclose(outputs_of(primal, x)["return"], names_of_a_comprehension(x), rtol=1e-14)
