"""Integers that are made of sums, counts and grids of known numbers, where they must be known while parsing."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope

X = np.linspace(1.0, 2.0, 6)
RIGHT = {
    "sums": "n, m, k = np.sum([2, 3]), np.max(np.array([2, 4])), np.prod(np.arange(1, 3))\n"
    "return np.zeros(n) + s * x[:n] ** 2 + np.sum(x[:m]) * k",
    "sums of equal numbers": "n = np.sum(np.ones(3, dtype=int))\n"
    "return s * x[:n] + np.zeros(np.sum(np.full((1, 3), 1)))",
    "counts": "h = np.zeros(4, dtype=int)\nnp.add.at(h, np.array([0, 1, 1, 3]), 1)\nh[2] += 3\n"
    "return np.zeros(h[1]) + s * x[: h[1]] + np.sum(x[: h[2]])",
    "sums by rows": "n = np.sum(np.array([[1, 2], [0, 1]]), axis=1)\nreturn np.zeros(n[0]) + s * x[: n[0]] * x[n[1]]",
    "places of a grid": "at = set(np.linspace(1, 6, 3).astype(int))\nkept = []\nfor k in range(7):\n"
    "    x = x + s * np.sin(x)\n    if k in at:\n        kept.append(x * k)\nreturn kept[0] + kept[-1] * len(kept)",
    "parts of a grid": "e = np.round(np.linspace(0, 6, 3)).astype(int)\ny = np.zeros(e[-1])\n"
    "for low, high in zip(e[:-1], e[1:]):\n    y[low:high] = s * x[low:high] * np.sum(x[low:high])\nreturn y",
    "a grid that a loop moves": "g = np.linspace(1, 3, 3)\ny = 0.0\nfor k in range(3):\n"
    "    y = y + s * np.sum(x[k] * np.ones(g.astype(int)[0]))\n    g += 1\nreturn y",
    "triangles": "low = np.log10(1.0 + np.array([20.0]) / 700.0)[0]\n"
    "at = np.clip((2.0 * np.linspace(low, 3.1, 5)).astype(int), 0, 5)\nt = np.zeros((3, 6))\nfor i in range(3):\n"
    "    left, top = at[i], at[i + 1]\n    if top <= left:\n        top = min(left + 1, 5)\n    if top > left:\n"
    "        t[i, left:top] = (np.arange(left, top) - left) / (top - left) + 1.0\nreturn t @ x * s",
    "floats of a counter": "y = 0.0\nfor k in range(3):\n    w = np.full(2, 1.0 + k)\n"
    "    y = y + s * np.sum(x[k] * np.ones(int(w[0])))\nreturn y",
    "steps of times": "t = np.arange(0, 4) * 86400.0\ndt, end = t[1] - t[0], t[-1]\nn = int(end / dt + 1)\n"
    "y = np.zeros((n, 2))\nfor k in range(1, n):\n    y[k] = s * (y[k - 1] + x[0] * dt / end)\nreturn y",
    "another in each trip": "g = np.linspace(1, 4, 4)\ny = np.zeros(6)\nfor k in range(2):\n    for j in range(2):\n"
    "        y[: int(g[0])] += s * x[0]\n    g = g + 1.0\nreturn y",
    "only numpy's": "t, w = np.polynomial.legendre.leggauss(n)\nreturn s * np.sum(w * np.sin(x[0] * t)) * np.ones(n)",
    "another grid": "g = np.linspace(0, 6, 3)\ng[1] = 2.0 * s\nreturn np.zeros(3) + g * x[0]",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import numpy as np\n\ndef program(x, s, n):\n{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_known_numbers(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X, 0.7, 3)


OF_DATA = {
    "updated": "g = np.linspace(0, 6, 3)\ng[1] = 2.0 * s\nreturn np.zeros(g.astype(int)[1]) + x[0]",
    "updated in a loop": "g = np.linspace(0, 6, 3)\nfor k in range(n):\n    g[1] += s\n"
    "return np.zeros(int(g[1])) + x[0]",
    "a sum of data": "k = np.sum((x > 1.5).astype(int))\nreturn np.zeros(k) + s",
}


@pytest.mark.parametrize("name", OF_DATA)
def test_numbers_that_are_data_are_those_of_the_call(name, tmp_path):
    program = program_of(OF_DATA[name], tmp_path)
    primal = assert_like_python(program, X, 0.7, 3)
    assert list(primal.guard.values.values()) == [len(program(X, 0.7, 3))]
    assert_slope(program, X, 0.7, 3)


@pytest.mark.parametrize("read", ["g[0]", "h[0]", "last"])
def test_lengths_of_a_grid_that_a_later_trip_changes(read, tmp_path):
    body = f"""g = np.linspace(1, 4, 4)
for k in range(3):
    h = g * 2.0
    last = h[0] - 1.0
    x = x + s * np.sum(np.ones(int({read})))
    g[0] = g[0] + 1.0
return x"""
    assert_like_python(program_of(body, tmp_path), X, 0.7, 3)
