"""Integer arrays whose elements are constants: shifts, shapes and axes that are read from them."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope

HEAD = """
import numpy as np

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
PAIRS = np.stack([CX, CY], axis=1)
SIZES = np.array([6, 4])

def program(x, s):
"""
PROGRAMS = {
    "a shift of an axis": "for k in range(9):\n"
    "    x = x + s * np.roll(x, CX[k], axis=0) * np.roll(x, CY[k], axis=1)\nreturn x",
    "shifts of two axes": "y = x * s\nfor k in range(9):\n    y = y + np.roll(x, PAIRS[k], axis=(0, 1)) * y\nreturn y",
    "iterated": "y = x * s\nfor i, j in PAIRS:\n    y = y * np.roll(x, (i, j), axis=(0, 1)) + s\nreturn y",
    "zipped": "y = x * s\nfor i, j, w in zip(CX, CY, (0.1, 0.3, 0.5)):\n"
    "    y = y + w * np.roll(x, i, 0) * s**j\nreturn y",
    "one of the function's own, in a list": "k = np.array([[i, j] for j in (0, 1, -1) for i in (0, 1, -1)])\n"
    "y = np.stack([np.roll(x * s**q, k[q], axis=(0, 1)) for q in range(9)])\nreturn np.sum(y * y[::-1], 0)",
    "negated": "return np.roll(x, -CX[1], axis=0) * x * s + np.roll(x, 2 * CY[2] - CX[3], axis=1)",
    "a shape": "half = np.array(x.shape) // 2\ny = np.zeros(half)\n"
    "y += x.reshape(half[0], 2, half[1], 2).sum(axis=(1, 3))\n"
    "return y * s",
    "a captured shape": "return np.reshape(x, SIZES[::-1]) * s * np.ones(SIZES[::-1])",
    "one extent": "return (x * s).reshape(SIZES[0] * 2, -1)",
    "axes": "return np.transpose(x * s, np.array([1, 0])) * np.sum(x, axis=CX[1])",
    "repetitions": "return np.repeat(x * s, np.arange(4), axis=1) + np.tile(x[:1, :1], SIZES + [0, 2])",
    "many repetitions": "return np.repeat(x.ravel() * s, np.arange(24) % 3)",
    "a list of them": "y = x * s\nfor k in CX[:4].tolist():\n    y = y + np.roll(x, k + 1, 0) * y\nreturn y",
    "updated before": "k = np.zeros(3, int)\nk[1:] = CX[1:3]\nk[2] += 3\nk *= 2\n"
    "return np.roll(x, k[2], 0) * x * s + np.roll(x, k[1], 1)",
    "updated in a loop": "k = np.array([1, 2])\ny = x * s\nfor t in range(3):\n    y = y + np.roll(x, k[0], 0) * y\n"
    "    k[0] += 1\nreturn y",
    "updated behind a loop": "k = np.array([1, 2])\ny = x * s\nfor t in range(3):\n"
    "    y = y + np.roll(x, k[0], 0) * y\n"
    "k[0] = 2\nreturn y * np.roll(x, k[0], 0)",
    "in each trip": "y = x * s\nfor t in range(3):\n    k = np.array([t, 2 * t])\n"
    "    y = y + np.roll(x, k[1], 0) * y\nreturn y",
    "of an inner loop": "y = x * s\nfor t in range(6):\n    for k in range(4):\n"
    "        y = y + 0.1 * np.roll(y, CX[k], 0) * x\nreturn y",
    "a Python number": "n = int(SIZES[1])\nk = n - 3\nreturn np.roll(x, k, 0) * x[: n - 1].sum() * s",
    "another dtype": "k = CX.astype(np.int8)\nreturn np.roll(x, k[1] + k[3] + k[1], 0) * x * s",
    "both branches": "k = np.array([1, 2])\nif s > 0.1:\n    y = np.roll(x, k[0], 0) * x\nelse:\n"
    "    y = np.roll(x, k[1], 0)\n"
    "return y * s",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_that_are_constants(name, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    x = np.random.default_rng(2).random((6, 4)) + 0.5
    assert_value_and_slope(program, x, 0.3)


CX = np.array([0, 1, -1])


def streamed(x, shifts):
    y = np.zeros_like(x)
    for k in range(3):
        y += (k + 1.0) * np.roll(x, shifts[k]) * np.roll(x, CX[k])
    return np.sum(y * y)


def test_other_elements_specialise_anew_in_compiled_code():
    x = np.random.default_rng(3).random(7)
    g = sdfgad.differentiate(streamed)
    for shifts in (CX, -CX, CX, CX + 2):
        assert g.value(x, shifts) == pytest.approx(streamed(x, shifts), rel=1e-14)
    other = CX.copy()
    other[0] = 3
    assert g.value(x, other) == pytest.approx(streamed(x, other), rel=1e-14)
    other[0] = 4
    assert g.value(x, other) == pytest.approx(streamed(x, other), rel=1e-14), "updated in place"
    before = CX.copy()
    try:
        CX[1] = 5
        assert g.value(x, other) == pytest.approx(streamed(x, other), rel=1e-14), "updated outside"
    finally:
        CX[:] = before


def positions(x, places):
    return np.sum(x[places] * x)


def test_arrays_whose_elements_decide_nothing_are_read_at_each_call():
    x = np.random.default_rng(3).random(3)
    g = sdfgad.differentiate(positions)
    for places in (np.array([0, 1, 2]), np.array([2, 0, 1])):
        assert g.value(x, places) == pytest.approx(positions(x, places))
    assert len(g._specialisations.found) == 1
    assert len(next(iter(g._specialisations.found.values()))) == 1


def an_array(x):
    return np.zeros(x) + x


def a_float(x):
    return np.roll(x, x[0])


def a_fraction(x):
    return np.zeros((2.5, 3)) + x[0]


def changing(x):
    k = np.array([1, 2])
    while np.sum(x) < 1e6:
        x = x + np.roll(x, k[0]) ** 2
        k[0] += 1
    return x


@pytest.mark.parametrize(
    ("program", "line", "message"),
    [
        (an_array, "return", "a number of type float64 stands where an integer must be known"),
        (a_float, "return", "a number of type float64 stands where an integer must be known"),
        (a_fraction, "return", "2.5 stands where an integer must be known"),
        (changing, "k[0] += 1", "an integer that must be known before the run is changed in this loop"),
    ],
)
def test_integers_that_are_not_known(program, line, message):
    with pytest.raises(UnsupportedProgram, match=message) as caught:
        sdfgad.differentiate(program).vjp(np.array([0.25, 0.75, 1.5]), cotangent=np.ones(3))
    assert str(caught.value.where) == line_of(program, line)
