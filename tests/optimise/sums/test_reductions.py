"""What loops around library calls add to itself is a sum, so that threads can share them."""

import numpy as np
import pytest

from sdfgad.ir.program import Compute, walk
from sdfgad.optimise.sums.reductions import recognise_sums
from tests.helpers_text import program_of

SHAPES = {"m": (3, 3), "b": (3, 3), "v": (3, 3), "failed": (), "x": (8, 3, 3), "t": (3, 3), "s": ()}
SOLVE = "v, failed = solve(m, b)"


def signs(line, *before):
    """How each of the computations in a loop accumulates."""
    text = "\n    ".join(["loop k < 8:", *before, line])
    program = program_of(text, SHAPES, ["m", "b", "x"], ["t", "s"], dtypes={"failed": np.int64})
    return [s.accumulate for s in walk(recognise_sums(program).body) if isinstance(s, Compute)]


@pytest.mark.parametrize(
    "line",
    [
        "for p < 3, q < 3: t[p, q] = t[p, q] + v[p, q] * x[k, p, q]",
        "for p < 3, q < 3: t[p, q] = x[k, q, p] + t[p, q]",
        "s = s + v[0, 1]",
    ],
)
def test_a_sum_is_recognised(line):
    assert signs(line, SOLVE) == ["add"]


@pytest.mark.parametrize(
    "line",
    [
        "for p < 3, q < 3: t[p, q] = t[q, p] + v[p, q]",
        "for p < 3, q < 3: t[p, q] = t[p, q] + v[p, q] * t[p, q]",
        "for p < 3, q < 3: t[p, q] = t[p, q] * v[p, q]",
        "s = v[0, 1] + x[k, 0, 0]",
    ],
)
def test_something_else_stays(line):
    assert signs(line, SOLVE) == [None]


def test_loops_without_calls_stay():
    assert signs("s = s + x[k, 0, 1]") == [None]
