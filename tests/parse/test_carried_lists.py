"""Lists of which loops and branches that run at run time move the items, and keep the number."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import Loop
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_slope, parsed

X, Y = np.array([0.9, 0.4, 1.7, 0.6]), np.array([1.1, -0.7, 0.5, -0.2])
HEAD = "h = [x[0], x[1], x[2]]\ns = 0.0\n"
PROGRAMS = {
    "queue": "for k in range(T):\n    s = s + h.pop(0) * x[3]\n    h.append(s * 0.5)\nreturn s + sum(h)",
    "shifted": "for k in range(T):\n    h.insert(0, s * 0.5 + x[3])\n    s += h.pop() * x[3]\nreturn s + h[0] * h[1]",
    "deleted": "for k in range(T):\n    s = s + h[0] * x[3]\n    del h[0]\n    h.append(s * 0.5)\nreturn s + h[-1]",
    "data ends it": "while s < 9.0:\n    s = s + abs(h.pop(0)) + 0.1\n    h.append(s * 0.5)\nreturn s * h[0] + h[1]",
    "slices": "for k in range(T):\n    s = s + h[0] * x[3]\n    h[1:] = h[:-1]\n    h[0] = s * 0.5\nreturn s + sum(h)",
    "all": "for k in range(T):\n    s += h[0] * x[3]\n    h[:] = [s * 0.5, h[0], h[1]]\nreturn s + h[2]",
    "reversed": "for k in range(T):\n    s = s * 0.5 + h[0] * x[3]\n    h.reverse()\nreturn s + h[0]",
    "sorted": "for k in range(T):\n    h.sort()\n    h[0] = h[2] * 0.5 + x[3]\n    s = s + h[1]\nreturn s",
    "on one side": "for k in range(T):\n    s = s + h[0]\n    if s > x[3]:\n        h.pop(0)\n"
    "        h.append(s * 0.5)\nreturn s + sum(h)",
    "on both sides": "if x[3] > 0:\n    h.reverse()\nelse:\n    h.append(h.pop(0) * x[3])\nreturn h[0] * 2 + h[1]",
    "arrays": "h = [x * v for v in h]\nfor k in range(T):\n    v = h.pop(0)\n    s += v[0]\n    "
    "h.append(v * 0.5 + h[0])\nreturn s + np.sum(h[0])",
    "an array with a name": "h = [x * 0.5, x[::-1] * 1.0]\nv = h[0]\nfor k in range(T):\n    h.append(h.pop(0))\n"
    "    s += h[0][1]\nreturn s + np.sum(v)",
    "an item that has been added is assigned to": "for k in range(T):\n    h.append(h[0] * 0.5)\n"
    "    h[-1] = h[-1] * x[3]\n    s += h.pop(0)\nreturn s + h[1]",
    "the same where data ends it": "while s < 4.0:\n    h.insert(0, h[0] * 0.5 + s)\n    h[3] = h[3] * x[3]\n"
    "    s = s + abs(h.pop()) + 0.5\nreturn s + h[0] * h[1]",
    "two lists": "g = [x[3], x[2]]\nfor k in range(T):\n    g.append(h.pop(0))\n    h.append(g.pop(0) * 0.9)\n"
    "    s = s * 0.5 + h[0] * g[1]\nreturn s",
    "loops in loops": "for k in range(T):\n    for j in range(2):\n        h.append(h.pop(0) * 0.7 + x[3])\n"
    "    s += h[0]\nreturn s * h[1]",
    "a jump": "for k in range(T):\n    v = h.pop(0)\n    h.append(v * 0.5 + s)\n    s = s + v\n    if s > 2.0:\n"
    "        break\nreturn s + h[0] * h[2]",
    "another name": "g = h\nfor k in range(T):\n    g.append(h.pop(0) * x[3])\n    s += h[0]\nreturn s + g[0]",
    "a helper": "def push(buffer, v):\n    buffer.append(v)\n    return buffer.pop(0)\nfor k in range(T):\n"
    "    s = s * 0.5 + push(h, s * x[3])\nreturn s + h[0]",
    "dict": "d = {'a': x[0], 'b': x[1]}\nfor k in range(T):\n    d.update(a=d['b'] * 0.5 + x[2], b=d['a'])\n"
    "return d['a'] * d['b']",
    "deque": "d = deque(h, maxlen=3)\nfor k in range(T):\n    s = s * 0.5 + d[2] * x[3]\n    d.appendleft(s)\n"
    "return s + d[0]",
    "rotated": "d = deque(h)\nfor k in range(T):\n    s = s * 0.5 + d[0] * x[3]\n    d.rotate(1)\nreturn s + d[0]",
    "fewer at last": "for k in range(T):\n    h.append(h.pop(0) * x[3])\nh.pop()\nreturn sum(h) * len(h)",
    "a step method": "for k in range(T):\n    f = np.sin(s + x[3])\n    s += 1.5 * f - 0.5 * h[-1]\n    h.append(f)\n"
    "    if len(h) > 3:\n        h.pop(0)\nreturn s",
}


def program_of(name, folder):
    lines = "\n".join(f"    {line}" for line in (HEAD + PROGRAMS[name]).split("\n"))
    return module_from(
        f"import numpy as np\nfrom collections import deque\n\ndef program(x, T):\n{lines}\n", folder
    ).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(name, tmp_path)
    for x, trips in ((X, 7), (Y, 4), (X, 0)):
        assert_like_python(program, x, trips)
    assert_slope(program, X, 5)
    assert_slope(program, Y, 6)


@pytest.mark.parametrize("name", ["queue", "shifted", "slices", "arrays", "two lists", "deque", "data ends it"])
def test_the_loop_stays_one(name, tmp_path):
    primal = parsed(program_of(name, tmp_path), X, 1000)
    assert any(isinstance(one, Loop) for one in primal.program.body)
    assert len(primal.program.body) < 30


def test_a_compiled_gradient(tmp_path):
    g, f = sdfgad.differentiate(program_of("queue", tmp_path), wrt="x"), program_of("queue", tmp_path)
    for trips in (50, 3):
        assert g.value(X, trips) == pytest.approx(f(X, trips), rel=1e-12)
        steps = 1e-6 * np.eye(4)
        slopes = [(f(X + step, trips) - f(X - step, trips)) / 2e-6 for step in steps]
        np.testing.assert_allclose(g(X, trips), slopes, rtol=1e-6, atol=1e-6)


def grows_where_data_says(x):
    h = [x[0]]
    while sum(h) < 3.0:
        h.append(h.pop(0) + 1.0)
        if h[0] > 2.0:
            h.insert(0, x[1])
    return sum(h)


def test_another_number_of_items_is_refused():
    with pytest.raises(UnsupportedProgram, match="a list is changed in a loop or branch") as caught:
        sdfgad.grad(grows_where_data_says)(X)
    assert str(caught.value.where) == line_of(grows_where_data_says, "h.append")
