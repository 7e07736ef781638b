"""Closed forms of index arrays, found from their elements, and programs that index by such arrays."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import Compute, walk
from sdfgad.parse.patterns import pieces
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

N = np.arange(12)
PATTERNS = {
    "counting": (N, 1),
    "backwards": (11 - 2 * N, 1),
    "constant": (0 * N + 7, 1),
    "one number": (np.array([5]), 1),
    "no axes": (np.array(3), None),
    "repeated": (np.repeat(np.arange(4), 3), 1),
    "tiled": (np.tile(np.arange(4), 3), 1),
    "both": (np.tile(np.repeat(np.arange(2), 3), 2), 1),
    "periodic": ((N + 1) % 12, 2),
    "periodic in two axes": ((N[:, None] + N[:5] - 1) % 12, None),
    "clamped": (np.clip(N - 1, 0, 9), 3),
    "of images": (np.repeat(np.arange(3), 3)[:, None] + 2 * np.repeat(np.arange(4), 3), 1),
    "rows": (N[:6, None] * 4 + np.tile(np.arange(2), 3), 1),
    "bit-reversed": (np.array([0, 4, 2, 6, 1, 5, 3, 7]), 1),
    "many breaks": (np.array([0, 2, 3, 1, 7, 5, 9]), None),
    "not separable": (N[:, None] * N[:5], None),
    "empty": (np.empty(0, np.int64), None),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_pieces(name):
    array, count = PATTERNS[name]
    found = pieces([array])
    assert (None if found is None else len(found)) == count
    assert found is None or np.array_equal(rebuilt(found, 0, array.shape), array)


def rebuilt(found, number, shape):
    result = np.full(shape, -1)
    for piece in found:
        for p in np.ndindex(*piece.sizes):
            place = tuple(start + i for start, i in zip(piece.starts, p, strict=True))
            assert result[place] == -1
            result[place] = piece.element(number, tuple(map(Lin, p))).const
    return result


def test_two_arrays_are_cut_where_either_changes():
    found = pieces([(N + 1) % 12, (N + 10) % 12])
    assert [piece.sizes for piece in found] == [(2,), (9,), (1,)]
    for number, array in enumerate(((N + 1) % 12, (N + 10) % 12)):
        np.testing.assert_array_equal(rebuilt(found, number, (12,)), array)


def test_random_arrays_have_the_pieces_that_are_found():
    rng = np.random.default_rng(7)
    count = 0
    for _ in range(300):
        steps = rng.integers(-2, 3, 3)
        array = np.add.outer(steps[0] * np.arange(rng.integers(1, 4)), steps[1] * np.arange(rng.integers(1, 4))).ravel()
        array = np.roll(np.repeat(array, rng.integers(1, 3)), rng.integers(0, 3)) + steps[2]
        array[rng.integers(0, len(array))] += rng.integers(0, 2)
        found = pieces([array])
        count += found is not None
        assert found is None or np.array_equal(rebuilt(found, 0, array.shape), array)
    assert count > 100


HEAD = """
import numpy as np

def program(x, s):
    n, m = x.shape
    i, j = np.arange(n), np.arange(m)
    up, down, right = (i - 1) % n, (i + 1) % n, (j + 1) % m
"""
PROGRAMS = {
    "periodic": "return x[up] * x[down] * s + x[:, right] * x[up]",
    "time steps": "for t in range(4):\n    x = x + s * (x[up] + x[down] - 2 * x) * x[:, right]\nreturn x",
    "both axes": "return x[np.ix_(up, right)] * x + x[down[:, None], right] * s",
    "an element of each row": "return x[i, i % m] * x[up, (2 * i) % m] * s",
    "with an integer": "return x[1, right] * x[-2] * s + x[down, 1].sum()",
    "apart": "y = np.stack([x, x * s, x * x])\nreturn y[[0, 2, 1], :, right[:3]] * s",
    "from the end": "return x[[-1, 0, 1]] * x[-1 - i][:3] * s",
    "clamped": "return x[np.clip(i - 1, 0, n - 1)] * x[np.minimum(i + 1, n - 1)] * s",
    "images": "a, b = np.repeat(np.arange(2), 2), np.tile(np.arange(2), 2)\n"
    "c, d = np.repeat(np.arange(n - 1), m - 1), np.tile(np.arange(m - 1), n - 1)\n"
    "return x[a[:, None] + c, b[:, None] + d] * (x * s)[a[:, None] + c, b[:, None] + d]",
    "assigned": "y = np.zeros_like(x)\ny[down] = x * s\ny[:, right] += x[up] * y\nreturn y * x",
    "assigned twice": "y = x * s\ny[i // 2] = x * x\ny[i // 2] += x\nreturn y * x",
    "assigned images": "y = np.zeros(n * m)\ny[np.tile(i, m) * m + np.repeat(j, n)] = x.ravel() * s\n"
    "return y * x.T.ravel()",
    "to itself": "y = x * s\ny[down] = y\ny[up] = y * x\nreturn y",
    "added at": "y = x * s\nnp.add.at(y, down, x * y)\nnp.add.at(y, i // 2, x * x)\nreturn y",
    "of a known order": "p = np.array([2, 0, 3, 1, 5, 4])\nreturn x[p] * s * x[:, [2, 0, 1, 3]]",
    "one known": "k = (x[:, 0] > 0.8).astype(int)\nreturn x[i, k] * x[up, k] * s",
    "updated index": "p = np.arange(n)\ny = x * s\nfor t in range(3):\n    y = y + x[p] * y\n    p[0] = t\n"
    "    p[1] += 1\nreturn y",
    "updated between": "p = np.arange(n)\ny = x[p] * s\np[1:] = 0\nreturn y + x[p] * x",
    "chosen": "p = up\nif s > 0.2:\n    p = down\nreturn x[p] * x * s",
    "empty": "return np.sum(x[i[:0]]) + x * s",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    x = np.random.default_rng(2).random((6, 4)) + 0.5
    assert_value_and_slope(program, x, 0.3)


def test_gradients_of_compiled_programs(tmp_path):
    text = HEAD + textwrap.indent(PROGRAMS["time steps"], "    ")
    program = module_from(text, tmp_path).program
    rolled = module_from(
        text.replace("x[up]", "np.roll(x, 1, 0)")
        .replace("x[down]", "np.roll(x, -1, 0)")
        .replace("x[:, right]", "np.roll(x, -1, 1)"),
        tmp_path,
    ).program
    x = np.random.default_rng(2).random((6, 4)) + 0.5
    found, expected = (sdfgad.differentiate(f, reduce="sum", wrt="x")(x, 0.3) for f in (program, rolled))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def looks_up(program, *args):
    """Whether a program reads an element at a position that an array holds."""
    statements = [s for s in walk(parsed(program, *args).program.body) if isinstance(s, Compute)]
    return any(
        inner for s in statements for read in reads(s.value) for form in read.index for inner in form_reads(form)
    )


def form_reads(form):
    return [inner for atom, _ in form.terms if not isinstance(atom, str) for inner in reads(atom)]


@pytest.mark.parametrize(("name", "expected"), [("time steps", False), ("images", False), ("updated index", True)])
def test_index_arrays_with_closed_forms_are_not_read(name, expected, tmp_path):
    program = module_from(HEAD + textwrap.indent(PROGRAMS[name], "    "), tmp_path).program
    assert looks_up(program, np.ones((6, 4)), 0.3) == expected
