"""Assignments to the shape of an array: seen by all of its names, or refused."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.random.default_rng(3).uniform(0.5, 1.5, (3, 4))

RIGHT = {
    "other names": "h = x * 2.0\ng = h\nh.shape = 4, 3\ng[0] = 7.0\nreturn h * g",
    "several at once": "h = g = x * 2.0\nh.shape = g.shape = 12\nreturn h * g",
    "its views keep theirs": "h = x * 2.0\nu, v = h.T, h[:]\nh.shape = 12\nh += 1.0\nreturn u * v.T * h[0]",
    "nothing to squeeze": "h = x * 2.0\ng = np.squeeze(h)\nh.shape = 12\nreturn g * 1.0",
    "turned around": "h = x * 2.0\ng = np.rot90(h, 0)\nh.shape = 12\nreturn g * h[0]",
    "shifted along no axes": "h = x * 2.0\ng = np.fft.fftshift(h, ())\nh.shape = 12\nh += 1.0\nreturn g * h[0]",
    "by np.asarray": "h = x * 2.0\ng = np.asarray(h)\nh.shape = 4, 3\nreturn g * 1.0",
    "in a function": "def f(u):\n    u.shape = 4, 3\n    return u * u\nreturn f(x * 2.0)",
    "seen by a function": "h = x * 2.0\ndef f():\n    return h * 1.0\nh.shape = 4, 3\nreturn f()",
    "in each trip": (
        "h, s = x * 2.0, 0.0\nfor k in range(3):\n    s = s + h[-1, 0] * h.shape[0]\n"
        "    h.shape = h.shape[::-1]\nreturn s"
    ),
    "an alias, in each trip": (
        "h, s = x * 2.0, 0.0\ng = h\nfor k in range(3):\n    s = s + g[-1, 0]\n    h.shape = 12, 1\nreturn s"
    ),
    "new in each trip": (
        "s = 0.0\nfor k in range(40):\n    u = x * k\n    u.shape = 12\n    s = s + u[5] * u[k % 12]\nreturn s"
    ),
    "in a branch": (
        "h = x * 2.0\ng = h\nif x[0, 0] > 0.9:\n    h.shape = 12\nelse:\n    h.shape = 4, 3\nreturn np.sum(g[:3])"
    ),
    "in one branch": "h = x * 2.0\ng = h\nif x[0, 0] > 0.9:\n    h.shape = 12\nreturn np.sum(g[2:])",
}
REFUSED = {
    "in a list": "h = x * 2.0\nL = [h]\nh.shape = 12\nreturn L[0] * 1.0",
    "in a tuple in a dict": "h = x * 2.0\nd = {'k': (h, 1)}\nh.shape = 12\nreturn d['k'][0] * 1.0",
    "in the caller": "def f(u):\n    u.shape = 12\n    return u * 1.0\nh = x * 2.0\nreturn f(h) + np.sum(h[0])",
    "in the function around": "h = x * 2.0\ndef f():\n    h.shape = 12\n    return h * 1.0\nreturn f() + np.sum(h[0])",
    "as a default": "h = x * 2.0\ndef f(u=h):\n    return u * 1.0\nh.shape = 12\nreturn f()",
    "as a method": "h = x * 2.0\nf = h.sum\nh.shape = 12\nreturn f(0) * x",
    "in a partial": "h = x * 2.0\nf = partial(np.multiply, h)\nh.shape = 12\nreturn f(2.0)",
    "of one of several arrays": "h = x * 2.0\nL = [h if x[0, 0] > 0.9 else x * 3.0]\nh.shape = 12\nreturn L[0] * 1.0",
    "of a loop": "h = x * 2.0\nfor row in h:\n    h.shape = 4, 3\nreturn row * 1.0",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(
        f"from functools import partial\n\nimport numpy as np\n\ndef program(x):\n{lines}\n", folder
    ).program


@pytest.mark.parametrize("name", RIGHT)
def test_shapes_in_place(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    for x in (X, X - X[0, 0] + 0.8, X - X[0, 0] + 1.2):
        assert_value_and_slope(program, x)


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_in_place_of_arrays_that_others_hold(name, tmp_path):
    with pytest.raises(
        UnsupportedProgram, match="another shape in place, and other lists, objects, views or functions hold"
    ) as caught:
        parsed(program_of(REFUSED[name], tmp_path), X)
    assert ".shape = " in caught.value.where.text
    assert ".reshape(...)`" in caught.value.todo


def test_shape_in_place_of_one_of_several_arrays(tmp_path):
    body = "a, b = x * 2.0, x * 3.0\nL = [a if x[0, 0] > 0.9 else b]\nh = L[0]\nh.shape = 12\nreturn h * 1.0"
    with pytest.raises(UnsupportedProgram, match="`h` cannot be given another shape in place"):
        parsed(program_of(body, tmp_path), X)
