"""Objects that compute attributes, or are mappings: ``__getattr__``, ``in``, ``del``, and the mixins of ABCs."""

import logging
import textwrap
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import PythonRaises, UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.7013, 1.3127, 1.1741])
HEAD = """import logging
import numpy as np
from collections import UserDict
from collections.abc import MutableMapping

class Params:
    scale = 3.0
    def __init__(self, **data):
        self.data = data
    @property
    def twice(self):
        return self.data["a"] * 2.0
    def __getattr__(self, name):
        if name in self.data:
            return self.data[name]
        raise AttributeError(name)

class Tree(Params):
    def child(self, name):
        return getattr(self, name)

class Scenario(UserDict):
    def __getattr__(self, name):
        return self.data[name]

class Table(MutableMapping):
    def __init__(self, **items):
        self.rows = dict(items)
    def __getitem__(self, key):
        return self.rows[key]
    def __setitem__(self, key, value):
        self.rows[key] = value
    def __delitem__(self, key):
        del self.rows[key]
    def __iter__(self):
        return iter(self.rows)
    def __len__(self):
        return len(self.rows)

class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high
    def __contains__(self, value):
        return self.low <= value and value < self.high

class Rule:
    def check(self, v):
        return v * 2.0

class Double(Rule):
    def check(self, v):
        return super().check(v) + 1.0

RULES = [Rule(), Double()]

def program(x):
"""
PARAMS = "p = Params(a=x[0], b=2.0)\n"
TABLE = "t = Table(a=x[0], b=x[1])\nt['c'] = x[2] * t['a']\n"
PROGRAMS = {
    "computed": PARAMS + "return p.a * p.b * p.scale + p.twice",
    "asked for": PARAMS
    + "s = p.a * x[1]\nif hasattr(p, 'c'):\n    s = s * 100.0\nif hasattr(p, 'a'):\n    s = s * 3.0\n"
    "return s * getattr(p, 'zz', 7.0) + getattr(p, 'b', 1.0) + getattr(p, 'scale')",
    "set beside it": PARAMS + "p.c = x[1]\np.data['d'] = x[2]\nreturn p.c * p.d * p.a",
    "inherited": "t = Tree(left=Tree(v=x[0]), v=x[1])\nreturn t.left.v * t.v + t.child('left').child('v')",
    "in a loop": PARAMS
    + "s = 0.0\nfor k in range(9):\n    s = s + p.a * np.sin(k * p.b)\n    p.data['a'] = p.a * 0.5\nreturn s",
    "caught": PARAMS + "try:\n    s = p.missing\nexcept AttributeError:\n    s = x[2]\nreturn s * p.a",
    "user dict": "s = Scenario(a=x[0], b=2.0)\ns['k'] = x[1]\ns.update(z=x[2] * 2.0)\n"
    "return s.a * s['b'] * s.get('k', 1.0) + s.z + len(s) + s.get('nope', 4.0)",
    "mapping": TABLE + "t.update({'b': x[1] ** 2})\ns = 0.0\nfor key in t.keys():\n    s = s + t[key]\n"
    "for v in t.values():\n    s = s * v\nfor key, v in t.items():\n    s = s + (2.0 if key == 'a' else 3.0) * v\n"
    "return s * len(t)",
    "mixins": TABLE + "if 'z' in t:\n    x = x * 100.0\nif 'z' not in t and 'a' in t:\n    x = x * 1.5\ndel t['b']\n"
    "u = t.pop('a')\nt.setdefault('q', x[0] * 7.0)\nreturn u * t['q'] * t['c'] * len(t)",
    "interval of data": "i = Interval(x[0], x[1])\n"
    "return (x[2] * 2.0 if x[2] in i else x[2] * 3.0) + (1.0 if x[0] not in i else x[0])",
    "methods of numbers": "ok = np.isclose(1.526 ** 2, 1.0)\n"
    "if ok.any() or np.bool_(False).all():\n    return np.sum(x)\n"
    "return np.sum(x) * np.float64(2.345).round(1).item()",
    "super from outside": "s = x[0]\nfor rule in RULES:\n    s = rule.check(s)\nreturn s",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    assert_value_and_slope(program, X)


def test_an_interval_that_does_not_contain(tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS["interval of data"], "    "), tmp_path).program
    for x in (np.array([1.5, 2.0, 1.2]), np.array([0.5, 2.0, 1.2])):
        assert_value_and_slope(program, x)


class Lazy:
    __getattr__ = {}.get


def by_an_object(x):
    o = Lazy()
    return np.sum(x) * o.a


class Strict:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        raise AttributeError(f"no {name}")


def without(x):
    return Strict(x).y


class Open:
    pass


def contained(x):
    return x[0] if "a" in Open() else x[1]


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (by_an_object, "return np.sum", "`Lazy` has no attribute `a`, and its __getattr__, which is no function"),
        (contained, "return x", "`Open` does not define `__contains__` in Python"),
    ],
)
def test_what_is_refused(program, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(program)(X)
    assert str(caught.value.where) == line_of(program, line)


def test_what_raises():
    with pytest.raises(sdfgad.errors.ProgramRaises, match="the program raises `AttributeError"):
        sdfgad.differentiate(without)(X)


# --- arrays


class Series:
    name = ""


def named(x):
    y = x * 2.0
    try:
        y.name = "twice"
    except AttributeError:
        y = y + 1.0
    s = Series()
    try:
        s.name = "s"
    except AttributeError:
        y = y * 100.0
    return np.sum(y**2)


def test_arrays_take_no_attributes():
    assert_value_and_slope(named, X)


def unprotected(x):
    y = x * 2.0
    y.name = "twice"
    return np.sum(y)


def test_an_attribute_of_an_array_outside_of_try_is_refused():
    with pytest.raises(UnsupportedProgram, match=r"an assignment to `y.name` is not supported") as caught:
        sdfgad.differentiate(unprotected)(X)
    assert not isinstance(caught.value, PythonRaises)
    assert str(caught.value.where) == line_of(unprotected, "y.name =")


def logged(x):
    log = logging.getLogger("sdfgad.tests")
    log.debug("x is %s", x[0])
    if x[0] > 1.0:
        logging.getLogger(__name__).info("large")
    return np.sum(x**2)


def test_loggers_are_got():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdfgad.errors.IgnoredPrint)
        np.testing.assert_allclose(sdfgad.differentiate(logged, wrt="x")(X), 2.0 * X)
