"""Phi nodes: names that several paths assign have NumPy's value, or reading them is an error at the user's line."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import Rebound, UnboundVariable, UnsupportedProgram
from tests.helpers import line_of, numpy_output
from tests.helpers_ir import outputs_of, parsed

ARGS = (np.array([0.5, 0.25, 1.5]), np.array([2.0, 3.0, 4.0]), 0.7)


def alias_in_a_branch(x, y, s):
    z = x
    if s > 0.5:
        z = y
    return z * x


def mixed_kinds(x, y, s):
    k = 2
    if s > 0.5:
        k = 0.5
    return x * k


def same_number(x, y, s):
    if s > 0.5:
        k = 2
    else:
        k = 2
    return x[k] * y[:k]


def narrow_and_wide(x, y, s):
    if s > 0.5:
        z = x.astype(np.float32)
    else:
        z = x
    return z


def updated_before_the_choice(x, y, s):
    x[0] = 7.0
    z = x if s > 0.5 else y
    return z * 2.0


def used_before_the_update(x, y, s):
    z = x if s > 0.5 else y
    w = z * 2.0
    x[0] = 7.0
    return w + x


def another_array_changes(x, y, s):
    z = x if s > 0.5 else x * 2.0
    y[0] = 7.0
    return z + y


def a_fresh_value_is_nobody_else(x, y, s):
    z = x * 1.0
    if s > 0.5:
        z = y * 2.0
    z[0] = 5.0
    return z + x + y


def rotated(x, y, s):
    for _ in range(4):
        x, y = y, x + s
    return x - y


def bound_in_a_loop_that_runs(x, y, s):
    for i in range(3):
        z = x[i] * s
    return z * x


def alias_carried(x, y, s):
    z = x
    for _ in range(3):
        w = z * y
        z = w + s
    return z + x


def scalar_copy_is_a_value(x, y, s):
    t = x[0] if s > 0.5 else y[0]
    x[0] = 9.0
    y[0] = 9.0
    return x * t


PROGRAMS = [
    alias_in_a_branch,
    mixed_kinds,
    same_number,
    narrow_and_wide,
    updated_before_the_choice,
    used_before_the_update,
    another_array_changes,
    rotated,
    bound_in_a_loop_that_runs,
    alias_carried,
    scalar_copy_is_a_value,
]


@pytest.mark.parametrize("s", [0.7, 0.3])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_value_is_numpys(program, s):
    args = (*ARGS[:2], s)
    found = outputs_of(parsed(program, *args), *args)["return"]
    if program is narrow_and_wide:
        # One dtype must do for both paths.
        assert found.dtype == np.float64
    np.testing.assert_array_equal(found, numpy_output(program, args))


# --- refusals


def changed_after_the_choice(x, y, s):
    z = x if s > 0.5 else y
    x[0] = 7.0
    return z * 2.0


def changed_after_a_branch(x, y, s):
    z = x
    if s > 0.5:
        z = y
    y[0] = 7.0
    return z * 2.0


def changed_in_the_next_trip(x, y, s):
    z = x if s > 0.5 else y
    for i in range(3):
        y[i] = z[0] * 2.0
    return y


def stale_helper(a):
    a[0] = 3.0
    return 1.0


def changed_by_a_helper(x, y, s):
    z = x if s > 0.5 else y
    w = stale_helper(x)
    return z * w


def update_of_a_choice(x, y, s):
    z = x if s > 0.5 else y
    z[0] = 7.0
    return x + y


def changed_argument(x, y, s):
    for i in range(3):
        if x[i] > 0.4:
            z = x
        else:
            z = y
        x[i] = 0.0
        y[i] = z[i]
    return y


def other_shape(x, y, s):
    if s > 0.5:
        z = x
    else:
        z = y[:2]
    return np.sum(z)


def other_rank(x, y, s):
    if s > 0.5:
        x = x[0]
    return np.sum(x)


def growing(x, y, s):
    for _ in range(3):
        x = np.concatenate((x, y))
    return np.sum(x)


def tuple_in_a_branch(x, y, s):
    pair = (x, y)
    if s > 0.5:
        pair = (y, x)
    return pair[0]


def one_branch(x, y, s):
    if s > 0.5:
        z = x
    return z * 2.0


def swapped_in_a_loop(x, y, s):
    for k in range(7):
        y[1:] = x[:-1] * 0.5 + s * k
        x, y = y, x
    return x - y


def rotated_in_a_loop(x, y, s):
    z = np.zeros(3)
    for k in range(5):
        z[1:] = x[:-1] * 0.5 + y[1:] * k
        x, y, z = y, z, x
    return x - y * z


# What follows such a choice is parsed for each side.
TOLD_APART = [
    changed_after_the_choice,
    changed_after_a_branch,
    changed_by_a_helper,
    changed_in_the_next_trip,
    changed_argument,
    update_of_a_choice,
    other_shape,
    other_rank,
    growing,
    tuple_in_a_branch,
    swapped_in_a_loop,
    rotated_in_a_loop,
]


@pytest.mark.parametrize("s", [0.7, 0.2])
@pytest.mark.parametrize("program", TOLD_APART, ids=lambda program: program.__name__)
def test_arrays_chosen_by_a_branch_are_told_apart(program, s):
    args = (*ARGS[:2], s)
    np.testing.assert_array_equal(outputs_of(parsed(program, *ARGS), *args)["return"], numpy_output(program, args))


def swapped_in_a_range(x, y, n, m):
    for k in range(n, m):
        y[1:] = x[:-1] * 0.5 + k
        x, y = y, x
    x[0] = np.sin(y[1])
    return x - y


def rotated_in_a_range(x, y, n, m):
    z = np.zeros(3)
    for k in range(m, n, -1):
        z[1:] = x[:-1] * 0.5 + y[1:] * k
        x, y, z = y, z, x
    x[0] = np.sin(y[1])
    return x - y * z


@pytest.mark.parametrize("bounds", [(0, 4), (0, 5), (2, 2), (1, 0), (4, 2), (5, 1), (7, 2)])
@pytest.mark.parametrize("program", [swapped_in_a_range, rotated_in_a_range])
def test_arrays_stay_where_a_range_ends_before_it_starts(program, bounds):
    args = (*ARGS[:2], *bounds)
    primal = parsed(program, *args, constant={"n", "m"})
    np.testing.assert_allclose(outputs_of(primal, *args)["return"], numpy_output(program, args))


def chosen_in_the_trip_before(x, y, s):
    z = y
    for i in range(3):
        x[i] = 0.5
        y[i] = z[i] * 2.0
        if y[i] > s:
            z = x
    return y


REFUSED = [(chosen_in_the_trip_before, "y[i] = z", UnsupportedProgram, "`z` may stand for several arrays")]


@pytest.mark.parametrize(("program", "text", "kind", "what"), REFUSED, ids=[c[0].__name__ for c in REFUSED])
def test_refusal_at_its_line(program, text, kind, what):
    with pytest.raises(kind, match=what) as caught:
        parsed(program, *ARGS)
    assert str(caught.value.where) == line_of(program, text)
    assert caught.value.todo


def test_name_that_one_branch_binds_is_checked_at_run_time():
    g = sdfgad.differentiate(one_branch, wrt="x", reduce="sum")
    np.testing.assert_array_equal(g(*ARGS), [2.0, 2.0, 2.0])
    with pytest.raises(UnboundVariable, match="`z` has no value here") as caught:
        g(*ARGS[:2], 0.2)
    assert str(caught.value.where) == line_of(one_branch, "return z")


def test_update_of_a_merged_value_of_its_own():
    found = outputs_of(parsed(a_fresh_value_is_nobody_else, *ARGS), *ARGS)["return"]
    np.testing.assert_array_equal(found, numpy_output(a_fresh_value_is_nobody_else, ARGS))


def roots_of(a):
    if a > 0.5:
        return [a]
    return [-a, 0.0, a]


def settled(x):
    change = 1.0
    while change > 1e-3:
        new = roots_of(x)[-1] * 0.9
        change, x = x - new, new
    return x


def test_results_of_several_lengths_are_named_as_such_in_loops():
    with pytest.raises(Rebound, match="what a function returns here is of different kinds") as caught:
        sdfgad.differentiate(settled)(0.8)
    assert line_of(roots_of, "if a > 0.5") in str(caught.value)


# --- zeros of either sign


def zeros_of_branches(x):
    if x[0] > 0.5:
        s = 0.0
    else:
        s = -0.0
    return np.copysign(x[1], s)


def zeros_of_an_expression(x):
    s, k = (0.0, 1) if x[0] > 0.5 else (-0.0, 1)
    return np.copysign(x[k], s)


def zeros_of_trips(x):
    s, t = 0.0, 0.0
    for i in range(5):
        t = t + np.copysign(x[i], s)
        s = -0.0
    return t


@pytest.mark.parametrize("first", [0.2, 0.7])
@pytest.mark.parametrize("program", [zeros_of_branches, zeros_of_an_expression, zeros_of_trips])
def test_zeros_of_either_sign_are_two_numbers(program, first):
    x = np.array([first, 0.7, 0.3, 0.4, 0.5])
    assert outputs_of(parsed(program, x), x)["return"] == program(x)


def test_compiled_zeros_of_either_sign():
    def both(x):
        return zeros_of_branches(x) + 2.0 * zeros_of_an_expression(x) + 4.0 * zeros_of_trips(x)

    for x in (np.array([0.2, 0.7, 0.3, 0.4, 0.5]), np.array([0.8, 0.7, 0.3, 0.4, 0.5])):
        assert sdfgad.differentiate(both).value(x) == pytest.approx(both(x), rel=1e-13)
