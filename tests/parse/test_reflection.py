"""What programs ask about values and functions: isinstance, type, hasattr, getattr, copies, and conditions on that."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(3)
X, Y = RNG.random(4) + 0.5, RNG.random((3, 4)) + 0.5
HEAD = """
import functools
from dataclasses import dataclass

import numpy as np

@dataclass
class Point:
    a: object
    b: object

def helper(a):
    return a
helper.scale = 2.0

def program(x, y, s, n):
"""
PROGRAMS = {
    "fn attribute": "return np.sum(x) * helper.scale",
    "assert": "assert x.ndim == 1, 'no'\nassert np.all(x > -100)\nreturn np.sum(x)",
    "isinstance array": "return np.sum(x) * (2.0 if isinstance(x, np.ndarray) else 3.0)",
    "isinstance float": "return np.sum(x) * (2.0 if isinstance(s, float) else 3.0)",
    "isinstance int": "return np.sum(x) * (2.0 if isinstance(n, (int, np.integer)) else 3.0)",
    "isinstance str": "return np.sum(x) * (2.0 if isinstance(x, str) else 3.0)",
    "isinstance list": "return np.sum(x) * (2.0 if isinstance([x], (list, tuple)) else 3.0)",
    "type is": "return np.sum(x) * (2.0 if type(x) is np.ndarray else 3.0)",
    "type float is": "return np.sum(x) * (2.0 if type(s) is float else 3.0)",
    "type eq": "return np.sum(x) * (2.0 if type(n) == int else 3.0)",
    "hasattr": "return np.sum(x) * (2.0 if hasattr(x, 'shape') else 3.0)",
    "hasattr not": "return np.sum(x) * (2.0 if hasattr(s, 'shape') else 3.0) * (2.0 if hasattr(x, '__len__') else 3.0)",
    "callable": "return np.sum(x) * (2.0 if callable(np.sin) else 3.0) * (5.0 if callable(s) else 7.0)",
    "getattr default": "return np.sum(x) * getattr(np, 'nothing', 2.0) * getattr(x, 'ndim')",
    "getattr dyn": "f = getattr(np, 'si' + 'n')\nreturn np.sum(f(x)) * getattr(x, 'sum')()",
    "callable obj": "return np.sum(x) * (2.0 if callable(lambda: 1) else 3.0)",
    "shape cond": "m = x.shape[0] if x.ndim > 1 else 1\nreturn np.sum(x) * m",
    "walrus": "if (m := len(x)) > 3:\n    return np.sum(x) * m * s\nreturn s",
    "string methods": "a = 'A,b'.lower().split(',')\n"
    "return np.sum(x) * len(a) * (2.0 if a[0] == 'a' else 1.0) * (2.0 if 'abc'.startswith('ab') else 1.)",
    "is None": "w = None\nif w is None:\n    w = np.ones(4)\nreturn np.sum(x * w)",
    "complex const": "z = complex(1, 2)\nreturn np.sum(x) * z.real * z.imag",
    "bool op none": "w = None or x\nreturn np.sum(w)",
    "vars": "return np.sum(x) * abs(-2) * round(2.6) * int('3') * ord('a')",
    "type annotation": "u: np.ndarray = x * s\nv: float\nreturn np.sum(u)",
    "dataclass replace": "import dataclasses\np = Point(x, s)\nq = dataclasses.replace(p, b=2.0)\n"
    "return np.sum(q.a) * q.b * p.b",
    "copy copy": "import copy\nu = copy.copy(x)\nu[0] = s\nv = copy.deepcopy([u])\nreturn np.sum(v[0]) + x[0]",
    "object copy": "import copy\np = Point(x * 1.0, s)\nq = copy.copy(p)\nr = copy.deepcopy(p)\n"
    "q.b = 2.0\np.a[0] = 5.0\nreturn np.sum(q.a) * p.b + np.sum(r.a)",
    "setattr": "p = Point(x, s)\nsetattr(p, 'a', x * 2.0)\nreturn np.sum(p.a) * vars(p)['b']",
    "getattr method": "f = getattr(np.linalg, 'norm')\nreturn f(x) * s",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    assert_value_and_slope(program, X, Y, 0.7, 5)
