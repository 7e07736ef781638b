"""Copy propagation of arguments: only the reads that no update of a working copy reaches are redirected."""

import numpy as np
import pytest

from sdfgad.analysis.forward import forward_inputs
from sdfgad.ir.text import program_text
from tests.helpers_ir import assert_same_outputs, parsed
from tests.parse.test_copy_elimination import PROGRAMS

X = np.linspace(0.5, 1.5, 6)


def forwarded(function, *args):
    primal = parsed(function, *args)
    return primal, forward_inputs(primal.program, primal.context)


@pytest.mark.parametrize(("program", "size"), PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS])
def test_outputs_stay(rng, program, size):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    primal, found = forwarded(program, *args)
    assert_same_outputs(primal, found, *args)


def before_the_update(x, s):
    y = x * s
    x[:] = 0.0
    return x + y


def half_is_updated(x, s):
    x[:3] = 0.0
    return x[3:] * x[0]


def upwards(x, s):
    for i in range(5):
        x[i] = x[i + 1] * s
    return x


def downwards(x, s):
    for i in range(4, -1, -1):
        x[i] = x[i + 1] * s
    return x


def both_neighbours(x, s):
    for i in range(1, 5):
        x[i] = x[i - 1] * s + x[i + 1]
    return x


def second_sweep(x, s):
    for _ in range(2):
        for i in range(5):
            x[i] = x[i + 1] * s
    return x


def only_the_lower_triangle(x, s):
    for i in range(6):
        for j in range(i):
            x[i] -= x[j]
    return x


def in_a_branch(x, s):
    if s > 0.5:
        x[0] = 3.0
    return x * x[1]


def by_index_array(x, idx):
    x[idx[0]] = 3.0
    return x[1] * 2.0


@pytest.mark.parametrize(
    ("program", "args", "has", "has_not"),
    [
        (before_the_update, (X, 0.5), ["x_in[p] * s"], []),
        (half_is_updated, (X, 0.5), ["x_in[p_1 + 3] * x[0]"], []),
        (upwards, (X, 0.5), ["x_in[i + 1] * s"], ["x[i + 1] * s"]),
        (downwards, (X, 0.5), ["x[-i + 5] * s"], ["x_in[-i"]),
        (both_neighbours, (X, 0.5), ["x[i] * s", "x_in[i + 2]"], []),
        (second_sweep, (X, 0.5), ["x[i + 1] * s"], ["x_in[i + 1]"]),
        (only_the_lower_triangle, (X, 0.5), ["x[i] - x[j]"], ["x_in[i]", "x_in[j]"]),
        (in_a_branch, (X, 0.5), ["x_in[1]"], []),
        (by_index_array, (X, np.array([2])), [], ["x_in[1]"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_which_reads_are_redirected(program, args, has, has_not):
    primal, found = forwarded(program, *args)
    assert_same_outputs(primal, found, *args)
    text = program_text(found)
    for part in has:
        assert part in text
    for part in has_not:
        assert part not in text


def run_time_bound(x, n):
    for i in range(n):
        x[i] = x[i + 1] * x[i]
    return x


@pytest.mark.parametrize("n", [0, 1, 5])
def test_run_time_bounds(n):
    primal, found = forwarded(run_time_bound, X, n)
    assert_same_outputs(primal, found, X, n)
    assert "x_in[i + 1] * x_in[i]" in program_text(found)


def test_a_program_that_updates_nothing_is_left_alone():
    primal, found = forwarded(lambda x, s: x * s, X, 0.5)
    assert found is primal.program
