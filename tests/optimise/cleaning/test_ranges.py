"""Checks that the program's own integers pass for certain are not made; all others are."""

from collections import Counter

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import Int, Op, postorder
from sdfgad.ir.program import computes
from sdfgad.optimise.cleaning.ranges import remove_decided
from sdfgad.parse.constants import Constants
from tests.helpers_ir import assert_like_python, parsed
from tests.helpers_passes import check_function


@pytest.fixture(autouse=True)
def nothing_is_a_constant(monkeypatch):
    # The parser knows the elements of most of these arrays, and does not check what is certainly in range.
    monkeypatch.setattr(Constants, "array", lambda *args, **keywords: None)


def checks(function, *args):
    """How many checks the program has, and how many of them stay."""
    before = parsed(function, *args).program
    made = [s for s in computes(before.body) if s.target.buffer == "status" and s.accumulate]
    left = [s for s in computes(remove_decided(before).body) if s.target.buffer == "status" and s.accumulate]
    return len(made), len(left)


def counted_up(x):
    at = np.arange(x.size)
    return x[at] * 2.0


def counted_back(x):
    at = -1 - np.arange(x.size)
    return x[at] * 2.0


def one_too_far(x):
    at = np.arange(x.size) + 1
    at[-1] = 0
    return x[at] * 2.0


def chosen(x):
    at = np.where(x > 0.5, 0, 2 * np.arange(x.size) % 5)
    return x[at] * 2.0


def grows_in_a_loop(x):
    at = np.arange(x.size)
    for _ in range(2):
        at = at + 1
    return x[at - 2] * 2.0


def moved_around(x):
    at = np.arange(x.size)
    for k in range(3):
        at[k] = at[k + 1]
    return x[at] * 2.0


def from_data(x):
    at = (x * 3.0).astype(np.int64)
    return x[at] * 2.0


def found_by_a_call(x):
    at = np.argsort(x)
    return x[at] * 2.0


def wraps_around(x):
    at = np.arange(x.size).astype(np.int8) * np.int8(100)
    at = at + np.int8(3)
    return x[at - at] * 2.0


def less_one_for_true(x):
    at = np.arange(2, 7)
    return x[at - at.astype(bool).astype(np.int64)] * 2.0


def less_one_for_the_sum_of_two_trues(x):
    true = np.ones(3, bool)
    return x[np.arange(4, 7) - (true + true).astype(np.int64)] * 2.0


def clipped(x):
    at = np.clip((x * 3.0).astype(np.int64), 0, x.size - 1)
    return x[at] * 2.0


def at_least_and_at_most(x):
    at = np.maximum((x * 3.0).astype(np.int64), -x.size)
    return x[np.minimum(at, 2)] * 2.0


def clipped_too_far(x):
    return x[np.clip((x * 3.0).astype(np.int64), 0, x.size)] * 2.0


def clipped_on_one_side(x):
    return x[np.maximum((x * 3.0).astype(np.int64), 0)] * 2.0


KNOWN = [counted_up, counted_back, chosen, moved_around, clipped, at_least_and_at_most]
# Indices of which the last one is out of range.
WRONG = [less_one_for_true, less_one_for_the_sum_of_two_trues]
UNKNOWN = [one_too_far, from_data, grows_in_a_loop, wraps_around, clipped_too_far, clipped_on_one_side]


@pytest.mark.parametrize("function", KNOWN, ids=lambda f: f.__name__)
def test_what_is_certain_is_not_checked(function):
    made, left = checks(function, np.ones(5))
    assert made
    assert not left


@pytest.mark.parametrize("function", [*UNKNOWN, *WRONG], ids=lambda f: f.__name__)
def test_what_may_be_out_of_range_is_checked(function):
    made, left = checks(function, np.ones(5))
    assert made
    assert made == left


@pytest.mark.parametrize("function", [*KNOWN, *UNKNOWN, found_by_a_call], ids=lambda f: f.__name__)
def test_results_stay(function, rng):
    x = rng.uniform(0.1, 0.9, 5)
    assert_like_python(function, x)
    check_function(function, (x,))


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_what_is_out_of_range_is_an_error(function):
    with pytest.raises(InvalidIndex, match="out of range") as caught:
        sdfgad.differentiate(function, reduce="sum")(np.ones(5))
    assert "test_ranges.py" in str(caught.value)


def all_that_is_not_zero_is_true(x):
    minus = np.full(3, -1)
    factor = np.where(np.any(minus.astype(bool)), 2.0, 1.0) * np.where(np.logical_and(0, minus), 3.0, 1.0)
    return x * factor[0] * np.where(np.logical_or(minus, 0)[0], 5.0, 1.0)


def test_truth(rng):
    x = rng.uniform(0.1, 0.9, 5)
    assert_like_python(all_that_is_not_zero_is_true, x)
    check_function(all_that_is_not_zero_is_true, (x,))


def test_an_index_from_the_caller_is_checked():
    assert checks(lambda x, at: x[at], np.ones(5), np.arange(3)) == (1, 1)


def test_maxima_of_what_is_not_known_stay():
    def largest(x):
        return np.max(np.where(x > 0.5, 2, 1) + np.arange(x.size)) * x

    program = parsed(largest, np.ones(5)).program
    assert remove_decided(program) == program


def operations(function, *args):
    """How often each operation occurs, once ranges have decided what they can."""
    body = remove_decided(parsed(function, *args).program).body
    nodes = [node for s in computes(body) for node in postorder(s.value, *map(Int, s.target.index))]
    return Counter(node.name for node in nodes if isinstance(node, Op))


def clipped_twice(x):
    at = np.clip((x * 3.0).astype(np.int64), 0, x.size - 1)
    return x[np.clip(at, 0, x.size)] * 2.0


def test_of_clips_those_that_change_nothing_go():
    names = operations(clipped_twice, np.ones(5))
    assert names["maximum"] == names["minimum"] == 1
    assert not names["wrap"]


def test_an_index_that_may_be_negative_wraps_around():
    assert operations(at_least_and_at_most, np.ones(5))["wrap"]


def by_certain_conditions(x):
    k = np.arange(x.size)
    return np.where(k >= 0, x, 3.0) + np.where(k > x.size, 5.0, 2.0 * x) + np.where(k > 1, x, 0.0)


def test_a_choice_that_is_certain_is_none(rng):
    assert operations(by_certain_conditions, np.ones(5))["select"] == 1
    x = rng.uniform(0.1, 0.9, 5)
    assert_like_python(by_certain_conditions, x)
    check_function(by_certain_conditions, (x,))


@pytest.mark.parametrize("function", [clipped_twice, clipped], ids=lambda f: f.__name__)
def test_results_of_clipped_indices(function, rng):
    x = rng.uniform(-2.1, 2.9, 5)
    assert_like_python(function, x)
    check_function(function, (x,))
