"""Integers to which each trip of a loop adds the same: they are known in each trip, as the loop's counter is."""

import numpy as np
import pytest

import sdfgad
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import numpy as np

class Counts:
    def __init__(self):
        self.n, self.items, self.keys = 0, [0], {"n": 0}

    def tick(self):
        self.n += 1
        self.items[0] += 2
        self.keys["n"] -= 1

def program(x, s):
"""
KNOWN = {
    "a counter": "out, i = np.zeros(30), 0\nfor k in range(30):\n    out[i] = x[k % 4] * s\n    i += 1\n"
    "return np.sum(out * out) + i",
    "steps of both signs": "i, j, t = 0, 10, 0.0\nfor k in range(30):\n    t = t * s + x[i % 4] * j\n"
    "    i += 3\n    j -= 2\n"
    "return t + i + j",
    "from the end": "i, w = 7, np.zeros(8)\nfor k in range(8):\n"
    "    w[i] = x[k % 4] + (w[i + 1] if i < 7 else s)\n    i -= 1\n"
    "return np.sum(w * w)",
    "the counter of both loops of a nest": "t, i, v = 0.0, 0, np.arange(30.0)\nfor k in range(6):\n"
    "    for j in range(5):\n"
    "        t = t * 0.9 + x[i % 4] * v[i] * s\n        i += 1\nreturn t + i",
    "one for each loop": "n, r = len(x), 0\nout = np.zeros((n, n))\nfor v in x:\n    c = 0\n    for w in x:\n"
    "        out[r, c] = v * w + s\n        c += 1\n    r += 1\nreturn np.sum(out[1] * out[2]) + out[3, 0]",
    "in a closure": "n = 0\ndef bump():\n    nonlocal n\n    n += 1\n    return n\n"
    "t, v = 0.0, np.arange(31.0)\nfor k in range(30):\n"
    "    t = t * 0.5 + v[bump()] * x[k % 4] * s\nreturn t + n",
    "in an object, a list and a dict": "o, t, v = Counts(), 0.0, np.arange(61.0)\nfor k in range(30):\n    o.tick()\n"
    "    t = t * 0.5 + x[o.n % 4] * v[o.items[0]] * s + v[-o.keys['n']]\nreturn t + o.n + o.items[0] * o.keys['n']",
    "the one before": "i, prev, t, v = 0, -1, 0.0, np.arange(40.0)\nfor k in range(20):\n"
    "    t = t * 0.7 + (i - prev) * v[i] * x[k % 4] + v[prev + 1]\n    prev = i\n    i += 1\nreturn t * s + prev",
    "beside the counter of a `while`": "i, j, t, v = 0, 0, 0.0, np.arange(40.0)\nwhile i < 20:\n"
    "    t = t * 0.9 + v[j] * s * x[i % 4]\n"
    "    j += 2\n    i += 1\nreturn t + j",
    "slices": "i, t, y = 0, 0.0, np.concatenate([x, x * s, x])\nfor k in range(10):\n"
    "    t = t + np.sum(y[i:i + 3] * s)\n    i += 1\nreturn t",
    "no trip": "i = 0\nfor k in range(0):\n    i += 1\nreturn np.sum(x) * s + i",
    "conditions": "i, t = 0, 0.0\nfor k in range(30):\n    if i == 5:\n        t = t + 1.0\n"
    "    elif i % 2:\n        t = t * s\n"
    "    else:\n        t = t + x[i % 4]\n    i = i + 1\n    if i > 20:\n        t = t - 0.5\nreturn t",
}
# Data decides these, or they may have more than 64 bits, or each trip adds something else.
OTHERS = {
    "in a branch": "i, t = 0, 0.0\nfor k in range(30):\n    if x[k % 4] > 1.0:\n        i += 1\n"
    "    t = t + i * x[k % 4] * s\nreturn t",
    "in a branch, too": "i, t = 0, 0.0\nfor k in range(30):\n    i += 1\n    if x[k % 4] > 1.0:\n        continue\n"
    "    t = t + i * x[k % 4] * s\n    i += 1\nreturn t + i",
    "in turn": "a, b, t = 0, 1, 0.0\nfor k in range(20):\n    t = t * 0.7 + a * x[k % 4] * s\n"
    "    a, b = b, a + 1\nreturn t + a",
    "growing steps": "step, i, t = 1, 0, 0.0\nfor k in range(10):\n    t = t + x[i % 4] * s\n    i += step\n"
    "    step += 1\nreturn t + i",
    "in some trips": "n, w = 0, x * 1.0\nfor k in range(20):\n    if k % 5 == 0:\n        n += 1\n"
    "    w = w - 0.1 / (1 + n) * (w - s)\n"
    "return np.sum(w * n)",
    "a triangle": "v, k = np.zeros(10), 0\nfor i in range(4):\n    for j in range(i, 4):\n"
    "        v[k] = x[i] * x[j] * s\n        k += 1\n"
    "return np.sum(v * np.arange(10)) + k",
    "trips that data counts": "n, i, t = int(x[0] * 5), 2, 0.0\nfor k in range(n):\n"
    "    t = t + x[i % 4] * s\n    i += 1\n    n = n + 1\n"
    "return t + i + n",
    "a loop that data ends": "i, t = 0, 0.0\nfor k in range(30):\n    t = t + x[i % 4] * s\n    i += 1\n"
    "    if t > 9.0:\n        break\nreturn t + i",
    "a float": "i, t = 0.0, 0.0\nfor k in range(10):\n    t = t + np.sin(i) * x[0]\n    i += 1\nreturn t * s",
    "a truth value": "i, t = True, 0.0\nfor k in range(8):\n    t = t + i * x[k % 4] * s\n    i += 1\nreturn t + i",
    "an integer of NumPy": "i, t = np.int64(0), 0.0\nfor k in range(30):\n    t = t * 0.5 + x[i % 4] * s\n"
    "    i += 1\nreturn t / i",
    "beyond 64 bits": "i, t = 2**63 - 5, 0.0\nfor k in range(10):\n    t = t + x[i % 4] * s\n    i += 1\n"
    "return t + i % 7",
    "large steps": "i, t = 0, 0.0\nfor k in range(20):\n    t = t + x[i % 4] * s + i * 1e-18\n"
    "    i += 2**60 + 1\nreturn t + i % 7",
    "keys": "d, i = {}, 0\nfor v in [x, x * s, x + 1.0]:\n    d[f'v{i}'] = np.sum(v)\n    i += 1\n"
    "return d['v0'] * d['v2'] + i",
    "lists": "L, i, t = [x, x * s, x + 1, x - s, x * x, x], 0, 0.0\nfor v in L:\n"
    "    t = t * s + np.sum(L[i - 1] * v)\n    i += 1\nreturn t",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", KNOWN)
def test_known_in_each_trip(name, tmp_path):
    """No integer is stored, and no index is checked at run time."""
    primal = assert_value_and_slope(program_of(KNOWN[name], tmp_path), X, 0.7)
    assert not primal.program.checks
    assert all(buffer.dtype.kind == "f" for buffer in primal.program.buffers.values())


@pytest.mark.parametrize("name", OTHERS)
def test_others(name, tmp_path):
    assert_value_and_slope(program_of(OTHERS[name], tmp_path), X, 0.7)


def packed(x, s):
    """The upper triangle of a matrix, row by row, and a running column of it."""
    n, k = len(x), 0
    rows = np.zeros(n * 3)
    for i in range(n):
        for j in range(3):
            rows[k] = np.sin(x[i] * s) * (1.0 + 0.1 * j)
            k += 1
    column, total = 0, 0.0
    for v in rows[::3]:
        total = total + v * x[column] * s
        column += 1  # noqa: SIM113
    return total + np.sum(rows**2) + k


def test_compiled(rng):
    assert "wrap" not in str(sdfgad.explain(packed, X, 0.7, stage="parsed"))
    for size in (4, 9):
        x = rng.uniform(0.2, 0.8, size)
        assert sdfgad.differentiate(packed).value(x, 1.1) == pytest.approx(packed(x, 1.1), rel=1e-12)
        sdfgad.check_grads(packed, x, 1.1)
    assert parsed(packed, X, 0.7).program.checks == ()
