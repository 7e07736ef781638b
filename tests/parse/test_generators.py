"""Generator functions and kept generators: their statements run between those of what goes over the items."""

import itertools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.parse import iterators
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import itertools
import numpy as np

def scaled(a, k):
    for i in range(k):
        yield a[i] * (i + 1.0)

class Counted:
    def __init__(self, v):
        self.n, self.v = 0, v

    def __iter__(self):
        for k in range(3):
            self.n += 1
            yield self.v[k]

def program(x, s, n):
"""
ENDLESS = "def pulse():\n    k = 0\n    while True:\n        yield np.exp(-(k * x[0] - s) ** 2)\n        k += 1\n"
RIGHT = {
    "a list": "L = list(scaled(x * s, 3))\nreturn L[0] * L[2]",
    "a loop": "t = 0.0\nfor v in scaled(x, 4):\n    t = t * s + v\nreturn t",
    "a number that is an argument": "t = 0.0\nfor v in scaled(x, n):\n    t = t * s + v\nreturn t",
    "a sum": "return sum(scaled(x * s, 4))",
    "arguments": "def f(a, b, c):\n    return a * b - c\nreturn f(*scaled(x * s, 3))",
    "a comprehension": "return np.sum(np.array([v * s for v in scaled(x, 4)]))",
    "a statement each": "def g():\n    u = x[0] * s\n    yield u\n    u = u * x[1]\n    yield u\na, b = g()\n"
    "return a * b",
    "updates in between": "u = x * 1.0\ndef g():\n    for k in range(3):\n        yield u[k]\nt = 0.0\n"
    "for v in g():\n"
    "    t = t + v\n    u *= s\nreturn t",
    "updates of the generator": "u = x * 1.0\ndef g():\n    for k in range(3):\n        u[k] = u[k + 1] * s\n"
    "        yield k\n"
    "t = 0.0\nfor k in g():\n    t = t + np.sum(u) * k\nreturn t",
    "one array": "def g():\n    u = np.zeros(4)\n    for k in range(3):\n        u += x * s\n        yield u\n"
    "L = list(g())\nreturn np.sum(L[0] * L[2])",
    "left early": "def g():\n    k = 0\n    while True:\n        yield x[k] * s\n        k += 1\nt = 0.0\n"
    "for v in g():\n    t = t + v\n    if t is None:\n        break\n    break\nreturn t",
    "endless": "def g():\n    a, b = 0, 1\n    while True:\n        yield a\n        a, b = b, a + b\nt = 0.0\n"
    "for k, v in zip(g(), x):\n    t = t + k * v * s\nreturn t",
    "islice": "def g():\n    v = x\n    while True:\n        yield v\n        v = v * s\n"
    "return np.sum(sum(itertools.islice(g(), 3)))",
    "branches": "def g(k):\n    if k > 2:\n        yield x[0]\n        return\n    else:\n        yield x[1]\n"
    "    yield x[2] * s\n"
    "return sum(g(3)) * sum(g(1)) * s",
    "break and else": "def g():\n    for k in range(4):\n        if k == 2:\n            break\n        yield x[k]\n"
    "    else:\n        yield 100.0\n    for k in range(2):\n        continue\n    else:\n        yield s\n"
    "return sum(g())",
    "yield from": "def g():\n    yield from scaled(x, 2)\n    yield from [s, 2.0]\na, b, c, d = g()\n"
    "return a * b * c * d",
    "loops in between": "def g():\n    u = x * 1.0\n    for k in range(2):\n        for i in range(3):\n"
    "            u[i] = u[i + 1] * s\n        yield u[0]\nreturn sum(g())",
    "recursion": "def walk(tree):\n    if isinstance(tree, list):\n        for part in tree:\n"
    "            yield from walk(part)\n"
    "    else:\n        yield tree\nreturn sum(walk([x[0], [x[1] * s, [x[2]]]]))",
    "a method of a dict": "def g(d):\n    for k, v in d.items():\n        yield v * len(k)\n"
    "return sum(g({'a': x[0], 'bc': s}))",
    "a condition on data": "def g():\n    for k in range(4):\n        if x[k] > 1.0:\n            yield x[k]\n"
    "return sum(g()) * s",
    "left where data decides": "u = x * 1.0\ndef g():\n    for k in range(3):\n"
    "        u[k] = s\n        yield k\nt = s\n"
    "for k in g():\n    t = t * 2.0\n    if t > 1.0:\n        break\nreturn t + u[2]",
    "kept in a list that grows": "gs = []\nfor k in range(3):\n"
    "    u = x * (k + s)\n    gs.append(v * u[0] for v in [1.0, 2.0])\n"
    "return sum(gs[0]) * s",
    "an object that counts, left where data decides": "o = Counted(x)\nfor i, v in enumerate(o):\n"
    "    if s < 0.8:\n        break\n"
    "return o.n + i + v * s",
    "numbers from the counter of a loop on": "t = 0.0\nfor i in range(9):\n    for j, v in enumerate([x[0], s], i):\n"
    "        t = t * 0.9 + v * j * s\nreturn t",
    "objects in zip": "o, p, t = Counted(x), Counted(x), 0.0\nfor (i, v), w in zip(enumerate(o, 1), p):\n"
    "    t += v * w * i * s\n"
    "return o.n + p.n + t",
    "an object that is asked when its items are": "o = Counted(x)\ne, t = enumerate(o), o.n\n"
    "for i, v in e:\n    t += i * v * o.n * s\n"
    "return t",
    "next": "g = scaled(x, 3)\nreturn next(g) * s",
    "next, twice": "g = scaled(x, 3)\na = next(g)\nreturn a + next(g) * s",
    "next, then a loop": "g = scaled(x, 4)\na = next(g)\nfor v in g:\n    a = a * s + v\nreturn a",
    "next in a loop": ENDLESS + "g, t = pulse(), 0.0\nfor k in range(6):\n    t = t * s + next(g)\nreturn t",
    "next in a comprehension": ENDLESS + "g = pulse()\nreturn sum([next(g) * k for k in range(5)]) + next(g)",
    "next as numbers": "def ids():\n    k = 0\n    while True:\n        yield k\n        k += 1\ng = ids()\n"
    "d = {name: next(g) for name in 'abc'}\nreturn x[d['c']] * d['b'] * s",
    "next with effects": "log = []\ndef f():\n    for v in x:\n        log.append(v)\n        yield 2 * v\ng = f()\n"
    "a = next(g)\nb = len(log)\nc = next(g)\nreturn a * b + c * len(log) * s + sum(log)",
    "next behind the end": "g = (v * s for v in x[:2])\nreturn next(g) + next(g) * next(g, 5.0) * next(g, 7.0)",
    "next of what numbers a generator": "g = enumerate(v * s for v in x)\ni, v = next(g)\nj, w = next(g)\n"
    "return v * i + w * j",
    "next in a branch": ENDLESS + "g = pulse()\nt = next(g)\nif x[1] > 5.0:\n    t = next(g)\nreturn t * next(g)",
    "kept": "g = (v * s for v in [x, x * 2.0])\nt = 0.0\nfor v in g:\n    t = t + np.sum(v)\nreturn t",
    "kept, and names read late": "g = (v * s for v in x)\nfor k in range(5):\n    s = s * 1.5\nreturn sum(g)",
    "kept in a function": "def f():\n    u = x * s\n    return (v * 2.0 for v in u)\nreturn sum(f())",
    "kept in a list": "g = [(v * s for v in x), 1.0]\nreturn sum(g[0])",
    "map": "a, b = map(np.sum, (x, x * s))\nreturn a * b",
}
# Of branches that emit no statements: an iterator goes on in one of them alone.
ONE_SIDE = {
    "an expression": "t = next(g) if x[1] > bound else 5.0\nreturn t * x[0] + next(g) * s",
    "and": "t = (x[1] > bound) and next(g) > -1\nreturn t * x[0] + next(g) * s",
    "a sum": "t = sum(g) if x[1] > bound else 5.0\nreturn t * x[0] + sum(1 for _ in g) * s",
    "conditions of a sum": "t = sum(next(g) for v in x if v > 1.0)\nreturn t * x[0] + next(g) * s",
}
ITERATORS = {
    "known values": "g = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])",
    "a generator": "def ids():\n    for k in range(6):\n        yield k\ng = ids()",
}
REFUSED = {
    "endless": (
        "def g():\n    while True:\n        yield x[0]\nreturn sum(g())",
        "while True",
        "this loop of a generator function has more than 1000 items, or does not end",
    ),
    "twice": ("g = scaled(x, 3)\na = sum(g)\nreturn a + sum(g)", "return a", "this iterator is used up"),
    "next, then a sum, twice": (
        "g = scaled(x, 3)\na = next(g) + sum(g)\nreturn a + next(g)",
        "return a",
        "this iterator is used up",
    ),
    "a condition on data": (
        "def g():\n    for k in range(4):\n        if x[k] > 1.0:\n            yield x[k]\nt = 0.0\n"
        "for v, k in zip(g(), range(2)):\n    t = t + v * k\nreturn t",
        "if x[k]",
        "whether a generator function has a further item depends on run-time values",
    ),
    "in a branch": (
        "u = x * 1.0\ndef g():\n    for k in range(3):\n        u[k] = s\n        yield k\nt = s\n"
        "for k, v in zip(g(), x):\n    t = t * 2.0\n    if t > 1.0:\n        break\nreturn t + u[2]",
        "for k, v in zip",
        "whether a loop over a generator goes on is known only at run time",
    ),
    "an object in a chain": (
        "o = Counted(x)\nfor v in itertools.chain(o, [1.0]):\n    if s < 0.8:\n        break\nreturn o.n + v * s",
        "for v in itertools.chain",
        "whether a loop over a generator goes on is known only at run time",
    ),
    "a value": (
        "def g():\n    v = yield x\nreturn sum(g())",
        "v = yield",
        "`yield` is supported only as a statement",
    ),
    "in with": (
        "def g():\n    with np.errstate(all='ignore'):\n        yield x\nreturn sum(g())",
        "with np",
        "`yield` is supported only as a statement",
    ),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X, 0.7, 3)


@pytest.mark.parametrize("kind", ITERATORS)
@pytest.mark.parametrize("bound", [0.0, 9.0])
@pytest.mark.parametrize("name", ONE_SIDE)
def test_iterators_on_one_side(name, bound, kind, tmp_path):
    program = program_of(f"bound = {bound}\n{ITERATORS[kind]}\n{ONE_SIDE[name]}", tmp_path)
    try:
        assert_value_and_slope(program, X, 0.7, 3)
    except UnsupportedProgram as refusal:
        assert "this iterator is used up" in str(refusal)
        assert name == "a sum"


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    body, line, what = REFUSED[name]
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program_of(body, tmp_path), X, 0.7, 3)
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo


def test_an_endless_iterator(monkeypatch):
    monkeypatch.setattr(iterators, "MOST_ITEMS", 50)

    def program(x):
        return sum(x[0] * k for k in itertools.count())

    with pytest.raises(sdfgad.UnsupportedProgram, match="this iterator has more than 50 items") as caught:
        sdfgad.grad(program)(np.ones(2))
    assert str(caught.value.where) == line_of(program, "itertools.count")
    assert "islice" in caught.value.todo


# --- generators that are consumed at once


def sums(x):
    n = len(x)
    rows = [np.sin(x[i]) * x for i in range(n)]
    total = (
        sum(np.sin(x[i]) * x[i] for i in range(n))
        + max(np.cos(v) * v for v in x)
        - min(x[i] * x[n - 1 - i] for i in range(n))
    )
    total += sum(a @ b for a, b in zip(rows, rows[::-1], strict=True)) * 0.01
    return total + sum((np.tanh(v) * v for v in x), start=x[0]) + np.sum(tuple(v * v for v in x))


def test_consumed_generators_are_loops(rng):
    x = rng.uniform(0.1, 0.9, 200)
    assert len(str(sdfgad.explain(sums, x, stage="parsed")).splitlines()) < 80
    assert sdfgad.differentiate(sums).value(x[:70]) == pytest.approx(sums(x[:70]), rel=1e-12)
    sdfgad.check_grads(sums, x[:70])


def counted(x):
    """Items that change what later ones read, and a generator that is made before a change, and consumed after it."""
    seen, scale = [], np.ones(1)

    def item(v):
        seen.append(v)
        scale[0] *= 0.99
        return v * scale[0] * len(seen)

    values = (v * scale[0] for v in x)
    return sum(item(v) for v in x) + 10.0 * sum(values) + any(v > 1e9 for v in x)


def test_generators_with_effects(rng):
    x = rng.uniform(0.1, 0.9, 40)
    assert_value_and_slope(counted, x)


class Run:
    """An object with a list whose length is data."""

    def __init__(self, v):
        self.v, self.history = v, []

    def go(self, s):
        u = self.v
        while u < 5.0:
            u = u * (1.2 + 0.1 * s)
            self.history.append(u)
        return self

    def __len__(self):
        return len(self.history)


def measured(x, s, n):
    one, other = Run(x[0]).go(s), Run(x[1]).go(s)
    runs = [one, other]
    place = runs.index(other)
    runs.remove(other)
    return runs[0].history[-1] * len(one) + place + len(runs)


def test_objects_with_such_lists_are_no_iterators():
    assert_value_and_slope(measured, X, 0.7, 3)
