"""Products over two mirrored triangles become one over the square; all else stays."""

from importlib import import_module

import numpy as np
import pytest

import npbench_suite
from sdfgad.ir.program import Branch, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.products.mirror import merge_mirrored
from tests.helpers import with_target
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, tidy

mirroring = import_module("sdfgad.optimise.products.mirror")
N = 24
SHAPES = {"X": (20, N), "V": (N, 20), "W": (N, N), "Y": (20, N), "Z": (N, 20), "t": (N,), "s": (), "R": (20, N)}
INPUTS, OUTPUTS = ("X", "V", "W", "s"), ("Y", "Z", "R")
CLEAR = """
for q < 20, p < 24: Y[q, p] = 0.5
for p < 24, q < 20: Z[p, q] = 0.25
for q < 20, p < 24: R[q, p] = 1.0
for p < 24: t[p] = 0.0
"""


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    with_target(monkeypatch, matrix_work=1)


def check(text, changes=()):
    rng = np.random.default_rng(4)
    arrays = {name: np.asarray(rng.normal(size=SHAPES[name])) for name in INPUTS}
    for name, index, value in changes:
        arrays[name][index] = value
    program = program_of(CLEAR + tidy(text), SHAPES, INPUTS, OUTPUTS)
    changed = check_passes(program, arrays, passes=[merge_mirrored])
    return changed, program_text(changed), program_text(program)


WITH_DIAGONAL = {
    "to the right": """
        loop i < 24:
            for p < 24 - i: t[p] = W[i, i + p] * s
            for p < 24 - i, q < 20: Y[q, i + p] += t[p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += t[p] * X[q, i + p]
        """,
    "backwards, the other one first, with a constant factor": """
        loop backwards i < 24:
            for p < 24 - i: t[p] = W[i, i + p]
            for p < 24 - i, q < 20: Y[q, i] += -(t[p] * X[q, i + p])
            for p < 24 - i, q < 20: Y[q, i + p] += -(t[p] * X[q, i])
        """,
    "to the left": """
        loop i < 24:
            for p < i + 1: t[p] = W[i, p]
            for p < i + 1, q < 20: Z[i, q] += t[p] * V[p, q]
            for p < i + 1, q < 20: Z[p, q] += t[p] * V[i, q]
        """,
    "of different factors, one of which no trip changes": """
        loop i < 24:
            for p < 24 - i: t[p] = W[i, i + p] + 1.0
            for p < 24 - i, q < 20: Y[q, i + p] += t[p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * X[q, i + p]
        """,
}
WITHOUT = {
    "to the right": """
        loop i < 23:
            for p < 23 - i: t[p] = W[i, i + p + 1] * s
            for p < 23 - i, q < 20: Y[q, i + p + 1] += t[p] * X[q, i]
            for p < 23 - i, q < 20: Y[q, i] += t[p] * X[q, i + p + 1]
        """,
    "to the right, with a trip that does nothing": """
        loop i < 24:
            for p < 23 - i: t[p] = W[i, i + p + 1] * s
            for p < 23 - i, q < 20: Y[q, i + p + 1] += t[p] * X[q, i]
            for p < 23 - i, q < 20: Y[q, i] += t[p] * X[q, i + p + 1]
        """,
    "to the left": """
        loop i < 24:
            for p < i: t[p] = W[i, p]
            for p < i, q < 20: Z[i, q] += t[p] * V[p, q]
            for p < i, q < 20: Z[p, q] += t[p] * V[i, q]
        """,
}
INFINITE = [("X", (3, 7), np.inf), ("X", (5, 0), np.nan), ("V", (23, 2), -np.inf)]


@pytest.mark.parametrize("name", WITH_DIAGONAL)
@pytest.mark.parametrize("changes", [(), INFINITE], ids=["finite", "infinite"])
def test_with_the_diagonal(name, changes):
    changed, text, _ = check(WITH_DIAGONAL[name], changes)
    assert text.count("row < 24, column < 24") == 1
    assert not any(isinstance(s, Branch) for s in walk(changed.body))


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("changes", [(), INFINITE], ids=["finite", "infinite"])
def test_without_the_diagonal(name, changes):
    changed, _, _ = check(WITHOUT[name], changes)
    assert sum(isinstance(s, Branch) for s in walk(changed.body)) == 1


def test_what_is_done():
    _, text, _ = check(WITHOUT["to the left"])
    assert text.split("t[p] = 0.0\n")[1] == tidy("""
        for p_1 < 24, p_2 < 24: Z_all[p_1, p_2] = 0.0
        loop i < 24:
            for p < i: t[p] = W[i, p]
            for p < i: Z_all[p, i] += t[p]
            for p < i: Z_all[i, p] += t[p]
        for row < 24, q < 20: sum = sum of (V[row, q] * 0.0)
        if (sum == 0.0):
            for row < 24, column < 24, q < 20: Z[column, q] += (Z_all[row, column] * V[row, q])
        else:
            loop row_1 < 24:
                for column < row_1, q < 20: Z[column, q] += (Z_all[row_1, column] * V[row_1, q])
                for column < -row_1 + 23, q < 20: Z[column + row_1 + 1, q] += (Z_all[row_1, column + row_1 + 1] * V[row_1, q])
        """)  # noqa: E501


STAYS = {
    "part of a triangle": """
        loop i < 20:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * X[q, i + p]
        """,
    "a band": """
        loop i < 20:
            for p < 4, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
            for p < 4, q < 20: Y[q, i] += W[i, i + p] * X[q, i + p]
        """,
    "a gap of two": """
        loop i < 22:
            for p < 22 - i, q < 20: Y[q, i + p + 2] += W[i, i + p] * X[q, i]
            for p < 22 - i, q < 20: Y[q, i] += W[i, i + p] * X[q, i + p + 2]
        """,
    "other factors": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * R[q, i + p]
        """,
    "the same triangle twice": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
        """,
    "a factor that changes": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * R[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * R[q, i + p]
            for q < 20: R[q, i] = 2.0
        """,
    "a sum that is read": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * X[q, i + p]
            for q < 20: R[q, i] = Y[q, i]
        """,
    "a square of a factor": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += W[i, i + p] * W[i, i + p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += W[i, i + p] * W[i, i + p] * X[q, i + p]
        """,
    "factors of all parameters": """
        loop i < 24:
            for p < 24 - i, q < 20: Y[q, i + p] += R[q, p] * X[q, i]
            for p < 24 - i, q < 20: Y[q, i] += R[q, p] * X[q, i + p]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    _, text, before = check(STAYS[name])
    assert text == before


def test_little_work_stays(monkeypatch):
    with_target(monkeypatch, matrix_work=24 * 24 * 20 + 1)
    _, text, before = check(WITH_DIAGONAL["to the right"])
    assert text == before


@pytest.mark.parametrize("name", ["covariance", "correlation"])
def test_of_the_suite(name):
    entry = npbench_suite.load(name)
    args = (12, 20.0, np.random.default_rng(2).normal(size=(20, 12)))
    *_, changed = check_function(entry.program, args, entry.output, list(entry.arrays))
    assert "row < 12, column < 12" in program_text(changed)
