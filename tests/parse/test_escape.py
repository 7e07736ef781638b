"""Arrays of objects that methods bind anew where data decides, and update in place, with and without other names."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import module_from

HEAD = """
import functools
import numpy as np

class State:
    def __init__(self):
        self.x, self.y, self.kept = np.array([1.0, 2.0]), None, []

    def accept(self, v):
        if v < 0.5:
            self.x = self.x + v

    def reject(self, v):
        if v > 0.5:
            return 0.0
        self.x = self.x + v * v
        return 1.0

    def update(self, v):
        self.accept(v)
        self.x[0] += 1.0
        return self.x

    def keep(self, v):
        self.y = self.x
        self.accept(v)
        self.x[0] += 10.0

    def append(self, v):
        self.kept.append(self.x)
        self.accept(v)
        self.x[0] += 10.0

    def seen(self, v):
        w = self.x
        return dot(w, self.update(v))

    def __call__(self, v):
        return self.update(v)

    def each(self, a):
        for v in a:
            self.accept(v)
            self.x[0] += 1.0
            yield self.x

def dot(p, q):
    return np.sum(p * q)

def program(a):
    s = State()
"""
IN_LOOPS = "for k in range(a.shape[0]):\n        "
# Nothing but the object refers to the array that a method binds anew: it is updated in place.
ALONE = {
    "a side": IN_LOOPS + "s.x[:1] *= 0.9; s.accept(a[k])\n    return np.sum(s.x**2)",
    "a guard": IN_LOOPS + "s.reject(a[k]); s.x[1] += a[k]\n    return np.sum(s.x**2)",
    "its value": "t = 0.0\n    " + IN_LOOPS + "s.x[:1] *= 0.9; t += 2.0 * s.reject(a[k])\n    return s.x[0] * t",
    "two methods": IN_LOOPS + "s.update(a[k])\n    return np.sum(s.x**2)",
    "calls one by one": "s.reject(a[0]); s.x[0] *= 2.0; s.reject(a[2]); s.x[1] *= a[0]\n    return np.sum(s.x**2)",
    "an operand that is another array": "return dot(a[:2], s.update(a[1]))",
}
# Something else refers to it: it has the values that it has in Python, or the program is refused.
SHARED = {
    "an argument": "return dot(s.x, s.update(a[0])) + np.sum(s.x)",
    "a name": "y = s.x; s.update(a[0]); return np.sum(y) * np.sum(s.x)",
    "a part of a tuple": "t = (s.x, s.update(a[0])); return np.sum(t[0]) * np.sum(t[1] ** 2)",
    "items": "t = [s.update(v) for v in (a[0], a[1], a[2])]; return sum(np.sum(x) for x in t)",
    "a value of a dict": "t = {'a': s.x, 'b': s.update(a[1])}; return np.sum(t['a']) * np.sum(t['b'] ** 2)",
    "an attribute": IN_LOOPS + "s.keep(a[k])\n    return np.sum(s.y ** 2) + np.sum(s.x)",
    "a list": IN_LOOPS + "s.append(a[k])\n    return sum(np.sum(h ** 2) for h in s.kept) + np.sum(s.x)",
    "a method's array": "z = s.x.dot(s.update(a[1])); return z + np.sum(s.x)",
    "a target": "s.x += s.update(a[1]); return np.sum(s.x ** 2)",
    "map": "t = list(map(s.update, [a[0], a[1]])); return np.sum(t[0]) * np.sum(t[1] ** 2)",
    "a sum": "t = sum(s.update(v) for v in a); return np.sum(t) * np.sum(s.x)",
    "a sum of a map": "t = sum(map(s.update, a)); return np.sum(t) * np.sum(s.x)",
    "a fold": "t = functools.reduce(lambda p, q: p + q, (s.update(v) for v in a)); return np.sum(t) * np.sum(s.x)",
    "another object": "o = State(); o.x = s.x; s.update(a[1]); return np.sum(o.x ** 2) + np.sum(s.x)",
    "an item": "o = [s.x]; s.update(a[1]); s.update(a[0]); return np.sum(o[0] ** 2) + np.sum(s.x)",
    "a view": "v = s.x[:1]; s.update(a[1]); s.update(a[0]); return np.sum(v ** 2) + np.sum(s.x)",
    "the caller": "s.x = a; s.update(a[1]); return np.sum(a ** 2) + np.sum(s.x)",
    "another trip's": "p = s.x; t = 0.0\n    " + IN_LOOPS + "s.update(a[k]); t += dot(p, s.x); p = s.x\n    return t",
    "a generator": "t = 0.0\n    for x in s.each(a):\n        y = s.x; s.update(a[1]); t += dot(x, y)\n    return t",
    "a name of a callee": "return np.sum(s.seen(a[1])) + np.sum(s.seen(a[0])) + np.sum(s.x)",
    "an object that is called": "z = s.x; return dot(z, s(a[1]))",
    "the largest": "z = max([s.x, s.update(a[1])], key=lambda q: q[0]); return np.sum(z) + np.sum(s.x ** 2)",
}
POINTS = np.array([0.2, 0.7, 0.4, 0.9]), np.array([0.8, 0.3, 0.6, 0.1])


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE)
def test_an_array_of_an_object_alone_is_updated_in_place(tmp_path, body):
    program = module_from(HEAD + "    " + body, tmp_path).program
    gradient = sdfgad.differentiate(program, wrt="a")
    for a in POINTS:
        assert gradient.value(a) == pytest.approx(program(a.copy()), rel=1e-13)
        assert sdfgad.check_grads(program, a).error < 1e-6


@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_an_array_that_something_else_refers_to_is_that_of_python(tmp_path, body):
    program = module_from(HEAD + "    " + body, tmp_path).program
    gradient = sdfgad.differentiate(program, wrt="a")
    for a in POINTS:
        try:
            value = gradient.value(a)
        except SdfgadError:
            return
        assert value == pytest.approx(program(a.copy()), rel=1e-13)


SHAPED = """
import numpy as np

def program(a, visible):
    x, seen = np.ones(2), {}
    for k in range(visible.shape[0]):
        for j in range(visible.shape[1]):
            if visible[k, j]:
                if j in seen:
                    x[seen[j]] += a[k]
                else:
                    seen[j] = len(x)
                    x = np.append(x, a[j])
    return np.sum(x**2)
"""


@pytest.mark.parametrize("dtype", [bool, int])
def test_many_branches_on_an_array_of_the_user_decide_what_a_dict_holds(tmp_path, dtype):
    program = module_from(SHAPED, tmp_path).program
    gradient, a = sdfgad.differentiate(program, wrt="a"), np.linspace(0.5, 1.5, 13)
    for seed in (1, 2):
        visible = np.random.default_rng(seed).random((13, 6)).astype(float) < 0.4
        visible = visible.astype(dtype)
        assert gradient.value(a, visible) == pytest.approx(program(a, visible), rel=1e-13)
        assert sdfgad.check_grads(program, a, visible, wrt="a").error < 1e-6
