"""Lists whose length is data from which loops remove items: stacks and queues, against Python and differences."""

from collections import deque, namedtuple

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, checked_outputs, parsed

P = np.array([0.7, 1.3, 0.3])


def curve(x, p):
    return np.exp(-p[0] * x) * np.sin(4.0 * p[1] * x) + p[2] * x**2


def rules(a, b, p):
    """The midpoint rule, and that of both halves."""
    m = 0.5 * (a + b)
    return (b - a) * curve(m, p), 0.5 * (b - a) * (curve(0.5 * (a + m), p) + curve(0.5 * (m + b), p))


def intervals_by_depth(p, tol):
    todo, total = [(0.0, 3.0, 0)], 0.0
    while todo:
        a, b, depth = todo.pop()
        coarse, fine = rules(a, b, p)
        if abs(fine - coarse) < tol * (b - a) or depth == 9:
            total += fine * (1.0 + 0.1 * depth)
        else:
            m = 0.5 * (a + b)
            todo.append((a, m, depth + 1))
            todo.append((m, b, depth + 1))
    return total


def intervals_in_a_queue(p, tol):
    Interval = namedtuple("Interval", "a b")
    todo, total = deque([Interval(0.0, 3.0)]), 0.0
    while len(todo) > 0:
        one = todo.popleft()
        coarse, fine = rules(one.a, one.b, p)
        if abs(fine - coarse) < tol * (one.b - one.a):
            total += fine
        else:
            m = 0.5 * (one.a + one.b)
            todo.extend([Interval(one.a, m), Interval(m, one.b)])
    return total


class Stack:
    def __init__(self, *items):
        self.items = []
        self.items += items

    def is_empty(self):
        return not self.items


def vectors(p, tol):
    stack, s = Stack(p * 1.0, 0.8 * p), 0.0
    while not stack.is_empty():
        v = stack.items.pop()
        if np.sum(v * v) > tol:
            stack.items.append(0.5 * v)
            stack.items.append(0.3 * v[::-1])
        else:
            s += np.sum(v**3) * np.exp(v[0])
    return s


def nodes_of_a_tree(p, tol):
    left = np.array([1, 3, 5, -1, -1, -1, -1])
    size, centre = np.array([1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]), np.array([0.5, 0.2, 0.8, 0.1, 0.3, 0.7, 0.9])
    force = np.zeros(3)
    for i in range(3):
        todo = [0]
        while todo:
            n = todo.pop()
            d = centre[n] * p[2] - p[i]
            if size[n] < tol * abs(d) or left[n] < 0:
                force[i] += d / (abs(d) ** 3 + 0.1)
            else:
                todo += [left[n], left[n] + 1]
    return np.sum(force**2)


def lower_hull(p, tol):
    xs, hull, area = np.linspace(0.0, 1.0, 9), [], 0.0
    ys = np.sin(5.0 * xs * p[1]) + p[0] * xs
    for x, y in zip(xs, ys, strict=True):
        while len(hull) >= 2 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) <= (hull[-1][1] - hull[-2][1]) * (
            x - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    for i in range(len(hull) - 1):
        area += (hull[i + 1][0] - hull[i][0]) * (hull[i + 1][1] + hull[i][1])
    return area


def both_ends_and_places(p, tol):
    values, x, k = [p[0], p[1], p[2]], 1.0, 0
    while x > tol:
        x, k = 0.7 * x, k + 1
        values.append(values[-2] + values[-1] * x)
        if k % 3 == 0:
            x += 0.01 * values.pop(0)
        values[-1] += p[0]
        values[k % 2] *= 0.9
    return values[-1] * values[0] + values[k % len(values)] + len(values)


def items_of_a_list_that_data_has_filled(p, tol):
    kept, s, x = [], 0.0, p[0]
    for k in range(30):
        x = np.sin(x + k * p[1])
        if x > -0.2:
            kept.append(x)
        elif kept:
            s += kept.pop() * p[2]
    return s * np.sum(np.array(kept) ** 2) + len(kept)


def the_rest_as_a_whole(p, tol):
    values, x = deque([p[0], p[1]]), p[1]
    while values and x > tol:
        x *= 0.5
        if x < 0.9:
            values.append(x * x)
        if len(values) > 3:
            x -= 0.1 * values.popleft()
    return x + sum(values)


def delayed(p, tol):
    """A step looks into the past, at a place that moves along."""
    ts, ys, j = [0.0], [p[0]], 0
    while ts[-1] < 1.0:
        s, past = ts[-1] - p[2], p[0]
        if s > 0.0:
            while ts[j + 1] < s:
                j += 1
            w = (s - ts[j]) / (ts[j + 1] - ts[j])
            past = (1.0 - w) * ys[j] + w * ys[j + 1]
        h = tol / (1.0 + abs(past))
        ts.append(ts[-1] + h)
        ys.append(ys[-1] - h * p[1] * past)
    return ys[-1]


CASES = [
    (intervals_by_depth, 1e-2),
    (intervals_in_a_queue, 1e-2),
    (vectors, 0.3),
    (nodes_of_a_tree, 0.8),
    (lower_hull, 0.0),
    (both_ends_and_places, 0.1),
    (the_rest_as_a_whole, 0.05),
    (delayed, 0.1),
]


@pytest.mark.parametrize(("program", "tol"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_values_and_slopes(program, tol):
    assert_value_and_slope(program, P, tol)


def several(p):
    parts = vectors(p, 0.3) * nodes_of_a_tree(p, 0.8) + lower_hull(p, 0.0)
    return intervals_by_depth(p, 1e-2) + parts * both_ends_and_places(p, 0.1) + delayed(p, 0.1)


def assert_gradient(program, *more, **options):
    gradient = sdfgad.differentiate(program, wrt="p", **options)
    value, found = gradient.value_and_grad(P, *more)
    assert value == pytest.approx(program(P, *more), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    expected = [(program(P + d, *more) - program(P - d, *more)) / 2e-6 for d in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_compiled_gradients():
    assert_gradient(several)


def test_a_call_that_needs_more_room_is_repeated_with_more():
    """The queue has 64 rows at first, and some 300 items in all."""
    assert_gradient(intervals_in_a_queue, 1e-4)


def squared(p, tol):
    return intervals_by_depth(p, tol) ** 2


def test_derivatives_of_all_kinds():
    direction = np.array([0.3, -0.2, 0.5])
    value, tangent = sdfgad.jvp(squared, (P, 1e-2), (direction, 0.0))
    assert value == pytest.approx(squared(P, 1e-2), rel=1e-12)
    gradient = sdfgad.differentiate(squared, wrt="p")
    assert tangent == pytest.approx(np.dot(gradient(P, 1e-2), direction), rel=1e-10)
    batch = np.stack([P, 1.1 * P, 0.5 * P])
    found = sdfgad.vmap(gradient, in_axes=(0, None))(batch, 1e-2)
    np.testing.assert_allclose(found, [gradient(one, 1e-2) for one in batch], rtol=1e-10)


def test_lists_that_data_fills_and_empties():
    assert_gradient(items_of_a_list_that_data_has_filled, 0.0)


def emptied(p, tol):
    values, x = [p[0], p[1]], p[1]
    while x > tol:
        x = 0.5 * x - 0.01 * values.pop()
        if x > 10.0:
            values.append(x)
    return x


def beyond(p, tol):
    values, k = [p[0]], 0
    while values[k] > tol:
        values.append(values[k] * p[2])
        values.pop(0)
        k += 1
    return values[0]


def replaced_beyond(p, tol):
    values, k = [p[0], p[1]], 0
    while values[0] > tol:
        values.append(values.pop(0) * p[2])
        values[k - 9] = p[0]
        k += 20
    return values[0]


def test_where_python_raises():
    for program in (emptied, beyond, replaced_beyond):
        with pytest.raises(IndexError):
            program(P, 1e-3)
    with pytest.raises(InvalidIndex, match="pop from empty list"):
        checked_outputs(parsed(emptied, P, 1e-3), P, 1e-3)
    with pytest.raises(InvalidIndex, match="list index out of range"):
        checked_outputs(parsed(beyond, P, 1e-3), P, 1e-3)
    with pytest.raises(InvalidIndex, match="list index out of range"):
        sdfgad.differentiate(replaced_beyond, wrt="p").value(P, 1e-3)


def in_the_middle(p, tol):
    values, x = [p[0], p[1], p[2]], p[1]
    while x > tol:
        x *= 0.5
        values.append(x)
        if x < 0.5:
            values.pop(1)
    return values[0]


def of_lists(p, tol):
    todo, s = [[p[0], p[1]]], 0.0
    while todo:
        one = todo.pop()
        if one[0] > tol:
            todo.append([one[0] * 0.5, one[1]])
        if one[0] > 2.0 * tol:
            todo.append([one[0] * 0.4, one[1]])
        s += one[0] * one[1]
    return s


@pytest.mark.parametrize(
    ("program", "line", "message"),
    [
        (in_the_middle, "values.append(x)", "a list is changed in a loop or branch"),
        (of_lists, "todo.append([one[0] * 0.5, one[1]])", "has lists or objects as items"),
    ],
)
def test_refusals(program, line, message):
    with pytest.raises(UnsupportedProgram, match=message) as refusal:
        parsed(program, P, 1e-9)
    assert str(refusal.value.where) == line_of(program, line)
