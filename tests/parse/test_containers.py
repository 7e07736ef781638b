"""Lists, dicts, sets and tuples as everyday programs use them."""

from collections import Counter, OrderedDict

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(3)
X, Y = RNG.random(4) + 0.5, RNG.random((3, 4)) + 0.5
HEAD = """
from collections import OrderedDict

import numpy as np

def program(x, y, s, n):
"""
PROGRAMS = {
    "dict kw": "d = dict(a=x, b=s)\nreturn np.sum(d['a']) * d['b']",
    "dict pairs": "d = dict([('a', x), ('b', s)])\nreturn np.sum(d['a']) * d['b']",
    "dict zip": "d = dict(zip(['a', 'b'], [x, s]))\nreturn np.sum(d['a']) * d['b']",
    "dict copy kw": "d = {'a': x}\ne = dict(d, b=s)\nreturn np.sum(e['a']) * e['b']",
    "sorted d": "d = {'b': x, 'a': x * s}\nt = 0.0\nfor k in sorted(d):\n    t = t * 2 + np.sum(d[k])\nreturn t",
    "sorted items": "d = {'b': x, 'a': x * s}\nt = 0.0\nfor k, v in sorted(d.items()):\n"
    "    t = t * 2 + np.sum(v)\nreturn t",
    "items value": "d = {'b': x, 'a': x * s}\ni = d.items()\nt = 0.0\nfor k, v in i:\n"
    "    t = t * 2 + np.sum(v)\nreturn t + len(i)",
    "keys values": "d = {'b': x, 'a': x * s}\nv = list(d.values())\nk = list(d.keys())\nreturn np.sum(v[0]) + len(k)",
    "in dict": "d = {'b': 1}\nreturn np.sum(x) * (2.0 if 'b' in d else 3.0)",
    "in keys": "d = {'b': x}\nreturn np.sum(x) * (2.0 if 'b' in d.keys() else 3.0)",
    "in list": "return np.sum(x) * (2.0 if n in [1, 2, 5] else 3.0)",
    "get": "d = {'b': x}\nreturn np.sum(d.get('b')) + d.get('z', s)",
    "setdefault": "d = {}\nd.setdefault('a', []).append(x)\nd.setdefault('a', []).append(x * s)\n"
    "return np.sum(d['a'][1])",
    "update": "d = {'a': x}\nd.update(b=s)\nd.update({'c': 2.0})\nd.update([('e', 4.0)])\n"
    "return np.sum(d['a']) * d['b'] * d['c'] * d['e']",
    "pop": "d = {'a': x, 'b': s}\nw = d.pop('b')\nreturn np.sum(d['a']) * w * len(d)",
    "dict star": "a = {'a': x}\ne = {**a, 'b': s}\nreturn np.sum(e['a']) * e['b']",
    "dict or": "a = {'a': x}\ne = a | {'b': s}\nreturn np.sum(e['a']) * e['b']",
    "dict ior": "a = {'a': x}\na |= {'b': s}\nreturn np.sum(a['a']) * a['b']",
    "list ops": "L = [x, x * 2]\nM = L.copy()\nM.insert(0, s)\nw = M.pop()\nM.extend([1.0, 2.0])\n"
    "M.reverse()\nreturn np.sum(w) + M[0] * M[3]",
    "list index": "L = ['a', 'b']\nreturn x[L.index('b')] * s",
    "list remove count sort": "L = [3, 1, 2]\nL.remove(1)\nL.sort()\nreturn x[L[0]] * s * L.count(3)",
    "del d k": "d = {'a': x, 'b': s}\ndel d['b']\nreturn np.sum(d['a']) * len(d) * s",
    "del L k": "L = [x, s, 2.0]\ndel L[1]\nreturn np.sum(L[0]) * L[1] * s",
    "del slice": "L = [x, s, 2.0]\ndel L[1:]\nreturn np.sum(L[0]) * len(L)",
    "tuple compare": "a = (1, 2)\nreturn np.sum(x) * (2.0 if a == (1, 2) else 3.0) * (2.0 if a < (1, 3) else 1.0)",
    "shape compare": "return np.sum(x) * (2.0 if x.shape == (4,) else 3.0)",
    "star list": "a = [x, s]\nb = (2.0,)\nc = [*a, *b]\nreturn np.sum(c[0]) * c[1] * c[2]",
    "star call": "def f(a, b, c=1.0, **kw):\n    return a * b * c * kw['d']\nargs = (np.sum(x), s)\n"
    "kw = {'c': 2.0, 'd': 3.0}\nreturn f(*args, **kw)",
    "star params": "def f(*args, **kw):\n    t = 0.0\n    for a in args:\n        t = t + np.sum(a)\n"
    "    return t * kw.get('w', 1.0)\nreturn f(x, x * s, w=s)",
    "chained": "a = b = x * s\nb[0] = 1.0\nreturn np.sum(a)",
    "chained num": "a = b = c = s\nreturn np.sum(x) * a * b * c",
    "dict comp": "d = {k: k * s for k in range(3)}\nreturn np.sum(x) * d[2]",
    "dict comp if": "d = {k: x[k] for k in range(4) if k % 2}\nreturn d[1] * d[3]",
    "set comp": "q = {k % 2 for k in range(4)}\nreturn np.sum(x) * len(q)",
    "set lit": "q = {1, 2, 2}\nreturn np.sum(x) * len(q) * (2 if 2 in q else 1)",
    "set func": "q = set([1, 2, 2])\nt = 0.0\nfor k in sorted(q):\n    t = t + x[k]\nreturn t",
    "len max min sum": "L = [x[0], s, 0.25]\nreturn len(L) * max(L) * min(L) * sum(L)",
    "any all": "L = [x, y]\n"
    "return np.sum(x) * (2.0 if any(a.ndim == 2 for a in L) else 1.0) * (3.0 if all([len(a) > 2 for a in L]) else 1.0)",
    "sum arrays": "return np.sum(sum([x, x * s, y[0]]))",
    "defaultdict": "from collections import defaultdict\nd = defaultdict(list)\nd['a'].append(x)\n"
    "d['a'].append(x * s)\nreturn np.sum(d['a'][1])",
    "namedtuple": "from collections import namedtuple\nP = namedtuple('P', 'a b')\np = P(x, s)\n"
    "return np.sum(p.a) * p.b",
    "ordered": "from collections import OrderedDict\nd = OrderedDict()\nd['a'] = x\nreturn np.sum(d['a']) * s",
    "dict iter": "d = {'a': x, 'b': x * s}\nt = 0.0\nfor k in d:\n    t = t + np.sum(d[k])\nreturn t",
    "dict fromkeys": "d = dict.fromkeys(['a', 'b'], 0.0)\nd['a'] = s\nreturn np.sum(x) * (d['a'] + d['b'])",
    "sort by key": "L = [('b', 2), ('a', 1)]\nL.sort(key=lambda p: p[1])\nreturn x[L[0][1]] * s",
    "sorted key": "L = [('b', 2), ('a', 1)]\nL = sorted(L, key=lambda p: p[1], reverse=True)\nreturn x[L[0][1]] * s",
    "fstring": "name = f'{n}-{2:03d}'\nd = {'5-002': x}\nreturn np.sum(d[name])",
    "join": "d = {'a-b': x}\nreturn np.sum(d['-'.join(['a', 'b'])])",
    "while pop": "L = [x, y]\nt = 0.0\nwhile L:\n    t = t + np.sum(L.pop())\nreturn t",
    "lambda default": "fs = [lambda a, k=k: a * k for k in range(3)]\nreturn np.sum(fs[2](x))",
    "star assign": "a, *b = [x, s, 2.0]\nreturn np.sum(a) * b[0] * b[1]",
    "nested unpack": "(a, b), c = (x, s), 2.0\nreturn np.sum(a) * b * c",
    "tuple to slice": "u = y * 1.0\nfor i in range(1, 3):\n    u[i, i-1:i+2] = s, x[0], 2.0\nreturn np.sum(u * y)",
    "list to slice": "u = np.zeros(4)\nu[1:3] = [s, x[0]]\nreturn np.sum(u * x)",
    "tuple to row": "u = np.zeros((3, 2))\nu[0] = x[0], s\nu[1, :] = (x[1], x[2])\nreturn np.sum(u) * s",
    "nested list to block": "u = np.zeros((3, 3))\nu[:2, :2] = [[s, x[0]], [x[1], 1.0]]\nreturn np.sum(u * u)",
    "tuple fancy": "return np.sum(y[(0, 1, 0), (3, 3, 2)]) * s",
    "list fancy": "return np.sum(y[[0, 1, 0], [3, 3, 2]]) * s",
    "tuple fancy store": "u = y * 1.0\nu[(0, 1), (3, 2)] = s, 2.0\nreturn np.sum(u * y)",
    "None list": "out = [None] * n\nfor i in range(n):\n    out[i] = x * i * s\nreturn np.sum(out[3])",
    "None list const": "out = [None] * 4\nfor i in range(4):\n    out[i] = x[i] * s\nreturn out[3] * out[1]",
    "None list stack": "out = [None] * 4\nfor i in range(4):\n    out[i] = x * s + i\n"
    "return np.sum(np.array(out) ** 2)",
    "2d None": "out = [[None] * 2 for _ in range(3)]\nfor i in range(3):\n    for j in range(2):\n"
    "        out[i][j] = y[i, j] * s\nreturn np.sum(np.array(out))",
    "list 0 fill": "out = [0.0] * 4\nfor i in range(4):\n    out[i] = x[i] * s\nreturn np.sum(np.array(out) * x)",
    "aug tuple slice": "u = y * 1.0\nu[0, :2] += s, x[0]\nreturn np.sum(u * y)",
    "tuple operand": "return np.sum(x * (1, 2, 3, 4)) + np.sum(x + [s, 1, 2, 3])",
    "set loop": "seen = set()\nt = 0.0\nfor i in range(4):\n    if i % 2 not in seen:\n"
    "        seen.add(i % 2)\n        t = t + x[i] * s\nreturn t",
    "set of n": "seen = set()\nseen.add(n)\nreturn np.sum(x) * s * (2.0 if 5 in seen else 3.0)",
    "set lit n": "seen = {n, 3}\nreturn np.sum(x) * s * (2.0 if 5 in seen else 3.0)",
    "dict key n": "d = {n: s, 1: 2.0}\nreturn np.sum(x) * d[5] * d[n]",
    "dict key n try": "d = {n: s, 1: 2.0}\ntry:\n    w = d[5]\nexcept KeyError:\n    w = 7.0\nreturn np.sum(x) * w",
    "dict get n": "d = {5: s, 1: 2.0}\nreturn np.sum(x) * d.get(n, 9.0) * d.pop(n)",
    "dict in n": "d = {5: s, 1: 2.0}\nreturn np.sum(x) * s * (2.0 if n in d else 3.0)",
    "dict comp n": "d = {n - k: x[k] for k in range(4)}\nreturn d[5] * d[3]",
    "dict pairs n": "d = dict([(n, s)])\nreturn np.sum(x) * d[5]",
    "dict tuple key": "d = {(n, 1): s}\nreturn np.sum(x) * d[(5, 1)]",
    "dict setdefault n": "d = {}\nd.setdefault(n, s)\nreturn np.sum(x) * d[5]",
    "sum values": "d = {'a': s, 'b': x[0]}\nreturn sum(d.values()) * max(d.values()) * len(d.values())",
    "max key get": "d = {'a': 1, 'b': 3}\nk = max(d, key=d.get)\nreturn np.sum(x) * s * d[k]",
    "sum set": "return np.sum(x) * s * sum({1, 2}) * max({3, 4})",
    "sorted n": "return x[sorted([n - 4, 0])[1]] * s",
    "dict override": "a = {'a': x}\nb = {**a, 'a': s}\nreturn np.sum(a['a']) * b['a']",
    "list mult": "L = [x] * 3\nL[0] = L[0] * s\nreturn np.sum(L[0]) * np.sum(L[2])",
    "defaultdict int": "from collections import defaultdict\nd = defaultdict(float)\nfor i in range(4):\n"
    "    d[i % 2] += x[i] * s\nreturn d[0] * d[1]",
    "counter": "from collections import Counter\nc = Counter()\nfor i in range(4):\n    c[i % 2] += x[i] * s\n"
    "return c[0] * c[1] + c[7] + len(c)",
    "defaultdict copy": "from collections import defaultdict\nd = defaultdict(list)\nd['a'].append(x)\ne = d.copy()\n"
    "e['b'].append(x * s)\nreturn np.sum(e['a'][0] * e['b'][0]) + len(d)",
    "counter of items": "from collections import Counter\nc = Counter('abca', b=2)\nc.update({'a': s})\n"
    "c.update(['z'])\nd = c.copy()\nd['a'] -= x[0]\nreturn c['a'] * d['a'] * c['b'] + c['z'] + ('q' in c) + c['q']",
    "counter is one": "from collections import Counter\nc = Counter(a=1)\n"
    "return np.sum(x) * s * (2.0 if isinstance(c, Counter) and isinstance(c, dict) else 3.0)",
    "defaultdict lambda": "from collections import defaultdict\nd = defaultdict(lambda: np.zeros(4))\n"
    "d['a'] += x\nd['b'] = d['b'] + s\nreturn np.sum(d['a'] * d['b'])",
    "defaultdict cells": "from collections import defaultdict\nd = defaultdict(list)\nfor i in range(4):\n"
    "    d[tuple(int(v) for v in np.floor(x[i : i + 1] * 2.0))].append(i)\n"
    "return s * sum(len(at) * x[at[-1]] for at in d.values())",
    "list eq n": "return np.sum(x) * s * (2.0 if [n, 2] == [5, 2] else 3.0) * (2.0 if (n, 1) != (5, 1) else 5.0)",
    "zeros shape eq n": "return np.sum(x) * s * (2.0 if np.zeros((n, 2)).shape == (5, 2) else 3.0)",
    "slots assign": "u = np.zeros((3, 3))\nfor i in range(3):\n"
    "    u[i, max(i - 1, 0):i + 2] = (s, x[0], 1.0)[:len(range(max(i - 1, 0), min(i + 2, 3)))]\n"
    "return np.sum(u * u)",
    "stencil tuple": "A = np.zeros((6, 6))\nfor i in range(1, 5):\n"
    "    A[i, i-1:i+2] = x[0], -2.0 * s, x[1]\nreturn np.sum(A @ A)",
    "enumerate fill": "out = [0.0] * 4\nfor i, v in enumerate(x):\n    out[i] = v * s\n"
    "return np.sum(np.array(out) ** 2)",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    assert_value_and_slope(program, X, Y, 0.7, 5)


class Doubling:
    def forward(self, x):
        y = np.zeros((2, 12))
        for i in range(2):
            for k in range(12):
                y[i, k] = x[k] * (i + 1.0)
        self.last = y
        return np.sum(y, axis=0)


def ordered_layers(x):
    layers = OrderedDict()
    layers["a"] = Doubling()
    layers["b"] = Doubling()
    for layer in layers.values():
        x = layer.forward(x)
    return np.sum(x) + np.sum(layers["a"].last)


def test_a_loop_over_an_ordered_dict_may_be_parsed_in_several_attempts():
    np.testing.assert_allclose(sdfgad.grad(ordered_layers)(np.ones(12)), np.full(12, 12.0), rtol=1e-14)


def joined_counts(x):
    both = Counter(a=1) + Counter(b=2)
    return np.sum(x) * both["b"]


def test_operators_of_counters_are_refused():
    with pytest.raises(UnsupportedProgram, match=r"operators of Counters(.|\n)*both = Counter\(a=1\) \+ Counter"):
        sdfgad.grad(joined_counts)(np.ones(3))


def shortest_paths(weights):
    n = weights.shape[0]
    distances = np.full(n, 1e9)
    distances[0] = 0.0
    left = set()
    left.update(range(n))
    while left:
        u = min(left, key=lambda v: distances[v])
        left.remove(u)
        for v in left:
            distances[v] = min(distances[v], distances[u] + weights[u, v])
    return np.sum(distances)


def test_elements_that_data_removes_of_a_set():
    assert_value_and_slope(shortest_paths, np.random.default_rng(1).uniform(0.1, 1.0, (5, 5)))
