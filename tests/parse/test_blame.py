"""Branches on data that a call decides, as what their sides leave cannot be merged."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ShapeMismatch, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

INPUTS = [np.array(v) for v in ([1.3, 0.7, 0.9], [-1.2, 0.4, 0.3], [0.8, -0.6, 0.5], [1.4, 0.7, -0.9])]
RIGHT = []


def right(program):
    RIGHT.append(program)
    return program


@right
def a_length_after_an_early_return(x):
    if x[0] <= 0:
        return 0.0 * x[1]
    n = int(x[0] + 4)
    z = np.zeros(n)
    for i in range(n):
        z[i] = x[1] * i + x[0]
    return np.sum(z**2)


@right
def a_length_in_a_helper_under_a_test(x):
    def ramp(n, v):
        return np.sum(v * np.arange(int(n)))

    s = x[0]
    if x[1] > 0:
        s = s + ramp(x[2] * 5 + 6, x[1])
    return s * x[1]


@right
def a_length_in_a_branch_of_a_branch(x):
    s = x[0] ** 2
    if x[0] > 0:
        s = s * x[1]
        if s > 0:
            s += np.sum(x[2] * np.ones(int(s + 2.5)))
    return s


@right
def a_length_of_values_of_the_branch(x):
    s = 0.0
    if x[0] > 1.0:
        y = x * x[1]
        s = np.sum(np.zeros(int(y[0] + 2)) + y[1])
    return s + x[2]


@right
def results_of_two_shapes(x):
    if np.sum(x) > 0:
        return x[:2] ** 2
    return x * 2


@right
def a_list_or_a_dict(x):
    out = [x[0], x[1]] if x[0] > 0 else {"a": x[2]}
    return out[0] if x[0] > 0 else out["a"] ** 2


@right
def an_array_by_another_name_is_updated(x):
    a, c = x[:2].copy(), x[1:].copy()
    y = a if x[0] > 0 else c
    y[0] = 5 * x[1]
    return np.sum(a) * np.sum(c**2)


@right
def items_before_others(x):
    h = [x[0]]
    if x[1] > 0:
        h.insert(0, x[1] ** 2)
    if x[2] > 0:
        h.append(x[2])
        h.reverse()
    return h[0] * 3 + h[-1] ** 2 * len(h)


@right
def a_key_that_only_one_side_sets(x):
    u = {}
    if x[0] > 0:
        u["a"] = x[1]
    return sum(u.values(), x[2]) * len(u)


@right
def a_loop_that_ends_on_one_side_only(x):
    if x[0] <= 0:
        return x[1]
    r = 1.0
    while abs(r * r - x[0]) > 1e-9:
        r = 0.5 * (r + x[0] / r)
    return np.sum(np.ones(int(r + 3)) * r)


@right
def an_operand_that_decides(x):
    y = x[0] > 0 and np.zeros(int(x[1] + 3)) + x[2]
    return np.sum(y) * x[2]


@right
def none_or_an_array(x):
    y = None
    if x[1] > 0:
        y = np.outer(x, x)
    return x if y is None else y @ x


@right
def in_trips_that_are_written_out(x):
    h = [1.0]
    for k in range(3):
        if x[k] > 0:
            h.insert(0, h[0] * x[k])
        else:
            h = [*h[1:], x[k]]
    return np.array(h) * np.arange(len(h))


@right
def what_comes_of_data_before(x):
    y = np.cumsum(x) ** 2
    if np.max(y) > 1.0:
        y = y[y > np.mean(y)]
    return np.sum(np.outer(y, y) @ np.arange(len(y)))


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_as_in_python(program):
    for x in INPUTS:
        assert_value_and_slope(program, x, tolerance=1e-8)


def test_a_call_takes_the_program_of_its_sides():
    # The loop of the first program would not end for the second call.
    g = sdfgad.differentiate(a_loop_that_ends_on_one_side_only)
    for x in (*INPUTS, *INPUTS[::-1]):
        steps = 1e-6 * np.eye(3)
        slopes = [(RIGHT_LOOP(x + h) - RIGHT_LOOP(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(g.value(x), RIGHT_LOOP(x), rtol=1e-8)
        np.testing.assert_allclose(g(x)["x"], slopes, atol=1e-6)
    assert sorted(len(found) for found in g._specialisations.found.values()) == [3]


RIGHT_LOOP = a_loop_that_ends_on_one_side_only


def in_a_loop_that_data_ends(x):
    while np.sum(x**2) > 0.1:
        x = 0.5 * x
        if x[0] > 0:
            x = x + np.sum(np.ones(int(x[0] + 2)))
    return x


def of_random_numbers(x):
    if np.random.standard_normal() > x[0]:
        return x
    return x[:2]


@pytest.mark.parametrize(
    ("program", "line", "message"),
    [
        (in_a_loop_that_data_ends, "np.ones", "loop|length"),
        (of_random_numbers, "if np", "changes its shape in a branch or loop"),
    ],
)
def test_refused(program, line, message):
    with pytest.raises(UnsupportedProgram, match=message) as caught:
        sdfgad.differentiate(program, reduce="sum")(INPUTS[0])
    assert line_of(program, line) == str(caught.value.where)


def test_what_numpy_raises_on_a_side():
    def program(x):
        y = x
        if x[0] > 0:
            y = x[: int(x[0] + 1)]
            y = y + x[:3]
        return np.sum(y)

    with pytest.raises(ShapeMismatch):
        sdfgad.grad(program)(np.array([1.3, 0.7, 0.9]))


def test_entries_of_a_batch_take_sides_of_their_own():
    with pytest.raises(UnsupportedProgram, match="changes its shape in a branch or loop"):
        sdfgad.vmap(results_of_two_shapes)(np.stack(INPUTS))


def correlations(re, pr):
    names = []
    if re < 1e3:
        names.append("laminar")
        names.append("constant")
    if re >= 1e3:
        if pr < 0.03:
            names.append("metal")
        for name in "abcdefghijklmnopqr":
            names.append(name)
        names += ["s", "t"]
    return names


def by_name(re, pr):
    name = correlations(re, pr)[0]
    if name == "metal":
        return re * 2.0
    if name == "laminar":
        return re - pr
    return re * pr


def test_branches_that_fill_a_list_of_names_are_decided_rather_than_its_items():
    g = sdfgad.value_and_grad(by_name, (0, 1))
    for args, gradient in (((2e4, 0.7), (0.7, 2e4)), ((2e4, 0.01), (2.0, 0.0)), ((10.0, 0.7), (1.0, -1.0))):
        assert g(*args) == (by_name(*args), gradient)
