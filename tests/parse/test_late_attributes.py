"""Attributes that a loop or branch sets first."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import PythonRaises, UnboundVariable, UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_slope, outputs_of, parsed

X = np.array([0.7013, -0.3127, 1.1741])
HEAD = """import numpy as np

class Filter:
    def update(self, q):
        n = np.sqrt(q[0] ** 2)
        if n == 0:
            return q
        self.q = q / n
        self.steps = 3
        return self.q

class Search:
    def see(self, x):
        self.best = None
        for k in range(3):
            if x[k] > 0.5:
                self.best = x[k]
        if self.best is None:
            return x[0]
        return self.best * x[1]

class Counter:
    total, seen = 1.5, None
    scale = np.array([2.0, 3.0, 4.0])
    def see(self, v):
        if v > 0.8:
            self.total = self.total + v * self.scale[0]
        if self.seen is None:
            self.seen = v

class Sum:
    def add(self, v):
        if not hasattr(self, "total"):
            self.total = 0.0
        self.total = self.total + v

def program(x):
"""
RIGHT = {
    "in a loop": "f, q, s = Filter(), x, 0.0\nfor k in range(6):\n    q = f.update(q) * x\n    s = s + np.sum(q)\n"
    "return s",
    "read after it": "f, q = Filter(), x\nfor k in range(6):\n    q = f.update(q) * x\nreturn np.sum(f.q) * f.steps",
    "to None in each trip": "f, s = Search(), 0.0\nfor k in range(9):\n    s = s + f.see(x * np.sin(k))\n"
    "return s if f.best is None else s * f.best",
    "where it is missing": "f = Sum()\nfor k in range(3):\n    f.add(x[k])\nreturn f.total",
    "in a branch": "f = Sum()\nif x[0] > 0.0:\n    f.z = x[1]\nreturn x[2] ** 2 if x[0] <= 0.5 else f.z ** 2",
    "in both": "f = Sum()\nif x[0] > 0.0:\n    f.z = x * 2.0\nelse:\n    f.z = x[::-1] * 3.0\nreturn f.z[0] * f.z[1]",
    "over a default of the class": "c, d = Counter(), Counter()\nfor k in range(3):\n    c.see(x[k])\n"
    "return c.total * c.seen + d.total * x[1] + Counter.total",
    "over one, in a branch": "c = Counter()\nif x[0] > 0.0:\n    c.scale = x * 2.0\n"
    "return np.sum(c.scale * x) * getattr(c, 'total') if hasattr(c, 'scale') else x[0]",
    "asked for": "f = Sum()\nif x[0] > 0.0:\n    f.z = x * 2.0\nif hasattr(f, 'z'):\n"
    "    return f.z[0] * f.z[1]\nreturn x[0]",
    "in the first trip": "f = Sum()\nfor k in range(3):\n    f.z = x[0] * 2.0 if k == 0 else f.z + x[k] * x[1]\n"
    "return f.z",
    "in the first trip, by a branch": "f = Sum()\nfor k in range(len(x)):\n    if k == 0:\n        f.z = 1.0\n"
    "    f.z = f.z * x[k]\nreturn f.z",
    "as a test": "f, i = Sum(), 0\nwhile i < 10 and (i == 0 or f.error > 1e-2):\n    f.error = abs(x[0]) * 0.5 ** i\n"
    "    i += 1\nreturn f.error * x[1]",
}


@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = module_from(HEAD + "".join(f"    {line}\n" for line in RIGHT[name].split("\n")), tmp_path).program
    primal = parsed(program, X)
    for x in (X, -X):
        np.testing.assert_allclose(outputs_of(primal, x)["return"], program(x.copy()), rtol=1e-14)
        assert_slope(program, x)


class Record:
    pass


def read_late(x):
    r = Record()
    if x[0] > 0.0:
        r.y = x[1] * x[2]
    return r.y * x[0]


def test_an_attribute_that_is_not_set_is_an_error_at_run_time():
    g = sdfgad.grad(read_late)
    np.testing.assert_allclose(g(X), [X[1] * X[2], X[0] * X[2], X[0] * X[1]], rtol=1e-14)
    with pytest.raises(UnboundVariable, match=r"`\.y` has no value here") as error:
        g(-X)
    assert line_of(read_late, "return r.y") in str(error.value)


def read_too_early(x):
    r = Record()
    for k in range(3):
        r.y = r.y + x[k]
    return r.y


def test_an_attribute_that_no_trip_sets_before_it_is_read():
    with pytest.raises(PythonRaises, match="Python raises AttributeError here: y") as error:
        parsed(read_too_early, X)
    assert line_of(read_too_early, "r.y = r.y") in str(error.value)


def test_what_cannot_be_told_before_the_run_is_refused():
    def program(x):
        r = Record()
        if x[0] > 0.0:
            r.y = x[1]
        return getattr(r, "y", 2.0) * x[0]

    with pytest.raises(UnsupportedProgram, match=r"whether `\.y` is set is known only at run time") as error:
        parsed(program, X)
    assert line_of(program, "getattr") in str(error.value)
