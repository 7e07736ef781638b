"""Loops that sum products become statements that do, with the same gradients; all else stays."""

import numpy as np
import pytest

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Loop, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.sum_loops import sum_loops
from tests.helpers_passes import check_early, normal
from tests.helpers_text import sample

N = 24
ARGS = (normal(N, N), normal(N, N, seed=2), normal(N, N, seed=3))


def loops(program):
    return [s.var for s in walk(program.body) if isinstance(s, Loop)]


def triangle(a, b, y):
    for i in range(N):
        for k in range(N):
            y[i, : i + 1] += a[: i + 1, k] * b[i, k]


def two_products(a, b, y):
    for i in range(N):
        y[i] *= 0.5
        for k in range(N):
            y[i] -= a[:, k] * b[i, k] - b[:, k] * -a[i, k]


def of_a_whole_matrix(a, b, y):
    for k in range(N):
        for i in range(N):
            y[i] += 2.0 * a[i, k] * b[k]


@pytest.mark.parametrize(
    ("function", "left", "statements"),
    [(triangle, 1, 1), (two_products, 1, 2)],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_summed(function, left, statements):
    changed, _ = check_early(sum_loops, function, ARGS, ["a", "b", "y"])
    assert len(loops(changed)) == left
    assert program_text(changed).count("y[i, p_1] +=") + program_text(changed).count("y[i, p] +=") == statements


def reads_the_sum(a, b, y):
    for i in range(N):
        for k in range(N):
            y[i] += a[:, k] * y[i, k]


def moves(a, b, y):
    for k in range(N):
        y[k] += a[:, k] * b[0, k]


def backwards(a, b, y):
    for i in range(N):
        for k in range(N - 1, -1, -1):
            y[i] += a[:, k] * b[i, k]


def no_product(a, b, y):
    for i in range(N):
        for k in range(N):
            y[i] += a[:, k] * b[i, k] + np.sin(a[:, k])


def two_statements(a, b, y):
    for i in range(N):
        for k in range(N):
            y[i] += a[:, k] * b[i, k]
            y[0] = y[0] * 0.5


def assigns(a, b, y):
    for i in range(N):
        for k in range(N):
            y[i] = a[:, k] * b[i, k]


def empty(a, b, y):
    for _ in range(4):
        pass
    y += a * b


def differences(a, b, y):
    """Small, unlike the sums of their terms."""
    for i in range(N):
        for k in range(N):
            y[i] -= a[:, k] * b[i, k] - b[:, k] * a[i, k]


STAYS = [differences, reads_the_sum, moves, backwards, no_product, two_statements, assigns, empty]


@pytest.mark.parametrize("function", STAYS, ids=lambda f: f.__name__)
def test_stays(function):
    changed, before = check_early(sum_loops, function, ARGS, ["a", "b"])
    assert program_text(changed) == program_text(before)


def test_a_loop_of_nothing_stays():
    program, _, _ = sample("for p < 20: z[p] = x[p]")
    empty = Loop("k", Lin(3), (), ())
    assert sum_loops(program.with_body((*program.body, empty))).body[-1] == empty
