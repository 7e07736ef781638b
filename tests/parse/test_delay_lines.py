"""Lists whose length is data, and of which a program reads the first and the last items, and the length."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope

X = np.array([0.7013, 1.3127, 1.1741])
CONVERGES = "for k in range(n):\n    x = 0.5 * (x + a / x)\n    "
RIGHT = {
    "the last two": f"h = []\n{CONVERGES}h.append(np.max(np.abs(x * x - a)))\n"
    "    if len(h) > 1 and abs(h[-1] - h[-2]) < 1e-9:\n        break\nreturn np.sum(x) * h[-2] + h[-3] + h[0]",
    "in the test of a while": "h = [1.0]\nwhile h[-1] > 1e-3 and len(h) < n:\n    x = 0.5 * (x + a / x)\n"
    "    h.append(np.max(np.abs(x * x - a)))\nreturn np.sum(x) * len(h) + h[1]",
    "empty at first": "h = []\nwhile not h or h[-1] > 1e-3:\n    x = 0.5 * (x + a / x)\n"
    "    h.append(np.sum((x * x - a) ** 2))\nreturn x * h[-1] if h else x",
    "arrays": "h, e = [x * a], 1.0\nwhile e > 1e-3:\n    h.append(0.5 * (h[-1] + a / h[-1]))\n"
    "    e = np.max(np.abs(h[-1] - h[-2]))\nreturn h[-1] * h[-2] + h[0]",
    "arrays that are updated": f"h = [x * 1.0]\n{CONVERGES}y = x * 2.0\n    h.append(y)\n    y += h[-2]\n"
    "    if np.sum(y) > 20.0:\n        break\nreturn h[-1] * y",
    "extended": f"h = []\n{CONVERGES}h += [x[0], k]\n    h.extend([x[1] * k])\n    if x[0] * x[0] - a[0] < 1e-3:\n"
    "        break\nreturn x * h[-1] + h[-2] * h[-3] * len(h)",
    "pairs": f"h = [(x, 0.0)]\n{CONVERGES}h.append((x, h[-1][1] + x[0]))\n    if h[-1][1] > 2.5:\n        break\n"
    "return h[-1][0] * h[-2][1]",
    "at some trips": f"h = [x[0]]\n{CONVERGES}if x[1] > 1.14:\n        h.append(x[1])\nreturn h[-1] * len(h) * x",
    "two names": f"h = [x[0]]\ng = h\n{CONVERGES}g.append(x[1])\n    if h[-1] * h[-1] < a[1] + 1e-3:\n        break\n"
    "return g[-2] * h[-1] * x",
    "by a function": f"h = []\ndef note(v):\n    h.append(v)\n{CONVERGES}note(x[0])\n"
    "    if len(h) > 2 and h[-1] > h[-3] - 1e-3:\n        return x * h[-1]\nreturn x",
    "of an object": f"s = Solver()\n{CONVERGES}s.note(x[0])\n    if s.is_done():\n        break\n"
    "return x * s.errors[-1]",
    "made in each trip": "y = x * 0.0\nfor j in range(3):\n    h = []\n    while len(h) < 2 or h[-2] - h[-1] > 1e-2:\n"
    "        x = 0.5 * (x + a / x)\n        h.append(x[j])\n    y = y + h[-1] * h[0]\nreturn y",
    "in a branch": "h, g = [x[0]], [x[1], x[2]]\nif a[0] > 0.5:\n    h.append(a[1])\nelse:\n    g.append(a[2])\n"
    "return h[-1] * len(g) * x + g[-1]",
    "strings": f"h = []\n{CONVERGES}h.append('a')\n    if x[0] < 0.9:\n        break\nreturn x if h[-1] == 'a' else a",
    "dicts": "h = []\nwhile len(h) < 1 or h[-1]['e'] > 1.45:\n    x = 0.5 * (x + a / x)\n    h.append({'e': x[0]})\n"
    "return x * h[-1]['e']",
    "in a dict": f"d = {{'h': [], 'g': [x]}}\n{CONVERGES}d['h'].append(x[0])\n    d['g'].append(x)\n"
    "    if d['h'][-1] < 0.9:\n        break\nreturn d['g'][-1] * d['g'][-2] * len(d['h'])",
    "one of two": f"h, g = [x[0]], [x[1]]\n{CONVERGES}h.append(x[0])\n    g.append(x[1])\n    if x[0] < 0.85:\n"
    "        break\nv = h\nif x[0] > 0.9:\n    v = g\nreturn x * v[-1] * len(v)",
    "returned early": "def run(x):\n    h = []\n    for k in range(n):\n        x = 0.5 * (x + a / x)\n"
    "        h.append(x[0])\n        if k > 1 and h[-2] - h[-1] < 1e-3:\n"
    "            return x, h, 'done'\n    return x, h, 'done'\n"
    "y, h, word = run(x)\nreturn y * h[-1] * (len(h) if word == 'done' else 1)",
}
HEAD = """import numpy as np

class Solver:
    def __init__(self):
        self.errors = []

    def note(self, v):
        self.errors.append(v)

    def is_done(self):
        return len(self.errors) > 1 and abs(self.errors[-1] - self.errors[-2]) < 1e-4

def program(a, x, n):
"""


def program_of(body, folder):
    return module_from(HEAD + "".join(f"    {line}\n" for line in body.split("\n")), folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_items_at_known_places(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    for a in (X, X[::-1] * 1.7):
        assert_like_python(program, a, np.full(3, 1.1), 12)
    assert_slope(program, X, np.full(3, 1.1), 12)


def late(a, n):
    x, h = 1.0, []
    while a[0] * x < n:
        x *= 2.0
        h.append(x * a[1])
    return h[-3] * h[0]


# Expressions that make lists, beside displays.
MADE = {
    "list": "list(x)",
    "list of a range": "[*map(float, list(range(3)))]",
    "repeated": "[0.5] * 3",
    "comprehension": "[v * 2.0 for v in x]",
    "concatenated": "[x[0]] + [x[1]] + [s]",
    "copied": "whole.copy()",
    "sliced": "whole[:2]",
    "sorted": "sorted(x)",
    "by a function": "begun(x)",
}
LOGGED = """
def begun(x):
    return [x[0], 2.0 * x[1]] + [3.0]

def program(x, s):
    whole = [x[2], s, x[0]]
    h, y = {made}, x[0]
    while y > 0.05:
        y = 0.7 * y * x[1]
        h.append(y)
    return h[-1] + 2.0 * h[-2] + len(h) * h[0] + len(whole)
"""


@pytest.mark.parametrize("name", MADE)
def test_lists_that_other_expressions_make(name, tmp_path):
    program = module_from(LOGGED.replace("{made}", MADE[name]), tmp_path).program
    assert_value_and_slope(program, np.array([0.7013, 0.8127, 1.1741]), 0.9)


def shortest_tree(x):
    """Kruskal's algorithm: the edges are sorted, and sets of places joined, by data."""
    parent = list(range(4))

    def root(a):
        while parent[a] != a:
            a = parent[a]
        return a

    total = 0.0
    for weight, i, j in sorted([(x[i] * x[(i + 1) % 3], i, (i + 1) % 4) for i in range(3)] + [(x[0], 0, 2)]):
        a, b = root(i), root(j)
        if a != b:
            parent[b] = a
            total += weight
    return total


@pytest.mark.parametrize("x", [X, X[::-1].copy(), X[[1, 0, 2]]])
def test_places_in_a_list_of_integers(x):
    assert_value_and_slope(shortest_tree, x)


def test_compiled_code_and_items_that_there_are_not():
    g = sdfgad.differentiate(late, wrt="a")
    value, gradient = g.value_and_grad(X, 30.0)
    assert value == pytest.approx(late(X, 30.0), rel=1e-14)
    np.testing.assert_allclose(gradient, [0.0, 2.0 * value / X[1], 0.0], rtol=1e-14)
    with pytest.raises(IndexError):
        late(X, 2.0)
    with pytest.raises(InvalidIndex, match=r"(?s)list index out of range.*return h\[-3\] \* h\[0\]"):
        g.value_and_grad(X, 2.0)


WHOLE = {
    "at a place that is data": f"h = []\n{CONVERGES}h.append(x[0])\n    if x[0] < 0.84:\n        break\n"
    "return h[int(a[0] * 2)] * x",
    "by a slice": f"h = []\n{CONVERGES}h.append(x[0])\n    if x[0] < 0.9:\n        break\nreturn np.mean(h[-3:]) * x",
}


@pytest.mark.parametrize("name", WHOLE)
def test_other_looks_into_the_list_take_as_many_items_as_there_are(name, tmp_path):
    program = program_of(WHOLE[name], tmp_path)
    assert_value_and_slope(program, X, np.full(3, 1.1), 12)
