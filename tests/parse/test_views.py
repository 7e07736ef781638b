"""Views: what an update of an array changes in the names of its views, and the other way round, as in NumPy."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_slope, parsed

RNG = np.random.default_rng(12)
X = RNG.uniform(0.5, 1.5, (3, 4))
C = X + 1j * RNG.uniform(0.5, 1.5, (3, 4))


def cases(*tables):
    """Expressions of the argument x, each with the argument."""
    pairs = [(text, x) for x, texts in tables for text in texts]
    return [pytest.param(text, x, id=f"{text}, {x.dtype}{list(x.shape)}") for text, x in pairs]


VIEWS = cases(
    (C, ["x.real", "x.imag", "np.real(x)", "np.imag(x)", "x.T.imag[1:]", "x[1].real", "x[0, 1, ...].real"]),
    (C, ["x.real.reshape(4, 3)", "x.real.astype(np.float64, copy=False)"]),
    (X, ["x.real", "np.real(x)", "x.conj()"]),
)
READ_ONLY = cases((X, ["x.imag", "np.imag(x)"]))
COPIES = cases(
    (C, ["x.real.ravel()", "x.real.copy()", "np.ascontiguousarray(x.imag)", "np.conj(x)", "+x.real"]),
    (X, ["np.nan_to_num(x * 1.0, copy=False)"]),
)


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import math\n\nimport numpy as np\n\ndef program(x):\n{lines}\n", folder).program


@pytest.mark.parametrize(("text", "x"), VIEWS + READ_ONLY + COPIES)
def test_updates_of_the_array(text, x, tmp_path):
    program = program_of(f"r = {text}\nx *= 2.0\nx[0] += x[1]\nreturn r * 1.0", tmp_path)
    assert_like_python(program, x)
    assert_slope(program, x)


@pytest.mark.parametrize(("text", "x"), VIEWS + COPIES)
def test_updates_of_the_view(text, x, tmp_path):
    program = program_of(f"x = x * 1.0\nr = {text}\nr *= 3.0\nr[...] = r * r\nreturn x * 2.0, r * 1.0", tmp_path)
    assert_like_python(program, x)
    assert_slope(program, x, output="return[0]")


@pytest.mark.parametrize(("text", "x"), READ_ONLY)
@pytest.mark.parametrize("update", ["r += 1.0", "r[...] = 2.0", "r.fill(0.5)", "np.add(r, 1.0, out=r)"])
def test_updates_of_read_only_views_are_refused(text, x, update, tmp_path):
    with pytest.raises(UnsupportedProgram, match="a view that NumPy makes read-only") as caught:
        parsed(program_of(f"r = {text}\n{update}\nreturn r * 1.0", tmp_path), x)
    assert caught.value.where.text == update


UPDATES_OF_PARTS = [
    "x.real = np.abs(x)",
    "x.imag = 2.0 * x.real",
    "x.real += x.imag",
    "x.imag *= x.real",
    "x.real[0] = x.imag[1]",
    "x.real[x.real > 1] = 0.25",
    "x.real[[0, 0]] += 1.0",
    "np.add.at(x.imag, ([0, 0], [1, 1]), x.real[0, :2])",
    "x.T.real[1:] = x.imag.T[:-1]",
    "x.real.sort()",
    "np.multiply(x.real, 2.0, out=x.imag)",
    "np.copyto(x.imag, x.real[::-1])",
    "x.real[...] = x.real[::-1]",
    "r, i = x.real, x.imag\nr[:], i[:] = i, r",
    "r = x.real\nfor k in range(3):\n    r[k] = r[k - 1] * 2.0\n    x[k] *= 1j",
    "r, t = x.imag, 0.0\nfor k in range(3):\n    t = t + np.sum(r[k])\n    x *= 1.5\nx.real *= t",
    "r = x.real if np.sum(x.real) > 1 else x.imag\nx *= 2.0\nx += r",
    "u = x[x.real > 0.9]\nv = u.real\nu *= 2.0\nx.real[0, 0] = np.sum(v)",
    "for k in range(7):\n    x.imag[k % 3] = np.sin(x.real[k % 3])",
]


@pytest.mark.parametrize("body", UPDATES_OF_PARTS, ids=[body.replace("\n", "; ") for body in UPDATES_OF_PARTS])
def test_updates_of_real_and_imaginary_parts(body, tmp_path):
    program = program_of(f"x = x * 1.0\n{body}\nreturn x * x", tmp_path)
    assert_like_python(program, C)
    assert_slope(program, C)


REFUSED_PARTS = {
    "x[0, 0].real = 1.0": "what is assigned to is a computed value",
    "x[0, 0].real += 1.0": "what is assigned to is a computed value",
    "x.real += 1j": "cannot turn complex128 into float64",
    "(x * 2.0).imag = 1.0": "what is assigned to is a computed value",
}


@pytest.mark.parametrize("statement", REFUSED_PARTS)
def test_parts_that_cannot_be_assigned_to(statement, tmp_path):
    with pytest.raises(UnsupportedProgram, match=REFUSED_PARTS[statement]) as caught:
        parsed(program_of(f"{statement}\nreturn x * 1.0", tmp_path), C)
    assert caught.value.where.text == statement
