"""Names that may stand for several arrays, one of which is updated: right, or refused."""

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray
from tests.helpers_ir import assert_like_python, assert_slope, parsed


def swapped(x, s):
    a, b, g = x[1] * 1.0, x[2] * 1.0, x[3] * 1.0
    for _ in range(8):
        g, a, b = a, b, g
        g = b
        g *= s
    return a + 2.0 * b + 3.0 * g


def bound_in_an_inner_loop(x, s):
    b, prev = x[1] * 1.0, x[0]
    for _ in range(7):
        for _ in range(6):
            prev = b
        b += s
    return prev + b


def chosen_at_run_time(x, s):
    b, c = x[1] * 1.0, x[2] * 1.0
    g = c
    for t in range(7):
        g = c
        c = b if np.sum(c) > 0.1 else x[t]
        b += s
    return b * b + c * g


def chosen_and_kept_in_a_list(x, s):
    c, g = x[1] * 1.0, x[2] * 1.0
    items = [c if np.sum(x[2]) > 0.1 else g]
    c *= s
    g *= 3.0
    return items[0] * 1.0


def arguments():
    return np.random.default_rng(3).uniform(-0.5, 0.5, (8, 3)), 0.7


@pytest.mark.parametrize("program", [swapped, bound_in_an_inner_loop])
def test_aliases_that_loops_carry(program):
    assert_like_python(program, *arguments())
    assert_slope(program, *arguments())


@pytest.mark.parametrize(
    ("program", "line"),
    [(chosen_at_run_time, "`c` may.*\n.*g = c"), (chosen_and_kept_in_a_list, "list may.*\n.*return")],
)
def test_aliases_that_have_changed(program, line):
    with pytest.raises(AmbiguousArray, match=f"{line}"):
        parsed(program, *arguments())


def stacked_after_a_change(x, s):
    c, g = x[1] * 1.0, x[2] * 1.0
    items = [c if np.sum(x[2]) > 0.1 else g, x[3]]
    c *= s
    return np.stack(items)


def test_items_that_have_changed():
    with pytest.raises(AmbiguousArray, match="an item may stand for several arrays"):
        parsed(stacked_after_a_change, *arguments())
