"""`match` statements bind and branch as in Python."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(3)
X, Y = RNG.random(4) + 0.5, RNG.random((3, 4)) + 0.5
HEAD = """
from dataclasses import dataclass

import numpy as np

@dataclass
class Point:
    a: object
    b: object

def program(x, y, s, n):
"""
PROGRAMS = {
    "match const": "mode = 'b'\nmatch mode:\n    case 'a':\n        u = x\n    case 'b' | 'c':\n"
    "        u = x * s\n    case _:\n        u = x * 3\nreturn np.sum(u)",
    "match seq": "match (n, 'q'):\n    case (5, str() as q):\n        u = x * s\n    case _:\n"
    "        u = x\nreturn np.sum(u)",
    "match dict": "match {'kind': 'lin', 'w': x}:\n    case {'kind': 'lin', 'w': w}:\n        u = w * s\n"
    "    case _:\n        u = x\nreturn np.sum(u)",
    "match guard": "match n:\n    case k if k > 3:\n        u = x * s\n    case _:\n        u = x\nreturn np.sum(u)",
    "match return": "match n:\n    case 5:\n        return np.sum(x) * s\n    case _:\n        return s",
    "match loop": "t = 0.0\nfor i in range(9):\n    match i % 3:\n        case 0:\n"
    "            t = t + x[0]\n        case 1:\n            t = t * s\n        case _:\n"
    "            t = t + x[1] * s\nreturn t",
    "match class": "match Point(x, s):\n    case Point(a=a, b=b):\n        u = np.sum(a) * b\n"
    "    case _:\n        u = s\nreturn u",
    "match class pos": "match Point(x, s):\n    case Point(a, b):\n        u = np.sum(a) * b\n"
    "    case _:\n        u = s\nreturn u",
    "match star": "match [x, s, 2.0]:\n    case [a]:\n        u = s\n    case [a, *rest]:\n"
    "        u = np.sum(a) * rest[0] * rest[1]\nreturn u",
    "match rest": "match {'k': x, 'l': s, 'm': 2.0}:\n    case {'k': v, **rest}:\n"
    "        u = np.sum(v) * rest['l'] * len(rest)\nreturn u",
    "match as": "match n:\n    case (1 | 5) as k:\n        u = s * k\n    case None:\n        u = s\n"
    "    case _:\n        u = 3 * s\nreturn u * np.sum(x)",
    "match none": "w = None\nmatch w:\n    case None:\n        u = s\n    case _:\n        u = 3 * s\n"
    "return u * np.sum(x)",
    "match break in loop": "t = 0.0\nfor k in [1, 2, 3]:\n    match k:\n        case 3:\n"
    "            break\n        case 1:\n            continue\n    t = t + x[k] * s\nreturn t",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    assert_value_and_slope(program, X, Y, 0.7, 5)
