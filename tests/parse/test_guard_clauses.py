"""Guard clauses: an `if` that raises is no branch around what follows, which may bind attributes and change shapes."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_slope, outputs_of, parsed

X = np.array([0.7013, 0.3127, 1.1741])
HEAD = """import numpy as np

class Spline:
    def __init__(self, x):
        if np.any(x < 0.0):
            raise ValueError("negative")
        self.a, self.b = [], []
        self.a = [v for v in x]
        for i in range(2):
            self.b.append(x[i] * x[i + 1])

class Found:
    def __init__(self, x):
        self.x = x

def find(x):
    if x[0] > 0.0:
        return Found(x * 2.0)

def program(x):
"""
RIGHT = {
    "a constructor": "s = Spline(x)\nreturn s.a[0] * s.b[1]",
    "an attribute": "s = Found(x)\nif x[0] < 0.0:\n    raise ValueError('negative')\ns.x, s.y = s.x + 1.0, x[1]\n"
    "return s.x[0] * s.y",
    "an array that grows": "a = np.zeros(0)\nfor k in range(3):\n    y = x[k] ** 2\n    if y > 100.0:\n"
    "        raise ValueError('large')\n    a = np.append(a, y)\nreturn np.sum(a * x)",
    "several": "if x[0] < 0.0:\n    raise ValueError('negative')\nelif x[0] > 3.0:\n    raise ValueError('large')\n"
    "x = x[1:]\nif not x[0] < 9.0:\n    x.sum()\n    raise ValueError('no')\nelse:\n    pass\nreturn x[0] * x[1]",
    "None": "r = find(x)\nif r is None:\n    raise LookupError('nothing')\nr.y = r.x[0] * 3.0\nreturn r.x[1] * r.y",
    "a name that it binds": "y = x[0]\nif x[1] > 5.0:\n    y = f'{y} is large'\n    raise ValueError(y)\n"
    "return y * x[2]",
    "in a loop that breaks": "y = x[0]\nfor k in range(3):\n    if x[k] < 0.0:\n        raise ValueError(k)\n"
    "    if y > 1.0:\n        break\n    y = y + x[k]\nreturn y * x[2]",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_follows_is_in_no_branch(name, tmp_path):
    program = module_from(HEAD + "".join(f"    {line}\n" for line in RIGHT[name].split("\n")), tmp_path).program
    np.testing.assert_allclose(outputs_of(parsed(program, X), X)["return"], program(X.copy()), rtol=1e-14)
    assert_slope(program, X)


def first_power_above(x):
    if x[0] <= 1.0:
        raise ValueError("it never ends")
    i = int(x[1])
    if i > 2:
        raise IndexError("too far")
    y = 1.0
    while y < 100.0:
        y = y * x[0]
    return y * x[i]


@pytest.mark.parametrize(
    ("x", "where"),
    [([0.5, 0.2, 0.3], 'raise ValueError("it never'), ([1.5, 3.2, 0.3], 'raise IndexError("too far")')],
)
def test_nothing_runs_after_it(x, where):
    g = sdfgad.grad(first_power_above)
    good = np.array([1.5, 1.2, 0.3])
    slope = [(first_power_above(good + 1e-6 * e) - first_power_above(good - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(g(good), slope, rtol=1e-7)
    with pytest.raises(ProgramRaises, match="Python raises it, too") as error:
        g(np.array(x))
    assert line_of(first_power_above, where) in str(error.value)
