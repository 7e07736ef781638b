"""Items of lists, dicts and objects that loops and branches bind anew: carried from trip to trip, and merged."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram, UpdateOfCopy
from sdfgad.ir.program import Loop, walk
from sdfgad.parse import control
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, outputs_of, parsed

HEAD = """
import numpy as np
from dataclasses import dataclass
from types import SimpleNamespace

@dataclass
class Body:
    x: np.ndarray
    v: np.ndarray
    t: float = 0.0

    def step(self, dt):
        self.v = self.v - dt * self.x
        self.x = self.x + dt * self.v
        self.t += dt

class Optimiser:
    def __init__(self, w, rate):
        self.w, self.rate, self.moment = w, rate, np.zeros_like(w)
        self.steps = 0

    def update(self, gradient):
        self.steps += 1
        self.moment = 0.9 * self.moment + 0.1 * gradient
        self.w = self.w - self.rate * self.moment / (1 - 0.9**self.steps)

    def run(self, x, count):
        for k in range(count):
            self.update(np.cos(self.w) * x[k % 3])
            if np.sum(self.w) > 2.0:
                self.rate *= 0.5
        return self.w

def program(x, s):
"""
ROLLED = {
    "a dict": "p = {'u': x[0] * s, 'n': 1.0}\nfor t in range(300):\n    p['u'] = p['u'] + 0.01 * x[1] * p['u']\n"
    "    p['n'] = p['n'] * s\nreturn p['u'] * p['n']",
    "a list": "q = [x[0], x[1] * s]\nfor t in range(300):\n    q[0], q[-1] = q[1] * 0.9 + x[2], q[0] * s\n"
    "return q[0] + q[1]",
    "an object": "b = Body(x[0] * s, x[1])\nfor t in range(300):\n    b.step(0.01)\nreturn b.x * b.v * b.t",
    "a class": "return Optimiser(x[0] * s, 0.1).run(x, 300)",
    "a namespace": "n = SimpleNamespace(u=x[0], k=0)\nfor t in range(300):\n    n.u = n.u * 0.99 + x[1] * s\n"
    "    n.k += 1\n"
    "return n.u * n.k",
    "nested": "p = {'a': [x[0] * s, 1.0]}\nfor t in range(300):\n    p['a'][0] = p['a'][0] * 0.9 + x[1] * p['a'][1]\n"
    "    p['a'][1] *= 0.99\nreturn p['a'][0]",
    "in two loops": "p = {'u': x[0] * s}\nfor t in range(30):\n    for k in range(20):\n"
    "        p['u'] = p['u'] * 0.99 + x[1]\n"
    "    p['u'] = np.sin(p['u'])\nreturn p['u']",
    "in a branch": "p = {'u': x[0] * s, 'k': 0}\nfor t in range(300):\n    if np.sum(p['u']) > 2.0:\n"
    "        p['u'] = p['u'] * 0.5\n        p['k'] += 1\n    else:\n        p['u'] = p['u'] + x[1] * s\n"
    "return p['u'] * p['k']",
    "read in the test": "p = {'u': x[0] * s}\nwhile np.sum(p['u']) < 500.0:\n    p['u'] = p['u'] * 1.01 + s\n"
    "return p['u']",
    "with break": "p = {'u': x[0] * s}\nfor t in range(300):\n    p['u'] = p['u'] * 1.1\n"
    "    if np.sum(p['u']) > 9.0:\n"
    "        break\nreturn p['u']",
    "an array that is updated": "p = {'u': x[0] * s, 'v': x[1] * 1.0}\nfor t in range(300):\n"
    "    p['u'] += 0.01 * p['v']\n"
    "    p['v'] = p['v'] - 0.01 * p['u']\nreturn p['u'] + p['v']",
    "swapped": "p = {'a': x[0] * s, 'b': x[1] * 1.0}\nfor t in range(301):\n"
    "    p['a'], p['b'] = p['b'], p['a'] * 0.99\n"
    "return p['a'] - p['b'] * s",
    "with names": "p = {'u': x[0] * s}\nold = p['u']\nfor t in range(300):\n    old = p['u']\n"
    "    p['u'] = old * 0.9 + x[1]\n"
    "return p['u'] * old",
}
BRANCHES = {
    "one side": "p = {'u': x[0]}\nif s > 0.2:\n    p['u'] = x[1] * s\nreturn p['u'] * x[2]",
    "both sides": "p = [x[0], x[1]]\nif np.sum(x) > 1.0:\n    p[0] = p[1] * s\nelse:\n    p[1] = p[0]\n"
    "return p[0] + p[1] * s",
    "of two kinds": "p = {'u': 1}\nif s > 0.2:\n    p['u'] = x[1] * s\nelse:\n    p['u'] = x[0] * 2.0\nreturn p['u']",
    "an object": "b = Body(x[0] * s, x[1])\nif s > 0.2:\n    b.step(0.1)\nelse:\n    b.t = 2.0\nreturn b.x * b.v * b.t",
    "of an argument": "p = {'u': x}\nq = p\nif s > 0.2:\n    q['u'] = x * s\nreturn p['u'] * x",
    "in branches": "p = {'u': x[0]}\nif s > 0.2:\n    if s > 0.4:\n        p['u'] = x[1] * s\n    else:\n"
    "        p['u'] = x[2]\n"
    "return p['u'] * x[2]",
    "after it": "p = {'u': x[0] * 1.0}\nif s > 0.2:\n    p['u'] = x[1] * s\np['u'] = p['u'] * x[2]\n"
    "p['u'] += s\nreturn p['u']",
    "other shapes": "p = {'u': x[0]}\nif s > 0.2:\n    p['u'] = x * s\nreturn np.sum(p['u']) * x[2]",
}


def made(text, folder):
    return module_from(HEAD + textwrap.indent(text, "    "), folder).program


@pytest.mark.parametrize("name", ROLLED)
def test_items_that_loops_bind_anew(name, tmp_path):
    program = made(ROLLED[name], tmp_path)
    x = np.random.default_rng(2).random((3, 4)) + 0.5
    assert_value_and_slope(program, x, 0.3)
    body = parsed(program, x, 0.3).program.body
    assert any(isinstance(s, Loop) for s in walk(body))
    assert len(list(walk(body))) < 100


@pytest.mark.parametrize("name", BRANCHES)
def test_items_that_branches_bind_anew(name, tmp_path):
    program = made(BRANCHES[name], tmp_path)
    x = np.random.default_rng(2).random((3, 4)) + 0.5
    for s in (0.1, 0.3, 0.5):
        assert_value_and_slope(program, x, s)


BOUND_ANEW = {
    "bound anew instead of changed": "p = {'u': x[0]}\nif s > 0.2:\n    p['u'] = x[1]\nelse:\n    p = {'u': x[2]}\n"
    "return p['u']",
    "a list of it": "p = {'u': x[0]}\nq = [{'u': x[2]}]\nif s > 0.2:\n    p['u'] = x[1]\n    q[0] = p\n"
    "return q[0]['u'] * p['u']",
    "container that is bound anew": "b = Body(x[0], x[1])\n"
    "for t in range(1001):\n    b.step(0.01)\n    if np.sum(b.x) > 4:\n"
    "        b = Body(b.x * 0.9, b.v, b.t)\nreturn b.x * b.v * b.t",
    "object of each trip": "b = Body(x[0], x[1])\nfor t in range(1001):\n    b.step(0.01)\n"
    "    b = Body(b.x * 0.99, b.v + s * 0.01, b.t)\nreturn b.x * b.v * b.t",
    "inner list bound anew": "p = {'a': [x[0]*1.0, 1.0]}\nfor t in range(10):\n    p['a'][1] = p['a'][1] * 0.5\n"
    "    p['a'] = [p['a'][0] * 0.9, p['a'][1] + s]\nreturn p['a'][0] * p['a'][1]",
    "swapped lists": "p = {'a': [x[0]*1.0, 1.0], 'b': [x[1]*1.0, 2.0]}\nfor t in range(7):\n"
    "    p['a'], p['b'] = p['b'], p['a']\n    p['a'][1] = p['a'][1] * 0.5 + s\n"
    "return p['a'][0] * p['a'][1] + p['b'][0] * p['b'][1]**2",
    "swapped objects": "bs = [Body(x[0], x[1]), Body(x[1]*s, x[2])]\nfor t in range(7):\n    bs[0].step(0.1)\n"
    "    bs[0], bs[1] = bs[1], bs[0]\nreturn bs[0].x * bs[1].v",
    "rotated objects": "bs = [Body(x[0], x[1]), Body(x[1]*s, x[2])]\nfor t in range(1001):\n"
    "    bs[0].step(0.01)\n    bs = [bs[1], bs[0]]\nreturn bs[0].x * bs[1].v",
    "in an inner loop before it is bound anew": "p = {'u': x[0]}\nfor i in range(50):\n    for t in range(5):\n"
    "        p['u'] = p['u'] * 0.99 + 0.1\n    p = {'u': p['u'] * 0.99}\nreturn p['u']",
    "another name": "p = {'u': x[0]}\nq = {'u': x[2]}\nfor t in range(5):\n    p['u'] = p['u'] * 0.9\n"
    "    q = p\nreturn q['u'] * p['u']",
    "of a branch in a loop": "y = x[0] * 0\nfor i in range(50):\n    if np.sum(y) > 0.2:\n"
    "        q = {'u': x[0] * s}\n    else:\n        q = {'u': x[1] * s}\n"
    "    for t in range(50):\n        q['u'] = q['u'] * 0.99\n    y = y + q['u']\nreturn y",
    "after the loop that makes it": "for t in range(500):\n    q = {'u': x[0] * s}\nfor t in range(500):\n"
    "    q['u'] = q['u'] * 0.99\nreturn q['u']",
    "in a later branch": "for t in range(500):\n    q = {'u': x[0] * s}\nif s > 0.2:\n    q['u'] = q['u'] * 0.99\n"
    "return q['u']",
    "of the counter": "for t in range(500):\n    q = {'u': x[0] * s * t}\nq['u'] = q['u'] * 0.99\nreturn q['u']",
}


@pytest.mark.parametrize("name", BOUND_ANEW)
def test_containers_that_are_changed_and_bound_anew(name, tmp_path):
    program = made(BOUND_ANEW[name], tmp_path)
    x = np.random.default_rng(2).random((3, 4)) + 0.5
    for s in (0.1, 0.3):
        assert_value_and_slope(program, x, s)


MADE = {
    "a slice": "p = [x[0], x[1]]\nfor t in range(300):\n    q = p[:]\n    q[0] = q[0] * 0.99\n"
    "    p = q\nreturn p[0] * s",
    "a sum of lists": "p = [x[0], x[1]]\nfor t in range(300):\n    q = p + [s]\n    q[0] = q[0] * 0.99\n"
    "    p = q[:2]\nreturn p[0] * s",
    "a copy": "p = {'u': x[0]}\nfor t in range(300):\n    q = p.copy()\n    q['u'] = q['u'] * 0.99\n"
    "    p = q\nreturn p['u'] * s",
    "a new dict": "p = {'u': x[0]}\nfor t in range(300):\n    q = dict(p)\n    q['u'] = q['u'] * 0.99\n"
    "    p = q\nreturn p['u'] * s",
    "an unpacked dict": "p = {'u': x[0]}\nfor t in range(300):\n    q = {**p, 'v': s}\n"
    "    q['u'] = q['u'] * 0.99\n    p = {'u': q['u']}\nreturn p['u'] * s",
    "a dict of keywords": "p = {'u': x[0]}\nfor t in range(300):\n    q = dict(u=p['u'])\n"
    "    q['u'] = q['u'] * 0.99\n    p = q\nreturn p['u'] * s",
    "a union": "p = {'u': x[0]}\nfor t in range(300):\n    q = p | {'v': s}\n"
    "    q['u'] = q['u'] * 0.99\n    p = {'u': q['u']}\nreturn p['u'] * s",
    "a repeated list": "y = x[0]\nfor t in range(300):\n    p = [0.0] * 3\n    p[0] = s\n    p[1] = y * 0.5\n"
    "    y = p[0] + p[1]\nreturn y",
    "a repeated list in a branch": "y = x[0]\nif s > 0.2:\n    p = [0.0] * 3\n    p[0] = s\n    p[1] = y * 0.5\n"
    "    y = p[0] + p[1]\nreturn y",
    "a dict of pairs": "p = dict(zip(['a', 'b'], [x[0], x[1]]))\nfor t in range(300):\n"
    "    p['a'] = p['a'] * .99 + s\nreturn p['a'] * p['b']",
    "the rest of a list": "a, *r = [x[0], x[1], x[2]]\nfor t in range(300):\n    r[0] = r[1] * s + r[0] * .5\n"
    "return a * r[0]",
    "keywords": "def f(**kw):\n    for t in range(300):\n        kw['a'] = kw['a'] * 0.99\n"
    "    return kw['a']\nreturn f(a=x[0]) * s",
    "a part of an array": "p = np.split(x, 3)\nfor t in range(300):\n    p[0] = p[0] * 0.99 + p[1]\nreturn p[0] * s",
    "views of dicts": "p = {'a': x[0], 'b': x[1]}\nu, v = p.values()\n(i, w), _ = p.items()\n"
    "return sum(p.values()) * s + u * v * w + max({'a': s, 'b': 0.2}.values()) * len(i)",
}


@pytest.mark.parametrize("name", MADE)
def test_containers_that_expressions_make(name, tmp_path):
    program = made(MADE[name], tmp_path)
    x = np.random.default_rng(2).random((3, 4)) + 0.5
    for s in (0.1, 0.3):
        assert_value_and_slope(program, x, s)


FROM_OUTSIDE = {
    "a global dict": "STATE['u'] = STATE['u'] * 2.0\nreturn x[0] * STATE['u']",
    "a list in it": "STATE['n'][0] = STATE['n'][0] * 2.0\nreturn x[0] * STATE['n'][0]",
    "in a loop": "for t in range(300):\n    STATE['n'].append(s)\nreturn x[0]",
    "a default": "def f(v, acc=DEFAULT):\n    acc[0] = acc[0] + 1.0\n    return v * acc[0]\nreturn f(x[0])",
    "of a class": "b = Body(x[0], x[1])\nb.log['u'] = s\nreturn b.x",
}
OUTSIDE = HEAD.replace(
    "def program",
    """STATE = {'u': 1.0, 'n': [1.0, 2.0]}
DEFAULT = [1.0]
Body.log = {}

def program""",
)


@pytest.mark.parametrize("name", FROM_OUTSIDE)
def test_containers_from_outside_are_not_changed(name, tmp_path):
    text, x = OUTSIDE + textwrap.indent(FROM_OUTSIDE[name], "    "), np.ones((3, 4))
    module = module_from(text, tmp_path)
    found = outputs_of(parsed(module.program, x, 0.3), x, 0.3)["return"]
    np.testing.assert_allclose(found, module_from(text, tmp_path).program(x, 0.3), rtol=1e-14)
    assert (module.STATE, module.DEFAULT, module.Body.log) == ({"u": 1.0, "n": [1.0, 2.0]}, [1.0], {})


def test_copies_of_containers_from_outside_are_changed(tmp_path):
    text = (
        "a, b, c, d = dict(STATE), DEFAULT[:], STATE['n'] + [s], DEFAULT * 2\n"
        "a['u'], b[0], c[0], d[1] = x[0], x[1], s, x[2]\nreturn a['u'] * b[0] + c[0] * d[1]"
    )
    module = module_from(OUTSIDE + textwrap.indent(text, "    "), tmp_path)
    assert_like_python(module.program, np.random.default_rng(2).random((3, 4)), 0.3)
    assert module.STATE == {"u": 1.0, "n": [1.0, 2.0]}


def trained(params, x, y, rate):
    for k in range(20):
        error = x @ params["w"] + params["b"] - y
        params["w"] = params["w"] - rate * x.T @ error
        params["b"] = params["b"] - rate * np.sum(error)
    return np.sum((x @ params["w"] + params["b"] - y) ** 2)


def test_a_training_loop_in_compiled_code():
    rng = np.random.default_rng(4)
    args = {"w": rng.random(3), "b": 0.1}, rng.random((8, 3)), rng.random(8), 0.02
    found = sdfgad.check_grads(trained, *args)
    assert found.rate > 1.9
    assert args[0]["b"] == 0.1


def grows(p):
    for k in range(1000):
        p["u"] = np.append(p["u"], 1.0)
    return np.sum(p["u"])


def new_key(p, s):
    for k in range(1000):
        if s > k:
            p[k] = s
    return np.sum(p["u"])


@pytest.mark.parametrize(
    ("program", "args", "line", "what"),
    [
        (grows, (), "p[", "`.*u.*` changes its shape|is changed in a loop"),
        (new_key, (0.5,), "p[k]", "is changed in a loop|chosen by an index that"),
    ],
)
def test_what_cannot_be_carried(program, args, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(program)({"u": np.ones(3)}, *args)
    assert str(caught.value.where) in (line_of(program, line), line_of(program, "for"))


@pytest.mark.parametrize("first", ["a = {'u': x[0]}", "a = [x[0]]", "a = x[0]"])
def test_other_shapes_in_the_next_trip(first, tmp_path):
    item = {"{": "a['u']", "[": "a[0]", "x": "a"}[first[4]]
    text = (
        f"{first}\ny = 0.0\nfor t in range(500):\n    y += np.sum({item}) * s\n    if y > 5.0:\n"
        f"        {item} = x\nreturn y"
    )
    with pytest.raises(UnsupportedProgram, match="changes its shape in a branch or loop") as caught:
        parsed(made(text, tmp_path), np.ones((3, 4)), 0.3)
    assert caught.value.where.text == "if y > 5.0:"


def test_one_array_in_two_items_after_a_loop_without_trips(tmp_path):
    text = (
        "p = {'u': x[1] * 0.5, 'v': x[2] * 0.5}\nb = Body(x[2] * s, p['v'])\nwhile s > 0.25:\n"
        "    p['v'] = p['u'] * 0.5\n    p['u'], b.v = b.v, p['u']\np['v'] += x[1] * 0.1\nreturn b.v * 5.0"
    )
    assert_like_python(made(text, tmp_path), np.random.default_rng(2).random((3, 4)) + 0.5, 0.2)


def nested_checks(x):
    state = State()
    for k in range(5):
        if x[0] > 0.1 * k:
            state.a += x[0]
            if x[1] > 0.1 * k:
                state.b *= x[1]
                if x[2] > 0.1 * k:
                    state.c += state.a * state.b
                    if x[3] > 0.1 * k:
                        state.d -= state.c * x[3]
    return state.a + state.b * state.c - state.d


class State:
    def __init__(self):
        self.a, self.b, self.c, self.d = 1.0, 2.0, 3.0, 4.0


def test_all_items_of_nested_branches_are_found_in_one_attempt(monkeypatch):
    parsed_branches = []
    original = control._branch
    monkeypatch.setattr(control, "_branch", lambda *args: parsed_branches.append(args) or original(*args))
    x = np.array([0.35, 0.45, 0.25, 0.15])
    assert_like_python(nested_checks, x)
    # One attempt at the loop finds the items of all 4 branches, the second what the loop carries, the third is kept.
    assert len(parsed_branches) == 3 * 4
    assert_slope(nested_checks, x)


# One side of a branch makes an item refer to the array of a name, the other binds that name anew. What is done to the
# array in place after that is done to the item, too, where the first side was taken.
HOLDERS = {"list": ("[x, c]", "q[1]"), "dict": ("{'u': c}", "q['u']"), "object": ("SimpleNamespace(u=c)", "q.u")}


@pytest.mark.parametrize(("made", "item"), HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("other", ["d[::-1]", "x * 2.0", "np.sin(d)"])
@pytest.mark.parametrize("first", [0.3, -0.3])
def test_item_that_one_side_makes_the_array_of_a_name(made, item, other, first, tmp_path):
    text = f"""import numpy as np
from types import SimpleNamespace


def program(x):
    c, d = x + 1.0, x - 1.0
    q = {made}
    if x[0] > 0.0:
        {item} = d
    else:
        d = {other}
    d += 1.0
    d[0] = 3.0 * x[1]
    return np.sum({item} ** 2) + np.sum(d)
"""
    program, x = module_from(text, tmp_path).program, np.array([first, 1.1, 2.0])
    assert_value_and_slope(program, x)


def test_the_same_in_a_loop_is_refused(tmp_path):
    text = """import numpy as np


def program(x):
    c, d = x + 1.0, x - 1.0
    q = [x, c]
    for k in range(9):
        if x[0] > 1.5 - 0.5 * k:
            q[1] = d
        else:
            d = d[::-1]
        d += 1.0
    return np.sum(q[1])
"""
    with pytest.raises(UpdateOfCopy, match="an array that is chosen or re-bound at run time is updated in place"):
        parsed(module_from(text, tmp_path).program, np.array([0.3, 1.1, 2.0]))
