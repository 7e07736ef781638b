"""Dicts that loops fill, and of which they choose items, by keys that follow from counters; loops over dicts."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import walk
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope, parsed

HEAD = """
import types
import numpy as np

TABLE = {k: 0.5 * k + 1.0 for k in range(40)}
ORDER = np.array([7, 0, 3, 5, 1, 9, 2, 8, 6, 4])

class Box:
    def __init__(self):
        self.d, self.n, self.a0 = {}, 0, 1.0

    def put(self, k, v):
        self.d[k] = v
        self.n += 1

    def get(self, k):
        return self.d[k]

def fill(d, k, v):
    d[k] = v

def program(x):
    n, s, d = len(x), 0.0, {}
"""
FILL = "for i in range(n):\n    d[i] = np.sin(x[i]) * x[i] + x[0]\n"
TEXTS = "for i in range(n):\n    d[f'x{i}'] = np.sin(x[i]) + x[0]\n"
USE = "\nfor i in range(n):\n    s = s * 0.9 + d[i].sum() * d[i][0]\nreturn s"
ALL = "\nfor j, (k, v) in enumerate(d.items()):\n    s = s * 0.9 + v.sum() * (k + 2 * j)\nreturn s + len(d)"
ROLLED = {
    "arrays": FILL + USE,
    "another name": "e = d\n" + FILL + "for i in range(n):\n    s = s * 0.9 + e[i].sum()\nreturn s",
    "tuples": "for i in range(n):\n    d[i] = (np.sin(x[i]), i, 'a', None, 2.5, x[i] @ x[i])\n"
    "for i in range(n):\n    v, j, t, z, w, u = d[i]\n    s = s * 0.9 + v.sum() * j * w + u\nreturn s",
    "dicts": "for i in range(n):\n    d[i] = {'a': np.sin(x[i]), 'b': x[i] @ x[i]}\n"
    "for i in range(n):\n    s = s * 0.9 + d[i]['b'] * d[i]['a'].sum()\nreturn s",
    "integers": "for i in range(n):\n    d[ORDER[i % 10] + 10 * (i // 10)] = i\n    s = s + x[i, 0]\n"
    "for i in range(n):\n    s = s * 0.9 + x[d[i], 0] * i\nreturn s",
    "items over": FILL + ALL.strip(),
    "values over": FILL + "for v, r in zip(d.values(), x):\n    s = s * 0.9 + v @ r\nreturn s",
    "keys over": FILL + "for k in d:\n    s = s * 0.9 + d[k].sum() * k\nreturn s",
    "sorted keys": "for i in range(n):\n    d[(i * 7) % n] = np.sin(x[i]) * x[i]\n"
    "for k in sorted(d):\n    s = s * 0.9 + d[k].sum() * k\nreturn s",
    "reversed keys": FILL + "for k in reversed(d):\n    s = s * 0.9 + d[k].sum() * k\nreturn s",
    "pairs of keys": "for i in range(n):\n    for j in range(i):\n        d[i, j] = np.sin(x[i]) @ x[j]\n"
    "for (i, j), v in d.items():\n    s = s * 0.9 + v * i - j\n"
    "for i in range(1, n):\n    s = s + d[i, i - 1]\nreturn s",
    "both triangles": "for i in range(n):\n    for j in range(i, n):\n        v = np.sin(x[i]) @ x[j]\n"
    "        d[i, j] = v\n"
    "        d[j, i] = v\nfor i in range(n):\n    s = s * 0.9 + d[i, (i + 1) % n]\nreturn s + len(d)",
    "f-strings": TEXTS + "for i in range(n):\n    s = s * 0.9 + d['x%d' % i].sum() * i\nreturn s + d['x4'][1]",
    "texts that are formatted": "for i in range(n):\n    d['x{:03d}'.format(i)] = np.sin(x[i])\n"
    "for i in range(n):\n    s = s * 0.9 + d['x' + str(1000 + i)[1:] if n < 0 else f'x{i:03d}'].sum()\nreturn s",
    "texts that are joined": "for i in range(n):\n    d['x' + str(i)] = np.sin(x[i])\n"
    "for i in range(n):\n    s = s * 0.9 + d['x' + str(i)].sum()\nreturn s",
    "text items over": TEXTS + "for k, v in d.items():\n    s = s * 0.9 + v.sum()\nreturn s",
    "texts look up others": TEXTS + "e = {k: 1.5 * len(k) for k in d}\n"
    "for k, v in d.items():\n    s = s * 0.9 + v.sum() * e[k]\nreturn s",
    "texts that are passed": TEXTS + "def w(k, v):\n    return v.sum() + d[k][0]\n"
    "for k, v in d.items():\n    s = s * 0.9 + w(k, v)\nreturn s",
    "a dict by another's texts": TEXTS + "e = {}\nfor k, v in d.items():\n    e[k] = np.cos(v)\n"
    "for k, v in d.items():\n    s = s * 0.9 + v @ e[k]\nreturn s",
    "comprehensions": "d = {f'w{i}': (np.sin(x[i]) * x[0], i) for i in range(n)}\nfor k, (v, j) in d.items():\n"
    "    s = s * 0.9 + v.sum() * j\nreturn s + d['w3'][0][1] + len(d)",
    "negative keys": "for i in range(n):\n    d[-i] = np.sin(x[i]) * x[i]\n"
    "for i in range(n):\n    s = s * 0.9 + d[-i].sum() * i\nreturn s",
    "at some trips": "for i in range(n):\n    h = np.sin(x[i]) * x[i]\n    if i % 3 == 1:\n        d[i] = h" + ALL,
    "in branches": "for i in range(n):\n    h = np.sin(x[i]) * x[i]\n    if i < 4:\n        d[i] = h\n    else:\n"
    "        d[i] = h * 2.0" + USE,
    "keys that come again": "for i in range(n):\n    d[(i * 7) % 9] = np.sin(x[i]) * x[i]" + ALL,
    "keys from before": "d[3] = x[0] * 2.0\n" + FILL + ALL.strip(),
    "true and one": "d[True] = x[0] * 2.0\n" + FILL + USE.strip(),
    "a constant key, too": "d['last'] = x[0]\nfor i in range(n):\n    d['last'] = x[i] * 2.0\n    d[i] = np.sin(x[i])"
    + USE
    + " + d['last'].sum()",
    "neighbours": FILL + "for i in range(n):\n    s = s * 0.9 + d[(i - 1) % n] @ d[(i + 1) % n]\nreturn s",
    "where data decides": FILL
    + "for i in range(n):\n    if x[i, 0] > 0.5:\n        s = s * 0.9 + d[i].sum()\nreturn s",
    "whether there is one": "for i in range(0, n, 2):\n    d[i] = np.sin(x[i]) * x[i]\n"
    "for i in range(n):\n    if i in d:\n        s = s * 0.9 + d[i].sum()\nreturn s",
    "whether there is none": "for i in range(0, n, 2):\n    d[i] = np.sin(x[i]) * x[i]\n"
    "for i in range(n):\n    for k in (i - 1, i + 1):\n        if k not in d:\n            s = s * 0.9 + x[i, 0]\n"
    "        else:\n            s = s + d[k].sum()\nreturn s",
    "in an expression that leaves some out": FILL + "for i in range(n):\n    v = d[i - 1] if i > 0 else x[0]\n"
    "    s = s * 0.9 + v @ d[i] + (d[i + 1][0] if i + 1 in d else 1.0)\nreturn s",
    "removed later": FILL + "del d[4]" + ALL,
    "updated later": FILL + "d[2] += 1.0\nd[4][1] = x[0, 0]" + USE,
    "updated in a loop": FILL + "for i in range(n):\n    d[i] += x[i] * 3.0" + USE,
    "replaced in a loop": FILL + "for i in range(n):\n    d[i] = x[i] * 3.0 + s\n    s = 0.9 * s + x[i, 0]" + USE,
    "an attribute": "o = Box()\nfor i in range(n):\n    o.d[i] = np.sin(x[i]) * x[i]\n"
    "for i in range(n):\n    s = s * 0.9 + o.d[i].sum()\nreturn s",
    "a method": "o = Box()\nfor i in range(n):\n    o.put(i, np.sin(x[i]) * x[i])\n"
    "for i in range(n):\n    s = s * 0.9 + o.get(i).sum()\nreturn s + o.n",
    "a function": "for i in range(n):\n    fill(d, i, np.sin(x[i]) * x[i])" + USE,
    "its length": "for i in range(n):\n    d[i] = np.sin(x[i]) * len(d)" + USE,
    "in a while": "i = 0\nwhile i < n:\n    d[i] = np.sin(x[i]) * x[0]\n    i += 1" + USE,
    "stacked": FILL + "return np.stack(list(d.values())).sum() + np.array([v for v in d.values()])[2, 1]",
    "a table from outside": "for i in range(n):\n    s = s * 0.1 * TABLE[i] + x[i, 0] * TABLE[(i + 3) % n]\nreturn s",
    "a copy": FILL + "e = dict(d)\ne[3] = x[0]\ne[99] = x[1]" + USE + " + e[99].sum() + len(d)",
    "few of many": "for i in range(n):\n    for j in range(10):\n        d[i, j] = x[i, 0] * j\n"
    "for i in range(n):\n    s = s * 0.9 + d[i, 3]\nreturn s + len(d)",
}
WRITTEN_OUT = {
    "keys that come again in comprehensions": "d = {i % 7: np.sin(x[i]) * x[0] for i in range(n)}" + ALL,
    "a view that is made before": "w = d.keys()\nfor i in range(n):\n    d[i] = np.sin(x[i]) * len(w)" + USE,
    "a view of items": "w = d.items()\nfor i in range(n):\n    d[i] = np.sin(x[i])\n"
    "    s = s + len(list(w)) * x[i, 0]" + USE,
    "a method of it": "d[0], get = x[0], d.get\nfor i in range(n):\n    d[i] = np.sin(x[i]) + get(0)" + USE,
    "gone over in the loop": "for i in range(n):\n    d[i] = np.sin(x[i]).sum()\n"
    "    s = s + sum(d.values()) * x[i, 0]\nreturn s",
    "a key that may be there": "for i in range(n):\n    if i % 3 not in d:\n        d[i % 3] = np.sin(x[i])\n"
    "    s = s + x[i, 0]" + ALL,
    "removed": "for i in range(n):\n    d[i] = np.sin(x[i])\n    if i >= 3:\n        del d[i - 3]" + ALL,
    "its length, with keys that come again": "for i in range(n):\n    d[i % 5] = np.sin(x[i]) * len(d)" + ALL,
    "its length, with a key from before": "d[3] = x[0]\nfor i in range(n):\n    d[i] = np.sin(x[i]) * len(d)" + ALL,
    "changed otherwise, too": "d[0] = x[1]\nfor i in range(n):\n    d[i] = np.sin(x[i])\n    d |= {0: x[i]}" + USE,
    "a constant key that is read": "d['last'] = x[0]\nfor i in range(n):\n    d['last'] = x[i] + np.sin(d['last'])\n"
    "    d[i] = d['last'] * 1.0" + USE,
    "a constant key where data decides": "d['best'] = x[0]\nfor i in range(n):\n    d[i] = np.sin(x[i])\n"
    "    if x[i, 0] > 0.5:\n        d['best'] = x[i] * 2.0" + USE + " + d['best'].sum()",
    "values of two kinds": "for i in range(n):\n    h = np.sin(x[i])\n    if i < 4:\n        d[i] = h\n    else:\n"
    "        d[i] = h.sum()\nfor i in range(n):\n    s = s * 0.9 + np.sum(d[i])\nreturn s",
    "an array that is updated": "h = x[0] * 1.0\nfor i in range(n):\n    h += np.sin(x[i])\n    d[i] = h" + USE,
    "an array that is updated later": "h = x[0] * 1.0\nfor i in range(n):\n    h = np.sin(x[i]) * h\n"
    "    d[i] = h\nh += 1.0" + USE,
    "a dict that is changed later": "for i in range(n):\n    e = {'a': np.sin(x[i])}\n    d[i] = e\n"
    "    e['a'] = e['a'] * 2.0\n"
    "for i in range(n):\n    s = s * 0.9 + d[i]['a'].sum()\nreturn s",
    "replaced while gone over": FILL
    + "for k, v in d.items():\n    d[(k + 1) % n] = v * 0.3 + s\n    s = 0.9 * s + x[k, 0]"
    + USE,
    "a missing key": FILL + "try:\n    for i in range(n + 1):\n        s = s * 0.9 + d[i].sum()\nexcept KeyError:\n"
    "    s = s + 100.0\nreturn s",
    "attributes by texts": "o = Box()\no.a0 = x[0]\nfor i in range(n):\n    o.__dict__[f'a{i}'] = np.sin(x[i])\n"
    "    s = s + o.a0.sum()\nreturn s + o.a3.sum()",
    "removed where there is one": FILL + "for i in range(n):\n    if i + 2 in d:\n"
    "        s = s + d.pop(i + 2).sum()\n"
    "    if i in d:\n        s = s + 1.0\nreturn s + len(d)",
    "given where there is none": "d[4] = x[0]\nfor i in range(n):\n    if i not in d:\n"
    "        d[i] = np.sin(x[i]) * x[0]" + USE,
    "a memo": "def f(i):\n    if i not in d:\n        d[i] = np.sin(x[i]) * x[0]\n    return d[i]\n"
    "for i in range(n):\n    s = s * 0.9 + f(i % 6).sum()\nreturn s + len(d)",
    "a text that is compared": TEXTS
    + "for k, v in d.items():\n    s = s * 0.9 + v.sum() * (2.0 if k == 'x4' else 1.0)\nreturn s",
    "a text that is looked into": TEXTS
    + "for k, v in d.items():\n    if k.endswith('1'):\n        s = s * 0.9 + v.sum() * int(k[1:])\nreturn s",
    "the length of a text": TEXTS + "for k, v in d.items():\n    s = s * 0.9 + v.sum() * len(k)\nreturn s",
    "a text as a number": TEXTS
    + "for k, v in d.items():\n    try:\n        s = s * 0.9 + v.sum() * float(k[1:]) + float(k)\n"
    "    except ValueError:\n        s = s + 10.0\nreturn s",
    "a text that is repeated": TEXTS
    + "for k, v in d.items():\n    if k * 2 == 'x3x3' or '%s-' % k == 'x4-' or f'{k}-' == 'x6-':\n"
    "        s = s + 3.0\n    s = s * 0.9 + v.sum()\nreturn s",
    "a text after the loop": TEXTS
    + "for k, v in d.items():\n    s = s * 0.9 + v.sum()\nreturn s + d[k].sum() + len(k)",
    "a text that is carried": TEXTS
    + "last = 'x0'\nfor k, v in d.items():\n    s = s * 0.9 + v @ d[last]\n    last = k\nreturn s",
    "a text that data chooses": TEXTS + "best, top = 'x0', 0.0\nfor k, v in d.items():\n    if v[0] > top:\n"
    "        best, top = k, v[0]\nreturn d[best].sum()",
}


def program_of(body, tmp_path):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
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


@pytest.mark.parametrize("name", ["tuples", "pairs of keys", "a dict by another's texts", "updated in a loop"])
def test_compiled_gradients_of_long_loops(name, tmp_path):
    x = argument(40)
    program = program_of(ROLLED[name], tmp_path)
    sdfgad.check_grads(program, x)
    assert sdfgad.differentiate(program).value(x) == pytest.approx(program(x), rel=1e-12)


def keyed_by_data(x):
    d, s = {}, 0.0
    for i in range(300):
        if x[i] > 0.5:
            d[i] = np.sin(x[i])
    for v in d.values():
        s = s + v
    return s


def read_by_others(x):
    d, s = {}, 0.0
    for i in range(300):
        d[i] = x[i] * len(sorted(d))
        s = s + d[i]
    return s


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (keyed_by_data, "d[i] =", "chosen by an index that is known only at run"),
        (read_by_others, "d[i] =", "a list or dict is read in the loop that fills it"),
    ],
)
def test_refusals_of_long_loops(program, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(program)(np.linspace(0.1, 0.9, 300))
    assert str(caught.value.where) == line_of(program, line)


def test_long_loops():
    def program(x):
        d = {}
        for i in range(len(x)):
            d[i] = (np.sin(x[i]), x[i] @ x[i])
        s = 0.0
        for i in range(len(x)):
            v, w = d[i]
            s = np.sin(s) + w * v.sum()
        return s

    x = argument(400)
    assert sdfgad.differentiate(program).value(x) == pytest.approx(program(x), rel=1e-12)
    sdfgad.check_grads(program, x)


def events_at_some_trips(x):
    """What happens at two of a hundred trips splits the loop in five."""
    events, doses = {}, {40: x[0], 41: x[1]}
    for day, dose in zip((10, 25, 25), x, strict=False):
        events.setdefault(day, []).append(dose)
    y = np.array([9.0, 1.0])
    for day in range(100):
        for dose in events.get(day, []):
            y[0] -= dose
        y[1] += doses.get(day, 0.0)
        extra = doses.get(day)
        if extra is not None:
            y[0] += extra * y[1]
        y = y * 0.99 + 0.01 * x[:2]
    return np.sum(y**2)


def test_get_of_a_dict_splits_a_loop():
    x = np.linspace(0.2, 1.4, 6)
    assert len(str(sdfgad.explain(events_at_some_trips, x, stage="parsed")).splitlines()) < 90
    assert_value_and_slope(events_at_some_trips, x)
