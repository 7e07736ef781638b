"""Values that are None on some paths: names, attributes, and results of functions that may end without a ``return``."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import NoneUsed, UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_slope, assert_value_and_slope, outputs_of, parsed

X = np.array([0.7013, -0.3127, 1.1741])
HEAD = """import numpy as np

class Best:
    def __init__(self):
        self.x = None

    def see(self, x):
        if x[0] > 0.0 and (self.x is None or np.sum(self.x) < np.sum(x)):
            self.x = x

def positive(x):
    for k in range(3):
        if x[k] > 0.8:
            return x[k] ** 2

def pair(x):
    if x[0] > 0.0:
        return x[0], x * 2.0

def shifted(x, by=None):
    if by is None:
        return x * 3.0
    return x + by

def program(x, c):
"""
RIGHT = {
    "a result": "r = positive(x)\nreturn x if r is None else x * r",
    "not a result": "r = positive(x)\nif r is not None:\n    return x * r\nreturn x * c",
    "a result in a test": "return x[0] if positive(x) is None else x[1]",
    "a tuple": "r = pair(x)\nif r is None:\n    return x * 3.0\nreturn r[1] * r[0]",
    "handed on": "def twice(x):\n    return positive(x)\nreturn x if twice(x) is None else x * 2.0",
    "an argument": "r = positive(x)\nreturn shifted(x, r) * shifted(x, by=r)",
    "a name": "b = None\nif x[1] > 0.0:\n    b = x * 2.0\nreturn x if b is None else b * b",
    "a name in a loop": "b = None\nfor k in range(3):\n    if x[k] > 0.0 and (b is None or x[k] < b):\n"
    "        b = x[k]\nreturn x if b is None else x * b",
    "set back": "b, s = None, 0.0\nfor k in range(6):\n    if x[k % 3] > 0.0:\n        b = x * x[k % 3]\n"
    "    if b is not None:\n        s = s + b[0]\n    if s > 1.0:\n        b = None\nreturn s * x",
    "an attribute": "b = Best()\nfor k in range(5):\n    b.see(x * (2.0 - k))\nreturn x if b.x is None else b.x * 2.0",
    "an item": "d = {'b': None}\nif x[0] > 0.0:\n    d['b'] = x\nreturn x * 3.0 if d['b'] is None else d['b'] * x",
    "as a condition": "r = positive(x)\nif not r:\n    return x\nreturn x * r if r and c > 1.0 else r + x",
    "updated in place": "b = None\nif x[0] > 0.0:\n    b = x * 2.0\nif b is not None:\n    b[0] += 3.0\n"
    "    return b * x\nreturn x",
    "a list": "def find(x):\n    if x[0] > 0.0:\n        return [x[0], x]\nr = find(x)\n"
    "return x if r is None else r[1] * r[0]",
    "a string": "def word(x):\n    if x[0] > 0.0:\n        return 'yes'\nreturn x if word(x) is None else x * 2.0",
    "an early one": "def first(x):\n    if x[0] > 0.0:\n        return None\n    return x[1]\nr = first(x)\n"
    "return x if r is None else x * r",
    "by equality": "r = positive(x)\nif r != None:\n    return x * r\nreturn x * c if None == r else x",
    "objects by equality": "b = None\nif x[0] > 0.0:\n    b = Best()\nreturn x if b == None else x * 2.0",
    "numbers and lists by equality": "t = [None, c * x[0], [x, c]]\n"
    "return x * t[1] if t[0] == None and t[1] != None and t[2] != None and None != c else x",
    "or another": "r = positive(x) or x[1] or 3.0\nreturn x * r",
    "a conditional expression": "def pick(v):\n    return v * v if v > 0.0 else None\nr = pick(x[0])\n"
    "return x if r is None else x * r",
    "one within another": "r = x[0] if x[0] > 0.0 else None\nr = (None if c > 2.5 else r) if x[1] < 0.0 else r\n"
    "return x if r is None else x * r",
    "a tuple or nothing": "pick = lambda v: (v, v * 2.0) if v > 0.0 else None\nr = pick(x[0])\n"
    "return x * c if r is None else x * r[0] * r[1]",
    "in a list": "vs = [v * c if v > 0.0 else None for v in x] + [x[1] if x[0] > 0.0 else None]\n"
    "return x * sum(v * v for v in vs if v is not None)",
    "unpacked within a tuple": "r = pair(x)\nif r is not None:\n    t = (r, c)\n    (a, v), k = t\n"
    "    return a * v * k\nreturn x",
    "in a dict": "d = {k: x[k] if x[k] > 0.0 else None for k in range(3)}\nreturn x * (d[0] or c) * (d[1] or 2.0)",
    "never called for": "def note(x):\n    if x[0] > 0.0:\n        return x\nnote(x)\nreturn x * 2.0",
}


def program_of(body, folder):
    return module_from(HEAD + "".join(f"    {line}\n" for line in body.split("\n")), folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_none_on_some_paths(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    primal = parsed(program, X, 2.0)
    for x in (X, -X, X * 0.5, X * 3.0):
        np.testing.assert_allclose(outputs_of(primal, x, 2.0)["return"], program(x.copy(), 2.0), rtol=1e-14)
        assert_slope(program, x, 2.0)


def unfinished(x):
    for k in range(3):
        if x[k] > 1.0:
            return x * x[k]


def best_of(x):
    best = None
    for k in range(3):
        if x[k] > 1.0:
            best = x[k]
    return np.sum(x) * (best + 1.0)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (unfinished, r"the value that is returned is None here\n.*test_optional"),
        (best_of, r"`best` is None here\n.*return np.sum\(x\) \* \(best"),
    ],
)
def test_none_that_is_read_is_an_error_at_run_time(program, what):
    g = sdfgad.differentiate(lambda x: np.sum(program(x)), wrt="x") if program is unfinished else sdfgad.grad(program)
    gradient = g.value_and_grad(X)[1] if program is unfinished else g(X)
    expected = [(np.sum(program(X + 1e-6 * e)) - np.sum(program(X - 1e-6 * e))) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-8)
    with pytest.raises(NoneUsed, match="is None here"):
        g.value_and_grad(-X) if program is unfinished else g(-X)


def test_arrays_are_not_compared_with_none_by_equality():
    def program(x):
        return np.sum(x) if x == None else x[0]  # noqa: E711

    with pytest.raises(UnsupportedProgram, match="Write `x is None`") as error:
        parsed(program, X)
    assert line_of(program, "x == None") in str(error.value)


def served_in_turn(x):
    clients, served = [Client(v) for v in x], 0
    while (first := next((c for c in clients if c.load > 0.55), None)) is not None:
        first.load -= 0.35
        served += 1
    if last := next((c for c in clients if c.load > 0.9), None):
        return last.load
    return sum(c.load**2 for c in clients) * served


class Client:
    def __init__(self, load):
        self.load = load


def test_values_that_may_be_none_in_assignment_expressions():
    assert_value_and_slope(served_in_turn, np.array([0.5, 0.3, -0.2, 0.7, -0.4, 0.65]))


def nothing_before_the_first_trip(x, s):
    """How many trips there are data tells: none, one, or more."""
    last, y = None, 15.0
    for _ in range(int(x[0] * 100)):
        d = 0.0 if last is None else y - last
        last = y
        y += 0.1 * (5.0 - y) + s * d
    return y * x[1] + (0.0 if last is None else last)


class Controller:
    def __init__(self, gain):
        self.gain, self.last = gain, None

    def __call__(self, error):
        d = 0.0 if self.last is None else error - self.last
        self.last = error
        return self.gain * (error + 0.1 * d)


def an_attribute_of_which_the_first_trip_knows_nothing(x, s):
    controller, y = Controller(s), 15.0
    for _ in range(int(x[0] * 100)):
        y += 0.1 * (5.0 - y) + controller(20.0 - y)
    return y * x[1]


@pytest.mark.parametrize("first", [0.0051, 0.0151, 1.1051])
@pytest.mark.parametrize("program", [nothing_before_the_first_trip, an_attribute_of_which_the_first_trip_knows_nothing])
def test_nothing_before_a_loop_of_which_data_tells_the_trips(program, first):
    assert_value_and_slope(program, np.array([first, 0.7]), 0.3)


def truth_of_a_tuple(x):
    found = None
    for k in range(2):
        if x[k] < -0.1:
            found = (k, k + 1)
            break
    if found:
        k, j = found
        return x[k] * x[j]
    return x[0] ** 2


def truth_of_a_dict(x):
    found = None
    if x[0] > 0.3:
        found = {"a": x[0], "b": [x[1]]}
    if found and found["a"] > 0.5:
        return found["a"] * found["b"][0]
    return x[2] if not found else x[1]


@pytest.mark.parametrize("x", [X, -X, 0.5 * X])
@pytest.mark.parametrize("program", [truth_of_a_tuple, truth_of_a_dict])
def test_truth_of_containers_that_may_be_none(program, x):
    assert_value_and_slope(program, x)
