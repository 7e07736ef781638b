"""Loops that make products become statements that make all of them, with the same gradients; all else stays."""

import numpy as np
import pytest

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Loop, computes, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.spread_loops import spread_loops
from tests.helpers_passes import check_early, check_function, check_passes, normal
from tests.helpers_text import sample

N = 24
ARGS = (normal(N, N), normal(N, N, seed=2), normal(N, N, seed=3))


def loops(program):
    return [s.var for s in walk(program.body) if isinstance(s, Loop)]


def triangle(a, b, y):
    t = np.zeros(N)
    for i in range(N):
        for j in range(N):
            y[:i, j] += b[i, j] * a[i, :i]
            t[j] = np.dot(a[i, :i], b[:i, j])
        y[i] += t


def whole_rows(a, b, y):
    for j in range(N):
        y[j] = a @ b[j]


def check(function, *left):
    changed, _ = check_early(spread_loops, function, ARGS, ["a", "b", "y"])
    check_function(function, ARGS, "y", ["a", "b"])
    assert loops(changed) == list(left)
    return changed


def test_a_triangle():
    changed = check(triangle, "i")
    params = [[name for name, _ in s.params] for s in computes(changed.body) if len(s.params) > 1]
    # In the order of the axes of what is written, then what is summed over.
    assert params[-2][1] == "j"
    assert params[-1][0] == "j"


def test_all_trips_in_one_statement():
    assert "loop" not in program_text(check(whole_rows))


def with_a_number(a, b, y):
    for i in range(N):
        for j in range(N):
            t = 2.0 * b[0, j]
            t += np.dot(a[i + 1 :, i], y[i + 1 :, j])
            y[i, j] += t * b[i, j]


def test_a_number_of_each_trip_gets_an_axis():
    changed = check(with_a_number, "i")
    names = [name for name in changed.buffers if name.endswith("_all")]
    assert names
    assert all(changed.buffers[name].shape == (Lin(N),) for name in names)
    assert not {name.removesuffix("_all") for name in names} & changed.buffers.keys()


def number_goes_on(a, b, y):
    t = 0.0
    for j in range(N):
        t = 0.5 * t
        t += np.dot(a[j], b[j])
        y[j, 0] = t


def number_used_afterwards(a, b, y):
    t = 0.0
    for j in range(N):
        t = 0.0
        t += np.dot(a[j], b[j])
        y[j, 0] = t
    y[0, 1] = t


def carried(a, b, y):
    for j in range(N - 1):
        y[j + 1] = a @ y[j]


def shared(a, b, y):
    t = np.zeros(N)
    for j in range(N):
        t[:] = a @ b[j]
        y[j] += t


def moving(a, b, y):
    for j in range(2, N):
        y[j, :j] = a[:j, :j] @ b[j, :j]


def no_product(a, b, y):
    for j in range(N):
        y[j] = np.sin(a[j]) * b[j]


STAYS = [number_goes_on, number_used_afterwards, carried, shared, moving, no_product]


@pytest.mark.parametrize("function", STAYS, ids=lambda f: f.__name__)
def test_stays(function):
    changed, before = check_early(spread_loops, function, ARGS, ["a", "b"])
    assert program_text(changed) == program_text(before)


OF_DATA = {
    "for u < 6: Z[j, u] = X[k, u]": "for j < 20, u < 6: Z[j, u] = X[k_all[j], u]",
    "Z[j, k] = x[j]": "for j < 20: Z[j, k_all[j]] = x[j]",
    "for u < k: Z[j, u] = x[j]": "    for u < k: Z[j, u] = x[j]",
}


@pytest.mark.parametrize("line", OF_DATA)
def test_a_number_that_is_an_index(line):
    text = f"""
        for p < 20, u < 6: Z[p, u] = 0.0
        loop j < 20:
            k = i[j]
            for p < 6: W[j, p] = 0.0
            for p < 6, u < 6: W[j, p] += X[p, u] * Y[j, u]
            {line}
    """
    program, arrays, _ = sample(text)
    arrays["i"] %= 6
    changed = check_passes(program, arrays, passes=[spread_loops])
    assert program_text(changed).splitlines()[-1] == OF_DATA[line]
