"""``collections.deque`` in programs, which are those of Python while they are parsed."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

HEAD = """
import collections
import copy
from collections import deque
import numpy as np

def program(x, s):
"""
PROGRAMS = {
    "both ends": "d = deque([x[0]])\nd.appendleft(x[1] * s)\na = d.popleft()\nd.append(a)\nb = d.pop()\n"
    "return a * b * len(d)",
    "at most three": "d = collections.deque(maxlen=3)\nfor k in range(5):\n    d.append(x[k] * s)\n"
    "return sum(d) * d[0] * d[-1] * d.maxlen",
    "from the left": "d = deque(x, 2)\nd.appendleft(s)\nreturn d[0] * d[1] * len(d)",
    "extended": "d = deque(maxlen=3)\nd.extend([x[0], s])\nd.extendleft([x[1], x[2]])\nd += [x[3]]\n"
    "return d[0] * d[1] + d[2]",
    "rotated": "d = deque(x * s)\nd.rotate(2)\na = d[0]\nd.rotate(-1)\nd.rotate()\n"
    "return a * d[0] + d[1] + np.array(d)[2]",
    "iterated": "d, t = deque([x, x * s]), 0.0\nfor v in d:\n    t = t * 0.5 + np.sum(v)\n"
    "return t * sum(v[0] for v in reversed(d))",
    "a window of steps": "d, y = deque([0.0, 0.0], maxlen=2), x[0]\nfor k in range(20):\n    f = np.sin(y) * s\n"
    "    y = y + 1.5 * f - 0.5 * d[-1] + 0.1 * d[0]\n    d.append(f)\nreturn y",
    "copies": "d = deque([x[0], s], maxlen=2)\ne, f = d.copy(), copy.copy(d)\nd.append(x[1])\ne.append(x[2])\n"
    "return d[0] * e[0] + e[1] * f[0] * len(f)",
    "assigned": "d = deque([x[0], s])\nd[1] = x[2] * s\nd[0] *= 2.0\ndel d[0]\nd.insert(0, s)\nreturn d[0] * d[1]",
    "what it is": "d = deque([s])\n"
    "n = isinstance(d, deque) + 2 * isinstance(d, list) + 4 * (d == [s]) + (1 if d else 0)\n"
    "return n * d[0] * x[0]",
    "merged": "d = deque([s, 1.0], maxlen=2)\nif s > 0.5:\n    d = deque([x[0], s], maxlen=2)\nreturn d[0] * d[1]",
    "joined": "d, e = deque([x[0]], maxlen=3), deque([s, x[1]])\nf, g = d + e, e * 2\nf.append(x[2])\n"
    "return f[0] * f[1] * f[2] + len(f) * len(g) * g[3] * (d == deque([x[0]]))",
    "work that is known": "todo, t = deque([0]), 0.0\nwhile todo:\n    k = todo.popleft()\n    t = t * s + x[k]\n"
    "    for j in (2 * k + 1, 2 * k + 2):\n        if j < 5:\n            todo.append(j)\nreturn t",
    "added on one side": "d = deque([s, s], maxlen=2)\nif s > 0.5:\n    d = deque([s, x[0]])\n"
    "d.append(x[1])\nreturn d[0]",
    "put back": "d = deque([x[0]], maxlen=4)\nk = 0\nwhile k < 20:\n    d.append(x[k % 5] * s)\n    k += 1\n"
    "return sum(d)",
}
REFUSED = [
    ("d = deque([s])\nreturn sum([s] + d)", "return sum", "Python raises TypeError here: can only concatenate"),
    ("d = deque([s])\nreturn d[:1]", "return d[:1]", "Python raises TypeError here: sequence index must be integer"),
    (
        "d = deque()\nreturn d.popleft() * s",
        "return d.popleft",
        "Python raises IndexError here: pop from an empty deque",
    ),
    (
        "d = deque([s])\nwhile s > 0.5:\n    d.append([1.0])\n    d.append([2.0])\n    d.pop()\n    s *= 0.5\nreturn s",
        "d.append",
        "has lists or objects as items",
    ),
    ("d = deque([s], maxlen=s)\nreturn d[0]", "d = deque", "a number of type float64 stands where an integer"),
]
X = np.array([0.3, 0.8, 0.5, 0.9, 0.4])


def program_of(body, tmp_path):
    lines = "\n".join("    " + line for line in body.splitlines())
    return module_from(HEAD + lines, tmp_path).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_deques_are_those_of_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    assert_value_and_slope(program, X, 0.7)


@pytest.mark.parametrize(("body", "line", "what"), REFUSED)
def test_refusals(body, line, what, tmp_path):
    with pytest.raises(SdfgadError, match=what) as caught:
        parsed(program_of(body, tmp_path), X, 0.7)
    assert caught.value.where.text.startswith(line)


def test_a_compiled_gradient(tmp_path):
    program = program_of(PROGRAMS["a window of steps"], tmp_path)
    sdfgad.check_grads(program, X, 0.7)
    assert sdfgad.differentiate(program, wrt="s").value(X, 0.7) == pytest.approx(program(X, 0.7), rel=1e-12)
