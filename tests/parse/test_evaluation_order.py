"""When values are computed: where Python computes them, not where they are used."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope

X = np.random.default_rng(6).uniform(0.5, 1.5, (3, 4))

# What Python holds in names, tuples, functions and defaults is computed where it is bound.
KEPT = {
    "a tuple of parts": "t = np.modf(x)\nx += 1.25\nreturn t[0] + t[1] * x",
    "a quotient and a rest": "t = divmod(x, 0.3)\nx += 1.25\nreturn t[0] + t[1] * x",
    "in a tuple in a tuple": "t = (np.modf(x), 1)\nx += 1.25\nreturn t[0][0] * x",
    "a named tuple": "r = np.linalg.slogdet(x[:, :3])\nx += 1.0\nreturn r[1] * x",
    "named tuples in a loop": (
        "r = np.linalg.slogdet(x[:, :3])\nfor k in range(5):\n    r = np.linalg.slogdet(x[:, :3])\n"
        "    x += np.eye(3, 4)\nreturn r[1] * x"
    ),
    "a method": "f = (x * 2.0).sum\nx += 1.0\nreturn f() * x",
    "a partial": "f = partial(np.multiply, x * 2.0)\nx += 1.0\nreturn f(x)",
    "a keyword of a partial": "f = partial(np.sum, axis=0, initial=x[0, 0] * 2.0)\nx += 1.0\nreturn f(x)",
    "a default": "def f(u=x * 2.0):\n    return u * 3.0\nx += 1.0\nreturn f() * x",
    "a default by keyword": "def f(*, u=x * 2.0):\n    return u * 3.0\nx += 1.0\nreturn f() * x",
    "a default of a lambda": "f = lambda u=x[0] * 2.0: u * 3.0\nx += 1.0\nreturn f() * x",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(
        f"from functools import partial\n\nimport numpy as np\n\ndef program(x):\n{lines}\n", folder
    ).program


@pytest.mark.parametrize("name", KEPT)
def test_values_that_are_kept(name, tmp_path):
    program = program_of(KEPT[name], tmp_path)
    assert_like_python(program, X)
    assert_slope(program, X)
