"""`match` statements bind and branch as in Python."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope

RNG = np.random.default_rng(3)
X, Y = RNG.random(4) + 0.5, RNG.random((3, 4)) + 0.5
HEAD = """
import numpy as np

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
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    for n in (5, 4):
        assert_like_python(program, X, Y, 0.7, n)
        assert_slope(program, X, Y, 0.7, n)
