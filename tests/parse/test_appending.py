"""Lists that loops fill: the rows of an array where no item is updated afterwards, else item by item."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import walk
from sdfgad.parse import filled_loops
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed

HEAD = """
import numpy as np

def grow(v):
    v += 1.0

def count(log):
    return len(log["u"])

class Log:
    def __init__(self):
        self.u = []

    def count(self):
        return len(self.u)

class Tied:
    def __init__(self, box):
        self.u = []
        box[0] = lambda: len(self.u)

def program(x, s):
    h, L = x[0] * s, []
"""
STEP = "h = np.tanh(h * s + x[t]) + x[t] * h"
END = "\nreturn np.stack(L) * s"
ROLLED = {
    "at some trips": f"for t in range(8):\n    {STEP}\n    if t % 3 == 1:\n        L.append(h)\n    h = h * 0.9" + END,
    "at uneven trips": f"for t in range(8):\n    {STEP}\n    if t in (1, 2, 5):\n        L.append(h)" + END,
    "a list of another function": "M = []\ndef fill():\n    L, y = M, 0.0 * x[0]\n    for t in range(8):\n"
    "        L.append(x[t] * s)\n        y = y + len(M) * x[0]\n    return y\nreturn fill()",
    "in a dict, and read": f'log = {{"u": [h]}}\nfor t in range(8):\n    {STEP}\n    log["u"].append(h)\n'
    '    h = h * log["u"][-1]\nreturn np.stack(log["u"]) * s',
    "in a dict that is passed on": f'log = {{"u": []}}\nfor t in range(8):\n    {STEP}\n    log["u"].append(h)\n'
    '    h = h * count(log)\nreturn np.stack(log["u"]) * s',
    "in a dict with another name": f'log = {{"u": []}}\nother = log\nfor t in range(8):\n    {STEP}\n'
    '    log["u"].append(h)\n    h = h * len(other["u"])\nreturn np.stack(log["u"]) * s',
    "in a dict, with a name of its own": f'log = {{"u": []}}\nM = log["u"]\nfor t in range(8):\n    {STEP}\n'
    '    log["u"].append(h)\n    h = h * len(M)\nreturn np.stack(log["u"]) * s',
    "in an object that a function kept elsewhere can reach": f"box = [None]\nlog = Tied(box)\nfor t in range(8):\n"
    f"    {STEP}\n    log.u.append(h)\n    h = h * box[0]()\nreturn np.stack(log.u) * s",
    "in an object whose methods are called": f"log = Log()\nfor t in range(8):\n    {STEP}\n    log.u.append(h)\n"
    "    h = h * log.count()\nreturn np.stack(log.u) * s",
    "read in the loop": "L.append(h)\nfor t in range(8):\n    L.append(np.tanh(L[-1] * s + x[t]))" + END,
    "another name of the list": f"M = L\nfor t in range(8):\n    {STEP}\n    L.append(h)\n    h = h + len(M)" + END,
    "a list in a list": f"M = [L]\nfor t in range(8):\n    {STEP}\n    L.append(h)\n    h = h + len(M[0])" + END,
    "at others": f"for t in range(8):\n    {STEP}\n    if t < 3:\n        L.append(h)\n    elif t % 2:\n"
    "        L.append(h[::-1] * t)" + END,
    "at no trip": f"for t in range(8):\n    {STEP}\n    L.append(h)\n    if t > 9:\n        L.append(h * s)" + END,
    "the state": f"for t in range(8):\n    {STEP}\n    L.append(h)" + END,
    "the state before the step": f"for t in range(8):\n    L.append(h)\n    {STEP}" + END,
    "after a first item": f"L.append(h)\nfor t in range(8):\n    {STEP}\n    L.append(h)" + END,
    "what is computed of it": f"for t in range(8):\n    {STEP}\n    L.append(h[::2] * s)" + END,
    "a view of it": f"for t in range(8):\n    {STEP}\n    L.append(h[1:])" + END,
    "numbers": f"for t in range(8):\n    {STEP}\n    L.append(np.sum(h))\nreturn np.array(L) * s",
    "rows of an argument": "for t in range(8):\n    h = h * x[t] + s - x[t]\n    L.append(x[t])\nL.append(h)" + END,
    "two lists": f"M = []\nfor t in range(8):\n    {STEP}\n    L.append(h)\n    M.append(h * s)\n"
    "t = h\nfor a, b in zip(L, M):\n    t = t * a + b\nreturn t",
    "names that are swapped": "g = x[1] * s\nfor t in range(8):\n    g, h = h, g\n    h = np.tanh(h * s) + x[t]\n"
    "    L.append(g)" + END,
    "chosen and carried": "b, c = x[2] * 1.0, x[0] * s\nfor t in range(8):\n    if np.sum(b) > 0.2:\n"
    "        b = x[t] * 2.0\n    c, b = b, b * s + x[t]\n    L.append(b)\nreturn np.stack(L) * (b * b + c)",
    "in a loop": f"A = 0.0 * x\nfor k in range(3):\n    L = []\n    for t in range(8):\n        {STEP}\n"
    "        L.append(h)\n    A = A * s + np.stack(L)\nreturn A",
    "new items updated later": f"for t in range(8):\n    {STEP}\n    L.append(h * 2.0)\nL[2] += s\nL[0][1] = s" + END,
    "another array, updated": f"J = np.zeros((8, 3))\nfor t in range(8):\n    {STEP}\n    J[t] = h\n    L.append(h)\n"
    "return np.stack(L) * s + J",
    "a copy, updated": f"for t in range(8):\n    {STEP}\n    g = h.copy()\n    g[0] = s\n    L.append(h)\n"
    "    h = h * g" + END,
    "a new array, filled": "for t in range(8):\n    b = np.zeros(3)\n    for k in range(3):\n"
    "        b[k] = x[t, k] * s + k\n    b[0] += s\n    L.append(b)" + END,
    "an argument, updated before": "x[0] = s\nfor t in range(8):\n    h = h * s\n    L.append(x[t])" + END,
    "summed backwards": "for t in range(8):\n    L.append(x[t] * s)\nreturn sum(reversed(L))",
    "in a dict": f'log, dt = {{"u": [], "v": [h * 2.0], "dt": s}}, 0.1\nfor t in range(8):\n    {STEP}\n'
    '    log["v"].append(h * log["dt"])\n    log["u"].append(h)\nreturn np.stack(log["u"]) + np.stack(log["v"][1:])',
    "in a dict in a dict": f'log = {{"a": {{"u": []}}}}\nfor t in range(8):\n    {STEP}\n'
    '    log["a"]["u"].append(h)\nreturn np.stack(log["a"]["u"]) * s',
    "in an object": f"log = Log()\nfor t in range(8):\n    {STEP}\n    log.u.append(h)\nreturn np.stack(log.u) * s",
    "beside a time that begins as an integer": f"time, times = 0, []\nfor t in range(8):\n    {STEP}\n    time += s\n"
    "    times.append(time)\n    L.append(np.sum(h))\nreturn np.array(L) * np.array(times) + time",
    "before a time that begins as an integer": f"time, times = 0, []\nfor t in range(8):\n    {STEP}\n"
    "    times.append(time)\n    time = time + 0.5\n    L.append(h)\nreturn np.stack(L) * np.array(times)[:, None] * s",
    "beside an integer that becomes a number of NumPy's": "v, vs = -3, []\nfor t in range(8):\n"
    "    v = v + 0.1 * (x[t, 0] - np.tanh(v) * np.exp(-(v + 5) / 8))\n    vs.append(v)\n    L.append(x[t] * s)\n"
    "return np.stack(L) * np.array(vs)[:, None] + v",
    "before an integer that becomes a number of NumPy's": "v, vs = -3, []\nfor t in range(8):\n    vs.append(v)\n"
    "    v = v + 0.1 * x[t, 0]\n    L.append(x[t] * s)\nreturn np.stack(L) * np.array(vs)[:, None] + vs[0]",
    "an integer first, in choices of items": "time = 0\nfor t in range(8):\n    c = x[t]\n    if time > s:\n"
    "        c = x[t] * time\n    L.append(c)\n    time += s" + END,
    "joined": f"for t in range(8):\n    {STEP}\n    L.append(h)\nreturn np.concatenate(L) * s",
    # The loops that fill them stay; those in which they change are unrolled.
    "a list that shrinks under a loop": "for t in range(8):\n    L.append(x[t] * s)\ny = h\nfor a in L:\n"
    "    y = y * s + a\n    L.pop()\nreturn y",
    "a list that changes under a loop": "for t in range(8):\n    L.append(x[t] * s)\ny = h\n"
    "for k, a in enumerate(L):\n    y = y * s + a\n    if k == 2:\n        L[5] = x[0] * 7.0\nreturn y",
}
ONE_BY_ONE = {
    "a new array, updated after it was appended": "for t in range(8):\n    b = np.zeros(3)\n    b[:] = x[t]\n"
    "    L.append(b)\n    b[0] = s" + END,
    "an array from before the loop, filled": "b = np.zeros(3)\nfor t in range(8):\n    b[:] = x[t] * s\n"
    "    L.append(b)" + END,
    "filled by a loop around": "for k in range(2):\n    b = x[k] * s\n    L = []\n    for t in range(8):\n"
    "        b[k] = x[t, 0] * b[k + 1]\n        L.append(b)" + END,
    "one of two arrays in turn": "a, b = x[0] * s, x[1] * s\nfor t in range(8):\n    a, b = b, a\n"
    "    a[:] = a * b + x[t]\n    L.append(a)" + END,
    "updated as an item of a row": f"for t in range(8):\n    {STEP}\n    L.append(h)\nfor a in L:\n    a += 1.0\n"
    "return np.stack(L) * h",
    "updated in each trip": "for t in range(8):\n    h += x[t] * s\n    h *= h\n    L.append(h)" + END,
    "updated at the start of the next trip": f"for t in range(8):\n    h *= s\n    {STEP}\n    L.append(h)" + END,
    "updated after it was appended": f"for t in range(8):\n    {STEP}\n    L.append(h)\n    h += s" + END,
    "updated by a function": f"for t in range(8):\n    {STEP}\n    L.append(h)\n    grow(h)" + END,
    "updated after the loop": f"for t in range(8):\n    {STEP}\n    L.append(h)\nh *= s" + END,
    "updated by a view": f"for t in range(8):\n    {STEP}\n    L.append(h)\nv = h[1:]\nv[0] = s" + END,
    "updated by another name two trips later": "g = x[1] * s\nfor t in range(8):\n    g += s\n    g = h\n"
    f"    {STEP}\n    L.append(h)" + END,
    "the item is updated": f"for t in range(8):\n    {STEP}\n    L.append(h)\nL[-1] += s\nreturn np.stack(L) * h",
    "the argument is updated": "for t in range(8):\n    h = h * s\n    L.append(x[t])\nx[3] = s" + END,
    "chosen at run time, then updated": "for t in range(8):\n    b = x[t] * s\n    L.append(b)\n"
    "    if np.sum(b) > 10.0:\n        b = x[0] * 2.0\n    b += 1.0" + END,
    "carried by an inner loop that updates it": "b = x[2] * 1.0\nfor t in range(8):\n    for k in range(3):\n"
    "        b[0] += s\n        b = b * s\n    b = b + x[t]\n    L.append(b)" + END,
    "an argument that is updated first in the loop": "for t in range(8):\n    L.append(x[t])\n    x[t] *= s" + END,
    "without axes": "for t in range(8):\n    b = np.zeros(())\n    b[...] = x[t, 0]\n    L.append(b)\n"
    "    b[...] = s" + END,
    "a first item of another dtype": "h = x[0] > 0\nfor t in range(8):\n    L.append(h * 1)\n    h = h * s\n"
    "return (L[0] + L[0]) * s",
    "an integer first, in items": "time, whole = 0, np.arange(3)\nfor t in range(8):\n    L.append(whole * time)\n"
    "    time += s\nL[0][1] = 0.5" + END,
    "an integer first, in items, then a number of NumPy's": "time, whole = 0, np.arange(3)\nfor t in range(8):\n"
    "    L.append(whole * time)\n    time = time + x[t, 0]\nL[0][1] = 0.5" + END,
    "another name of the last item is updated": f"g = x[1]\nfor t in range(8):\n    g = h\n    {STEP}\n"
    "    L.append(h)\ng += 1.0" + END,
    "a value of the loop is used afterwards": f"for t in range(8):\n    prev = h\n    {STEP}\n"
    "    L.append(np.sum(h))\nreturn np.array(L) * np.sum(prev)",
    "a shape that depends on the trip beside it": "y = 0.0 * x[0]\nfor i in range(8):\n    L.append(x[i] * s)\n"
    "    z = np.zeros(i + 1)\n    for k in range(2):\n        for j in range(3):\n            y[j] = y[j] * s + k\n"
    "    y = y + np.sum(z)\nreturn np.stack(L) * y",
    "shapes that differ": "for t in range(8):\n    L.append(x[t, : 1 + t % 3] * s)\nreturn np.concatenate(L)",
    "in dicts that are made anew": f'log = {{"u": [h]}}\nfor t in range(8):\n    {STEP}\n'
    '    log["u"].append(h)\n    if t == 3:\n        log = {"u": [h * s]}\nreturn np.stack(log["u"]) * s',
}


def program_of(body, tmp_path):
    lines = "\n".join("    " + line for line in body.splitlines())
    return module_from(HEAD + lines, tmp_path).program


def arguments():
    return np.random.default_rng(3).uniform(-0.5, 0.5, (8, 3)), 0.7


def trips_of_loops(program):
    return [s.trips.const for s in walk(program.body) if hasattr(s, "trips") and s.trips.is_const]


@pytest.mark.parametrize("name", {**ROLLED, **ONE_BY_ONE})
@pytest.mark.parametrize("size", [1, 32])
def test_lists_are_those_of_python(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", size)
    program = program_of((ROLLED | ONE_BY_ONE)[name], tmp_path)
    assert_value_and_slope(program, *arguments())


@pytest.mark.parametrize("name", ROLLED)
def test_loops_stay(name, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ROLLED[name], tmp_path), *arguments()).program
    assert 8 in trips_of_loops(program)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_other_loops_are_unrolled(name, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ONE_BY_ONE[name], tmp_path), *arguments()).program
    assert 8 not in trips_of_loops(program)


def network(x, W, U):
    h, outputs = np.zeros(x.shape[1:]), []
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ W + h @ U)
        outputs.append(h)
    return np.mean(np.stack(outputs) ** 2)


def of_steps(steps):
    rng = np.random.default_rng(steps)
    return rng.normal(size=(steps, 2, 3)), rng.normal(size=(3, 3)), 0.3 * rng.normal(size=(3, 3))


def test_statements_do_not_grow_with_the_trips():
    few, many = (len(list(walk(parsed(network, *of_steps(steps)).program.body))) for steps in (20, 400))
    assert few == many


def test_gradients_of_compiled_lists():
    args = of_steps(300)
    sdfgad.check_grads(network, *args)
    value, _ = sdfgad.differentiate(network).value_and_grad(*args)
    assert value == pytest.approx(network(*args), rel=1e-12)


def test_a_short_loop_is_unrolled():
    def program(x):
        items = []
        for k in range(5):
            items.append(x * k)
        return np.stack(items)

    assert trips_of_loops(parsed(program, np.ones(3)).program) == []
    assert_like_python(program, np.ones(3))


# --- lists and dicts where the parser goes back


def filled_by_while(x):
    items, k = [], 0
    while k < 20:
        items.append(x * k)
        k += 1
    return np.stack(items)


def filled_before_the_paths_part(x, y):
    items, names = [], {"first": x}
    items.append(y)
    z = x if np.sum(x) > 0.0 else y
    names["first"] = x * 3.0
    z += 1.0
    items.append(z)
    return np.stack(items) * names["first"]


def of_a_list_from_elsewhere(x):
    items = [x, x * 2.0][:1]
    k = 0
    while k < 20:
        items.append(x * k)
        k += 1
    return np.stack(items)


@pytest.mark.parametrize("program", [filled_by_while, of_a_list_from_elsewhere])
def test_going_back_takes_items_away(program):
    x = np.random.default_rng(0).normal(size=3)
    assert_value_and_slope(program, x)


def test_paths_that_part_do_not_share_changes():
    x = np.random.default_rng(0).normal(size=3)
    for sign in (1.0, -1.0):
        assert_value_and_slope(filled_before_the_paths_part, sign * x, x + 1.0)


def test_an_arm_that_changes_a_list():
    def program(x):
        items = [x, x * 2.0]
        z = items.pop() if np.sum(x) > 0.0 else x
        return z + items[-1]

    for x in (np.ones(3), -np.ones(3)):
        assert_like_python(program, x)


def sum_of_one(x):
    total = sum([x[0]])
    total += 1.0
    return total * x


def test_a_sum_is_a_new_array():
    x = np.random.default_rng(0).normal(size=(3, 2))
    assert_value_and_slope(sum_of_one, x)


def in_batches(x):
    total, batch = 0.0, []
    for k, value in enumerate(x):
        batch.append(value * k)
        if len(batch) == 3:
            total = total * 0.5 + np.prod(batch)
            batch = []
    return total + sum(batch)


def begun_anew(x):
    rows = [x[:2] * 0.5]
    for value in x:
        rows.append(x[:2] * value)
        rows = []
    return value + sum(np.sum(row) for row in rows)


@pytest.mark.parametrize("program", [in_batches, begun_anew])
def test_lists_that_a_loop_begins_anew(program):
    """Each attempt to parse a peeled trip makes another list: the parser looked for that of the last one for ever."""
    x = np.random.default_rng(3).uniform(0.5, 1.5, 20)
    assert_value_and_slope(program, x)
