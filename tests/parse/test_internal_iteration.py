"""Loops over generator functions: the body of such a loop is a function that the generator calls where it yields."""

import numpy as np
import pytest

import sdfgad
from sdfgad.parse.assumptions import Assumptions
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import itertools
import numpy as np

def steps(u, n, dt):
    u = u.copy()
    for k in range(n):
        u = u + dt * np.sin(u)
        yield u

def adaptive(x, s):
    t, u = 0.0, x[0]
    while t < 2.0:
        h = 0.05 + 0.1 * u * u
        u = u + h * (s - u)
        t = t + h
        yield t, u

class Model:
    def __init__(self, k):
        self.k, self.n, self.history = k, 0, []

    def run(self, x, n):
        v = x * 0.0
        for i in range(n):
            v = v - self.k * x * 0.1
            x = x + v * 0.1
            self.n += 1
            yield i * 0.1, x, v

class Simulation:
    def __init__(self, u, s):
        self.u, self.s, self.t = u.copy(), s, 0.0

    def __iter__(self):
        while self.t < 1.0:
            self.t += 0.1
            self.u = self.u * self.s
            yield self.t, self.u

def total(items):
    t = 0.0
    for k, v in enumerate(items()):
        t = t * 0.5 + v[0] * k
    return t

def program(x, s):
"""
# Bodies of a program, and at most how many statements they are: those of 40 trips that are written out are more.
RIGHT = {
    "a loop": ("t = 0.0\nfor u in steps(x, 40, 0.1):\n    t = t * s + np.sum(u)\nreturn t", 8),
    "enumerate": ("t = 0.0\nfor k, u in enumerate(steps(x, 40, 0.1)):\n    t = t * s + np.sum(u) * k\nreturn t", 10),
    "enumerate from one on": (
        "t = 0.0\nfor k, u in enumerate(steps(x, 40, 0.1), 1):\n    t = t * s + u[0] * k\nreturn t",
        10,
    ),
    "rows of an array": (
        "out = np.zeros(40)\nfor k, u in enumerate(steps(x, 40, 0.1)):\n    out[k] = np.sum(u) * s\n"
        "return np.sum(out * out)",
        14,
    ),
    "break": (
        "t = 0.0\nfor u in steps(x, 40, 0.1):\n    if np.sum(u) > 8.0:\n        break\n"
        "    t = t + np.sum(u) * s\nreturn t",
        18,
    ),
    "break and else": (
        "t = 0.0\nfor u in steps(x, 40, 0.1):\n    t = t + u[0]\n    if t > 1e6:\n        break\nelse:\n"
        "    t = t * s\nreturn t",
        20,
    ),
    "continue": (
        "t = 0.0\nfor u in steps(x, 40, 0.1):\n    if u[0] > 1.2:\n        continue\n    t = t + u[0]\n"
        "return t * s + u[1]",
        16,
    ),
    "return": (
        "def find():\n    for u in steps(x, 40, 0.1):\n        if np.sum(u) > 9.0:\n"
        "            return u * 2.0\n    return x\n"
        "return np.sum(find()) * s",
        25,
    ),
    "data ends it": ("best = 0.0\nfor t, u in adaptive(x, s):\n    best = best + u * t\nreturn best", 12),
    "data ends both": (
        "n = 0\nfor t, u in adaptive(x, s):\n    n += 1\n    if u > 0.95:\n        break\nreturn u * t + n",
        30,
    ),
    "it returns early": (
        "def g():\n    for u in steps(x, 40, 0.1):\n        if u[0] > 1.3:\n            return\n        yield u * s\n"
        "t = 0.0\nfor u in g():\n    t = t + u[1]\nreturn t",
        18,
    ),
    "it returns what a call returns": (
        "log = []\ndef g():\n    for k in range(20):\n        if x[k % 4] > 1.45:\n            return log.append(s)\n"
        "        yield x[k % 4]\nt = 0.0\nfor v in g():\n    t = t + v\nreturn t + len(log)",
        30,
    ),
    "endless": (
        "def newton(z):\n    while True:\n        z = z - (z * z - s) / (2 * z)\n        yield z\n"
        "for z in newton(x[0]):\n    if abs(z * z - s) < 1e-10:\n        break\nreturn z",
        22,
    ),
    "generators in each other": (
        "def g():\n    for u in steps(x, 20, 0.1):\n        yield np.sum(u) * s\nt = 0.0\nfor v in g():\n"
        "    t = t + v * v\nreturn t",
        9,
    ),
    "yield from": (
        "def g():\n    for k in range(3):\n        yield from steps(x * (1 + k), 20, 0.1)\n        yield x\n"
        "t = 0.0\nfor u in g():\n    t = t * s + u[0]\nreturn t",
        40,
    ),
    "loops in loops, and return": (
        "t = 0.0\nfor i in range(3):\n    for u in steps(x, 10, 0.1):\n        if u[0] > 1.6:\n            continue\n"
        "        for w in steps(u, 5, 0.05):\n            t = t + w[1] * s\n            if t > 50.0:\n"
        "                return t\nelse:\n    t = t + 1.0\nreturn t",
        120,
    ),
    "a method": (
        "m, e = Model(s), 0.0\nfor t, y, v in m.run(x, 30):\n    e = e + t * np.sum(y * v)\n    m.history.append(e)\n"
        "return e + m.n * 0.01 + m.history[-3]",
        16,
    ),
    "__iter__": ("m, e = Simulation(x, s), 0.0\nfor t, u in m:\n    e = e + np.sum(u) * t\nreturn e + m.t", 60),
    "what the body changes": (
        "dt = 0.1\ndef g():\n    u = x.copy()\n    for k in range(20):\n        u = u * (1.0 - dt)\n        yield u\n"
        "t = 0.0\nfor u in g():\n    t = t + np.sum(u) * s\n    dt = dt * 0.9\nreturn t + dt",
        16,
    ),
    "lists that both change": (
        "L = [1.0, 2.0]\ndef g():\n    for i in range(20):\n        yield L[-1] + i\nt = 0.0\nfor v in g():\n"
        "    L.append(v * s)\n    t = t + v * x[0]\nreturn t + sum(L)",
        12,
    ),
    "an array that both change": (
        "u = x * 1.0\ndef g():\n    for k in range(12):\n        u[k % 4] = u[k % 4] * s\n        yield u\nt = 0.0\n"
        "L = [np.sum(v) for v in g()]\nfor v in g():\n    v[0] = v[0] + 0.1\n    t = t + np.sum(v * x)\n"
        "return sum(L) + t + u[0]",
        16,
    ),
    "a parameter": ("for u in steps(x, 20, 0.1):\n    x = u * s\nreturn np.sum(x)", 9),
    "a parameter that is updated": ("for u in steps(x * 2.0, 20, 0.1):\n    x += u * s\nreturn np.sum(x)", 9),
    "nonlocal": (
        "n = 0\ndef inner():\n    nonlocal n\n    t = 0.0\n    for u in steps(x, 20, 0.1):\n        n += 1\n"
        "        t = t + u[1] * n\n    return t\nreturn inner() * s + n",
        12,
    ),
    "global": (
        "global LAST, SUM\nSUM = 0.0\nfor k, u in enumerate(steps(x, 20, 0.1)):\n    SUM = SUM + u[0]\n    if k == 2:\n"
        "        LAST = u\nreturn SUM * s + LAST[1]",
        30,
    ),
    "functions that read the last item": (
        "fs = []\nfor u in steps(x, 8, 0.1):\n    fs.append(lambda: u[0])\nreturn fs[0]() * s + fs[3]()",
        16,
    ),
    "a name that a branch binds first": (
        "best, at = -1e9, 0\nfor k, u in enumerate(steps(x, 9, 0.5)):\n    f = np.sum(np.sin(u * s))\n"
        "    if f > best:\n        best, at, kept = f, k, u\nreturn best + at + kept[0]",
        24,
    ),
    "a name that a `try` binds first": (
        "try:\n    for u in steps(x, 10, 0.1):\n        if u[0] > 1e9:\n            raise ValueError('no')\n"
        "        t = u[0] * s\n"
        "except ValueError:\n    t = 0.0\nreturn t",
        26,
    ),
    "no trip": ("for u in steps(x, 0, 0.1):\n    t = u\nreturn np.sum(x) * s", 6),
    "nothing yielded": (
        "def ticks(n):\n    with np.errstate(all='ignore'):\n        for _ in range(n):\n            yield\nt = s\n"
        "for _ in ticks(20):\n    t = t * x[0] + x[1]\nreturn t",
        4,
    ),
    "parameters of all kinds": (
        "def g(n, *more, scale=2.0, **others):\n    for i in range(n):\n"
        "        yield i, x[i % 4] * scale + others['c'], more[0]\n"
        "t = 0.0\nfor i, v, m in g(20, s, scale=s, c=1.0):\n    t += v * m * i\nreturn t",
        5,
    ),
    "one loop over both": ("return total(lambda: steps(x, 20, 0.1)) + total(lambda: [x * s, x])", 24),
    "one that has a name": ("g, t = steps(x, 30, 0.1), 0.0\nfor u in g:\n    t = t * s + np.max(u)\nreturn t", 8),
    "a sum": ("return sum(np.sum(v) * s for v in steps(x, 30, 0.1))", 9),
    "a list": ("us = list(steps(x, 30, 0.1))\nreturn np.sum(np.stack(us) * s) + us[3][0]", 10),
    "a list comprehension": ("return np.sum(np.array([np.sum(v) * s for v in steps(x, 30, 0.1)]))", 9),
    "a list of one array": (
        "def g():\n    u = np.zeros(4)\n    for k in range(6):\n        u += x * s\n        yield u\nL = list(g())\n"
        "M = [v for v in g()]\nreturn np.sum(L[0] * L[2]) + np.sum(M[1] * M[0]) + sum(v[0] for v in g())",
        40,
    ),
    "a list of a length that is data": ("L = list(adaptive(x, s))\nreturn L[-1][1] + L[-1][0] * s", 20),
    "an array of a length that is data": ("u = np.array([u for t, u in adaptive(x, s)])\nreturn u[-1] + u[0] * s", 20),
    "a loop that fills a list of a length that is data": (
        "us = []\nfor t, u in adaptive(x, s):\n    us.append(u)\nu = np.array(us)\nreturn u[-1] + u[0] * s",
        24,
    ),
    "a sum of a length that is data": (
        "return sum(u * t for t, u in adaptive(x, s)) + max(u for t, u in adaptive(x, s))",
        60,
    ),
    "the first that data chooses": (
        "def newton(z):\n    while True:\n        r = z * z - s\n        z = z - r / (2 * z)\n        yield z, r\n"
        "z = next(z for z, r in newton(x[0]) if abs(r) < 1e-9)\n"
        "return z + next((u[0] for u in steps(x, 20, 0.1) if u[0] > 50.0), x[1] * s)",
        50,
    ),
    "starred": (
        "ts, us = zip(*adaptive(x, s))\n*_, (t, u) = adaptive(x, s)\n"
        "return np.trapezoid(np.array(us), np.array(ts)) * u + t",
        60,
    ),
    "finally": (
        "log = []\ndef g():\n    log.append(1.0)\n    try:\n        for k in range(30):\n"
        "            log.append(x[k % 4])\n"
        "            yield x[k % 4] * k\n    finally:\n        log.append(5.0)\nt = 0.0\nfor v in g():\n"
        "    t = t * s + v\n"
        "    log.append(t)\n    if v > 10.0:\n        break\nlog.append(7.0)\n"
        "return t + log[-2] * s + log[-3] + log[1]",
        80,
    ),
    "a counter of its own": (
        "def triangle(n):\n    k = 0\n    for i in range(n):\n        for j in range(i, n):\n"
        "            yield k, i, j\n"
        "            k += 1\nm, v = np.zeros((4, 4)), np.sin(np.arange(10.0) * s)\nfor k, i, j in triangle(4):\n"
        "    m[i, j] = v[k] * x[i]\n    m[j, i] = m[i, j]\nreturn np.sum(m * m)",
        20,
    ),
}
# Where Python takes its items one by one, or other things decide, statements are written out as before.
WRITTEN_OUT = {
    "recursion": "def tree(depth, v):\n    if depth == 0:\n        for k in range(1):\n            yield v\n    else:\n"
    "        yield from tree(depth - 1, v * 0.5)\n        yield from tree(depth - 1, v + 0.1)\nt = 0.0\n"
    "for v in tree(6, x[0]):\n    t = t * s + v\nreturn t",
    "next, then a loop": "g = steps(x, 9, 0.1)\nt = next(g)[0]\nfor u in g:\n    t = t * s + u[1]\nreturn t",
    "zip": "t = 0.0\nfor u, v in zip(steps(x, 9, 0.1), steps(x * s, 9, 0.2)):\n    t = t + np.dot(u, v)\nreturn t",
    "islice": "return sum(u[0] * s for u in itertools.islice(steps(x, 9, 0.1), 4))",
    "arguments": "def f(a, *b):\n    return np.sum(a * b[0]) * s\nreturn f(*steps(x, 4, 0.1))",
    "dicts": "d = {k: np.sum(u) for k, u in enumerate(steps(x, 9, 0.1))}\nreturn d[3] * s + d[8]",
    "keys that differ from trip to trip": "d = {}\nfor k, u in enumerate(steps(x, 9, 0.1)):\n"
    "    d[f'k{k}'] = np.sum(u)\n"
    "return d['k3'] * s + sum(d.values())",
    "a body that defines a function": "t = 0.0\nfor u in steps(x, 9, 0.1):\n    def f(v):\n        return v[0] * s\n"
    "    t = t + f(u)\nreturn t",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_loops_stay_loops(name, tmp_path):
    body, most = RIGHT[name]
    primal = assert_value_and_slope(program_of(body, tmp_path), X, 0.7)
    assert size_of(primal.program.body) <= most


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_written_out(name, tmp_path, monkeypatch):
    program = program_of(WRITTEN_OUT[name], tmp_path)
    with monkeypatch.context() as patch:
        attempts, after = [], Assumptions.after
        patch.setattr(Assumptions, "after", lambda self, *more: attempts.append(self) or after(self, *more))
        assert_value_and_slope(program, X, 0.7)
    assert not any(one.inverted for one in attempts) or name == "keys that differ from trip to trip"


def test_other_reasons_are_not_hidden(tmp_path, monkeypatch):
    """A loop that fails for another reason is refused for that, at its line, and no attempt goes on for ever."""
    attempts, after = [], Assumptions.after
    monkeypatch.setattr(Assumptions, "after", lambda self, *more: attempts.append(self) or after(self, *more))
    body = "t = 0.0\nfor u in steps(x, 9, 0.1):\n    t = t + open('f').read(u)\nreturn t"
    with pytest.raises(sdfgad.UnsupportedProgram, match="open") as caught:
        parsed(program_of(body, tmp_path), X, 0.7)
    assert caught.value.where.text == "t = t + open('f').read(u)"
    assert len(attempts) < 20


def test_a_name_that_no_trip_binds(tmp_path):
    body = (
        "def g():\n    for k in range(4):\n        if x[k] > 9.0:\n            yield k\n"
        "for k in g():\n    t = x[k] * s\nreturn t"
    )
    program = program_of(body, tmp_path)
    with pytest.raises(sdfgad.UnboundVariable, match="`t` has no value here"):
        sdfgad.differentiate(program)(X, 0.7)


def test_no_first(tmp_path):
    """Where data chooses none, the program raises what Python raises, at that line."""
    program = program_of("return next(u[0] for u in steps(x, 9, 0.1) if u[0] > 1e3 * s)", tmp_path)
    with pytest.raises(sdfgad.ProgramRaises, match="StopIteration"):
        sdfgad.differentiate(program)(X, 0.7)


def whole(x, s):
    """All of it, compiled: an adaptive integration, a search, a nest, and a list."""

    def heun(u):
        t = 0.0
        while t < 1.0:
            h = 0.02 + 0.01 * np.sum(u * u)
            k = np.sin(u * s)
            u = u + 0.5 * h * (k + np.sin((u + h * k) * s))
            t = t + h
            yield t, u

    def pairs(n):
        for i in range(n):
            for j in range(i + 1, n):
                yield i, j

    energy, last = 0.0, x
    for t, u in heun(x):
        energy = energy + t * np.sum(u * u)
        last = u
        if energy > 60.0:
            break
    for i, j in pairs(len(x)):
        energy = energy + s / (1.0 + (last[i] - last[j]) ** 2)
    return energy + list(heun(last))[-1][0]


def test_compiled(rng):
    for size in (4, 7):
        x = rng.uniform(0.2, 0.8, size)
        assert sdfgad.differentiate(whole).value(x, 1.1) == pytest.approx(whole(x, 1.1), rel=1e-12)
        sdfgad.check_grads(whole, x, 1.1)
