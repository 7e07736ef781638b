"""Views: what an update of an array changes in the names of its views, and the other way round, as in NumPy."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed

RNG = np.random.default_rng(12)
X = RNG.uniform(0.5, 1.5, (3, 4))
C = X + 1j * RNG.uniform(0.5, 1.5, (3, 4))
V, N = RNG.uniform(0.5, 1.5, 4), np.array([0, 1, 1, 0])
SQUARE, WIDE, DEEP = X[:, :3] * 1.0, X[None] * 1.0, np.stack([X, X * 2.0], 1)


def cases(*tables):
    """Expressions of the argument x, each with the argument."""
    pairs = [(text, x) for x, texts in tables for text in texts]
    return [pytest.param(text, x, id=f"{text}, {x.dtype}{list(x.shape)}") for text, x in pairs]


VIEWS = cases(
    (C, ["x.real", "x.imag", "np.real(x)", "np.imag(x)", "x.T.imag[1:]", "x[1].real", "x[0, 1, ...].real"]),
    (C, ["x.real.reshape(4, 3)", "x.real.astype(np.float64, copy=False)"]),
    (X, ["x.real", "np.real(x)", "x.conj()", "x.T", "np.transpose(x)", "x.swapaxes(0, 1)", "np.moveaxis(x, 0, 1)"]),
    (X, ["np.rollaxis(x, 1)", "x.mT", "x[None, :, ::2]", "x[::-1]", "np.flip(x, 0)", "np.rot90(x)", "np.rot90(x, 0)"]),
    (
        X,
        [
            "np.split(x, 3)[1]",
            "np.array_split(x, 2)[1]",
            "np.hsplit(x, 2)[1]",
            "np.vsplit(x, 3)[0]",
            "np.unstack(x)[1]",
        ],
    ),
    (X, ["np.asarray(x)", "np.asanyarray(x)", "np.array(x, copy=None, ndmin=3)", "np.nan_to_num(x, copy=False)"]),
    (X, ["np.atleast_2d(x)", "np.atleast_3d(x)", "np.expand_dims(x, (0, 2))", "np.squeeze(x)", "x.reshape(4, 3)"]),
    (
        X,
        [
            "np.broadcast_arrays(x, x)[0]",
            "np.broadcast_arrays(x, x[0])[0]",
            "x.ravel()",
            "np.ravel(x)",
            "x.reshape(-1)",
        ],
    ),
    (X, ["np.meshgrid(x, copy=False)[0]", "np.meshgrid(x, x[0], copy=False, sparse=True)[0]"]),
    (V, ["np.atleast_2d(x)", "np.meshgrid(x, x, copy=False, sparse=True)[1]", "np.meshgrid(x, copy=False)[0]"]),
    (WIDE, ["np.squeeze(x)", "x.squeeze(axis=0)", "x.ravel()"]),
    (V, ["np.float64(x)"]),
    (SQUARE, ["np.linalg.matrix_power(x, 1)"]),
    (DEEP, ["np.dsplit(x, 2)[1]", "np.swapaxes(x, 0, -1)", "x.transpose(1, 2, 0)"]),
)
READ_ONLY = cases(
    (X, ["(x.imag if x[0, 0] > 1 else np.imag(x))", "(np.diag(x[:, :3]) if x[0, 0] > 1 else x[:, 0])"]),
    (X, ["x.imag", "np.imag(x)", "np.diagonal(x)", "x.diagonal(1)", "np.diag(x)", "np.linalg.diagonal(x)"]),
    (X, ["np.broadcast_to(x, (2, 3, 4))", "np.broadcast_to(x, (3, 4))", "np.broadcast_to(x, x.shape).T"]),
)
# NumPy updates them, in one place for several elements; sdfgad does not.
REPEATING = cases(
    (X, ["np.broadcast_arrays(x, np.zeros((2, 1, 1)))[0]"]),
    (V, ["np.meshgrid(x, x, copy=False)[0]", "np.meshgrid(x, x, copy=False, indexing='ij')[1]"]),
)
COPIES = cases(
    (C, ["x.real.ravel()", "x.real.copy()", "np.ascontiguousarray(x.imag)", "np.conj(x)", "+x.real"]),
    (
        X,
        [
            "np.nan_to_num(x * 1.0, copy=False)",
            "np.nan_to_num(x)",
            "np.array(x)",
            "x.flatten()",
            "x.T.ravel()",
            "x.copy()",
        ],
    ),
    (X, ["x[:, 1:].ravel()", "x[:, 1:].reshape(-1)", "np.broadcast_to(x[0], (3, 4)).copy()", "x.astype(np.float64)"]),
    (V, ["np.diag(x)", "np.meshgrid(x, x)[0]", "np.meshgrid(x, x, sparse=True)[1]", "x[[0, 1]]", "np.take(x, [0, 1])"]),
    (V, ["np.clip(x, None, None)", "x.clip(0.0)", "np.pad(x, 0)", "np.roll(x, 0)", "math.prod([x])", "sum([x])"]),
    (V, ["np.choose(np.zeros(4, dtype=int), [x])", "np.choose(np.zeros((3, 1), dtype=int), [x])"]),
    (X, ["np.pad(x, ((0, 0), (0, 0)))", "np.roll(x, (), ())", "np.roll(x, 0, 0)", "np.tile(x, 1)"]),
    (SQUARE, ["np.linalg.matrix_power(x, 2)", "np.linalg.matrix_power(x, -1)"]),
    (V, ["np.array([x])", "np.broadcast_to(x, (4,)) * 1.0", "np.where(x > 1, x, x)", "np.concatenate([x])"]),
)


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"import math\n\nimport numpy as np\n\ndef program(x):\n{lines}\n", folder).program


@pytest.mark.parametrize(("text", "x"), VIEWS + READ_ONLY + REPEATING + COPIES)
def test_updates_of_the_array(text, x, tmp_path):
    program = program_of(f"r = {text}\nx *= 2.0\nx[..., 0] += x[..., 1]\nreturn r * 1.0", tmp_path)
    assert_value_and_slope(program, x)


@pytest.mark.parametrize(("text", "x"), VIEWS + COPIES)
def test_updates_of_the_view(text, x, tmp_path):
    program = program_of(f"x = x * 1.0\nr = {text}\nr *= 3.0\nr[...] = r * r\nreturn x * 2.0, r * 1.0", tmp_path)
    assert_value_and_slope(program, x, output="return[0]")


@pytest.mark.parametrize(("text", "x"), READ_ONLY + REPEATING)
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
    assert_value_and_slope(program, C)


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


def test_index_arrays_of_an_open_mesh_are_views(tmp_path):
    program = program_of(
        "rows, columns = np.ix_(x, x)\nx[0] = 3\ncolumns[0, 1] = 2\nreturn rows * 1 + columns, x * 1", tmp_path
    )
    assert_like_python(program, N)


def test_scalars_are_no_views(tmp_path):
    program = program_of("u, v, *_ = np.unstack(x)\nx += 1.0\nu += 2.0\nreturn u * v * x", tmp_path)
    assert_value_and_slope(program, V)


def windows(x, s):
    found = np.lib.stride_tricks.sliding_window_view(x, 3)
    x[2] = s * x[0]
    return np.sum(found * found * np.arange(3.0), axis=1)


def test_windows_are_views():
    x = np.random.default_rng(1).random(6)
    assert_value_and_slope(windows, x, 0.3)
