"""Dicts of which a loop reads items while it fills them by keys: trajectories, where the keys are new and known."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import walk
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

HEAD = """
import numpy as np

class Box:
    def __init__(self):
        self.d = {}

def program(x):
    n, s = len(x), 0.0
"""
END = "\nfor v in d.values():\n    s = s * 0.9 + np.sum(v)\nreturn s + len(d)"
ROLLED = {
    "the one before": "d = {0: x[0]}\nfor i in range(1, n):\n    d[i] = np.sin(d[i - 1]) + x[i]",
    "the one after": "d = {n: x[0]}\nfor i in reversed(range(n)):\n    d[i] = np.sin(d[i + 1]) + x[i]",
    "two before": "d = {0: x[1, 0], 1: x[0, 0]}\nfor i in range(2, n):\n"
    "    d[i] = np.sin(d[i - 1]) * d[i - 2] + x[i, 1]",
    "steps": "d = {0: x[0, 0]}\nfor i in range(2, 2 * n, 2):\n    d[i] = d[i - 2] * 0.9 + x[i // 2, 1]",
    "negative keys": "d = {0: x[0]}\nfor i in range(1, n):\n    d[-i] = d[-i + 1] * 0.9 + x[i]",
    "texts": "d = {'x0': x[0]}\nfor i in range(1, n):\n    d[f'x{i}'] = d[f'x{i - 1}'] * 0.9 + x[i]",
    "beside another key": "d = {'a': x[0, 0] * 1.0, 0: x[0, 1] * 1.0}\nfor i in range(1, n):\n"
    "    d[i] = d[i - 1] * 0.9 + d['a']",
    "one that is there": "d = {0: x[0]}\nfor i in range(1, n):\n    d[i] = d[0] * 0.9 + x[i]",
    "those there in turn": "d = {k: x[k] for k in range(5)}\nfor i in range(5, n):\n    d[i] = d[i % 5] * 0.9 + x[i]",
    "the one just given": "d = {}\nfor i in range(n):\n    d[i] = np.sin(x[i])\n    s = s * 0.9 + d[i].sum()",
    "all before": "d = {0: x[0]}\nfor i in range(1, n):\n    a = np.zeros(3)\n    for j in range(i):\n"
    "        a = a + d[j] * x[i, 0] / n\n    d[i] = a + np.sin(x[i])",
    "two dicts": "d, e = {0: x[0]}, {0: x[1]}\nfor i in range(1, n):\n    d[i] = e[i - 1] * 0.9 + x[i]\n"
    "    e[i] = d[i - 1] * 0.8",
    "another name": "d = {0: x[0]}\ne = d\nfor i in range(1, n):\n    d[i] = e[i - 1] * 0.9 + x[i]",
    "where data decides": "d = {0: x[0, 0]}\nfor i in range(1, n):\n    if x[i, 0] > 0.5:\n"
    "        v = d[i - 1] * 0.9\n"
    "    else:\n        v = x[i, 1] * 1.0\n    d[i] = v",
    "a key with a name": "d = {4: x[0]}\nfor i in range(n):\n    j = i + 5\n    v = d[j - 1] * 0.9\n"
    "    d[j] = v + x[i]",
    "an attribute": "o = Box()\nd = o.d\no.d[0] = x[0]\nfor i in range(1, n):\n    o.d[i] = o.d[i - 1] * 0.9 + x[i]",
    "in a loop": "for k in range(3):\n    d = {0: x[k]}\n    for i in range(1, n):\n"
    "        d[i] = d[i - 1] * 0.9 + x[i]\n"
    "    s = s + d[n - 1].sum()",
}
WRITTEN_OUT = {
    "later ones": "d = {0: x[0]}\nfor i in range(1, n):\n    try:\n        d[i] = np.sin(d[i + 1]) + x[i]\n"
    "    except KeyError:\n        d[i] = x[i] * 3.0",
    "a key that changes": "d = {k: x[k] for k in range(6)}\nfor i in range(n):\n    j = i\n    v = d[j % 6] * 0.9\n"
    "    j = j + 6\n    d[j] = v + x[i]",
    "a key that changes at one trip": "d = {0: x[0]}\nfor i in range(1, n):\n    k = i\n"
    "    v = d[k - 1] * 0.9\n    if i == 7:\n"
    "        k = 100\n    d[k] = v + x[i]\n    if i == 7:\n        d[7] = v",
    "tuples": "d = {0: (x[0], 1.0)}\nfor i in range(1, n):\n    v, w = d[i - 1]\n"
    "    d[i] = (np.sin(v) + x[i], w * 0.9)\n"
    "d = {k: v[0] for k, v in d.items()}",
    "updates of what is read": "d = {0: x[0] * 1.0}\nfor i in range(1, n):\n    v = d[i - 1]\n"
    "    d[i] = v * 0.9 + x[i]\n    v += 1.0",
    "updates of what is given": "d = {0: x[0] * 1.0}\nfor i in range(1, n):\n    v = d[i - 1] * 0.9\n"
    "    d[i] = v\n    v += x[i]",
    "updates of what was there": "h = x[0] * 1.0\nd = {0: h}\nfor i in range(1, n):\n"
    "    d[i] = d[i - 1] * 0.9 + x[i]\nh += 1.0",
    "keys that are there": "d = {k: x[k] for k in range(5)}\nfor i in range(n):\n"
    "    d[i % 5] = d[(i + 1) % 5] * 0.9 + x[i]",
    "pairs of keys": "d = {(0, j): x[0, j] for j in range(3)}\nfor i in range(1, 8):\n    for j in range(3):\n"
    "        d[i, j] = 0.5 * (d[i - 1, j] + d[i - 1, (j + 1) % 3]) + x[i, j]",
    "at some trips": "d = {0: x[0]}\nfor i in range(1, n):\n    if i % 2 == 0:\n        d[i] = d[i - 2] * 0.9 + x[i]",
    "twice": "d = {0: x[0, 0]}\nfor i in range(1, n):\n    d[i] = d[i - 1] * 0.9 + x[i, 1]\n    d[i] = 0.5 * d[i]",
    "updates of numbers": "d = {0: x[0, 0]}\nfor i in range(1, n):\n    d[i] = d[i - 1] * 0.9\n    d[i] += x[i, 1]",
    "items that are removed": "d = {0: x[0]}\nfor i in range(1, n):\n    d[i] = d[i - 1] * 0.9 + x[i]\n"
    "    del d[i - 1]",
    "items that are swapped": "d = {0: x[0], 1: x[1]}\nfor i in range(2, n):\n    d[i] = d[i - 1] * 0.9 + d[i - 2]\n"
    "    d[i - 1], d[i - 2] = d[i - 2], d[i - 1]",
    "a missing key": "d = {1: x[0]}\ntry:\n    for i in range(2, n):\n        d[i] = d[i - 2] * 0.9 + x[i]\n"
    "except KeyError:\n    s = s + 50.0",
    "other shapes": "d = {0: x[0]}\nfor i in range(1, 8):\n    d[i] = np.concatenate([d[i - 1] * 0.9, x[i]])",
    "other kinds": "d = {0: 0.0}\nfor i in range(1, n):\n    d[i] = d[i - 1] * 0.9 + x[i]",
    "an attribute that is bound anew": "o = Box()\no.d[0] = x[0]\nfor i in range(1, n):\n    d, v = o.d, o.d[i - 1]\n"
    "    if i == 5:\n        o.d = dict(d)\n    o.d[i] = v * 0.9 + x[i]",
}


def program_of(body, tmp_path):
    lines = "".join(f"    {line}\n" for line in (body + END).split("\n"))
    return module_from(HEAD + lines, tmp_path).program


def argument(n=10):
    return np.random.default_rng(n).uniform(0.1, 1.0, (n, 3))


@pytest.mark.usefixtures("all_loops")
@pytest.mark.parametrize("name", [*ROLLED, *WRITTEN_OUT])
def test_values_and_gradients(name, tmp_path):
    program = program_of((ROLLED | WRITTEN_OUT)[name], tmp_path)
    assert_value_and_slope(program, argument())


@pytest.mark.usefixtures("all_loops")
@pytest.mark.parametrize("name", ROLLED)
def test_statements_do_not_grow_with_the_trips(name, tmp_path):
    program = program_of(ROLLED[name], tmp_path)
    few, many = (len(list(walk(parsed(program, argument(n)).program.body))) for n in (20, 40))
    assert few == many


def test_compiled_gradients_of_long_loops(tmp_path):
    x = argument(300)
    program = program_of(ROLLED["the one after"], tmp_path)
    sdfgad.check_grads(program, x)
    assert sdfgad.differentiate(program).value(x) == pytest.approx(program(x), rel=1e-12)


def test_long_loops_that_read_others_are_refused(tmp_path):
    some_trips = "d = {0: x[0]}\nfor i in range(1, n):\n    if i % 8 == 0:\n        d[i] = d[i - 8] * 0.9 + x[i]"
    program = program_of(some_trips, tmp_path)
    with pytest.raises(UnsupportedProgram, match="may lack the key of some trips") as caught:
        sdfgad.differentiate(program)(argument(300))
    assert ":13: d[i] = " in str(caught.value.where)
