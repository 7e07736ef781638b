"""Lists that are sorted by data, searched for it, or changed or read at places that it decides."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, Rebound, UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, assert_value_and_slope, checked_outputs, parsed

X, Y = np.array([0.9, 0.4, 1.7, 0.6]), np.array([1.1, -0.7, 0.5, -0.2])
RIGHT = []


def right(program):
    RIGHT.append(program)
    return program


@right
def by_a_key(x):
    h = sorted([x[0], x[1], x[2]], key=lambda v: -v * v)
    return h[0] * 2 + h[1] ** 2


@right
def in_place_and_reversed(x):
    h = [x[0], x[1], x[0] * 1.0, x[2]]
    h.sort(key=abs, reverse=True)
    return h[0] * 2 + h[1] * 3 + h[3]


@right
def pairs(x):
    h = sorted([(x[0], x[1]), (x[2], x[3]), (x[0], x[2])])
    return h[0][1] * 2 + h[1][1] ** 2 + h[2][0]


@right
def pairs_backwards_with_equal_keys(x):
    h = sorted([(x[0], 1), (x[2], 2), (x[0], 3)], key=lambda pair: pair[0], reverse=True)
    return sum(v * k * n for n, (v, k) in enumerate(h))


@right
def numbers_of_numpy_and_python(x):
    """Times of data, and others: no order is a constant."""
    now, total = 0.0, 1.0
    for at, is_dose in sorted([(v, 0) for v in x] + [(0.8, 1), (2.0, 1)], key=lambda event: event[0]):
        total, now = total * np.exp(-0.3 * (at - now)), at
        total += 1.0 if is_dose == 1 else 0.1 * at
    return total


def test_an_order_of_numbers_is_no_constant():
    """Each place was, and was measured by a program of its own."""
    assert "decided" not in str(sdfgad.explain(numbers_of_numpy_and_python, X, stage="parsed"))


def of_which_kind(x):
    first = sorted([(x[0], 1), (0.8, 2)], key=lambda pair: pair[0])[0]
    return x[0] if type(first[0]) is float else x[1]


def test_a_kind_that_the_order_decides_is_refused():
    with pytest.raises(Rebound, match="a number is float or float64, which is decided only at run time") as caught:
        parsed(of_which_kind, X)
    assert line_of(of_which_kind, "type(first[0])") in str(caught.value)


@right
def arrays(x):
    h = sorted([x[:2], x[1:3] * 2, x[2:]], key=np.sum)
    return h[0][1] * 2 + h[1][0] * h[2][1]


@right
def a_simplex(x):
    f, p = [x[0], x[1], x[2]], [x[:2] * 1.0, x[1:3] * 1.0, x[2:] * 1.0]
    for _ in range(6):
        order = sorted(range(3), key=lambda i: f[i])
        f, p = [f[i] for i in order], [p[i] for i in order]
        p[2] = 0.5 * p[0] + 0.5 * p[1]
        f[2] = np.sum(p[2] ** 2)
    return f[0] + p[0][0] * p[1][1]


@right
def by_argsort_of_a_list(x):
    f, p = [x[0], x[1], x[2]], [x[:2] * 1.0, x[1:3] * 1.0, x[2:] * 1.0]
    order = np.argsort(f)
    return np.sort(f)[1] * f[order[0]] + p[order[2]][0]


@right
def searched(x):
    h = [x[0], x[1], x[2]]
    return h[h.index(max(h))] * (1 + h.index(min(h))) + x[3] * h.count(x[1])


@right
def removed(x):
    h = [x[0], x[1], x[2]]
    h.remove(max(h))
    return h[0] * 2 + h[1] ** 2


@right
def changed_at_places_of_data(x):
    h = [x[0], x[1], x[2]]
    v = h.pop(int(np.argmax(x[:3])))
    h.insert(int(np.argmin(x[:2])), v * x[3])
    return h[0] + h[1] * 2 + h[2] ** 2


@right
def by_negated_values_and_names(x):
    names = ["b", "a", "d", "c"]
    items = sorted([(-v, name) for v, name in zip(x, names, strict=True)])
    weights = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    return sum((k + 1) * v * weights[name] for k, (v, name) in enumerate(items))


@right
def names_that_decide_ties(x):
    items = sorted([(round(0.9 * v), name, v) for v, name in zip(x, ["b", "a", "d", "c"], strict=True)])
    return sum((k + 1) * v + (0.5 if name == "a" else 0.0) for k, (_, name, v) in enumerate(items))


@right
def names_by_their_values(x):
    table = dict(zip("abcd", x, strict=True))
    order = sorted(table, key=lambda name: (-table[name], name))
    return sum(table[name] * (k + 1) for k, name in enumerate(order))


@right
def events(x):
    queue = [(abs(v) + 0.1, "arrive" if i % 2 else "leave", i) for i, v in enumerate(x)]
    queue.sort(reverse=True)
    s = 0.0
    for k, (t, kind, i) in enumerate(queue):
        if kind == "arrive":
            s += t * (k + 1)
        else:
            s -= t * t * i
    return s


@right
def predecessors(x):
    before = [-1] * 4
    for i in range(1, 4):
        if x[i] < 0.55:
            before[i] = i - 1
        else:
            before[i] = 0
    total, node = 0.0, 3
    while node != 0:
        total = total + x[node] ** 2
        node = before[node]
    return total


WAYS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (1, 4)]


def shortest(cost, start):
    far = [0.0 if i == start else 1e9 for i in range(5)]
    by = [-1] * 5
    for _ in range(5):
        changes = False
        for k, (a, b) in enumerate(WAYS):
            if far[a] + cost[k] < far[b] - 1e-12:
                far[b] = far[a] + cost[k]
                by[b] = k
                changes = True
        if not changes:
            break
    return far, by


@right
def flows_along_shortest_ways(x):
    cost, flow, total = np.concatenate([x, 1.1 * x[::-1]]) + 1.5, np.zeros(8), 0.0
    for (start, end), amount in {(0, 4): 6.0, (0, 3): 3.0, (1, 4): 2.0}.items():
        far, by = shortest(cost, start)
        node = end
        while node != start:
            flow[by[node]] += amount
            node = WAYS[by[node]][0]
        total += amount * far[end]
    return total + flow @ cost**2


def test_one_program_takes_all_ways():
    for program in (predecessors, flows_along_shortest_ways):
        assert parsed(program, X).guard is None


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_as_in_python(program):
    for x in (X, Y):
        assert_value_and_slope(program, x)


def test_a_value_that_is_not_there():
    def program(x):
        h = [x[0], x[1]]
        return x[2] * h.index(x[3])

    x = np.array([0.9, 0.4, 1.7, 0.4])
    assert_like_python(program, x)
    with pytest.raises(ProgramRaises, match="not in the list"):
        checked_outputs(parsed(program, X), X)


def updated_after_a_sort(x):
    h = [x[:2] * 1.0, x[2:] * 1.0]
    first = sorted(h, key=np.sum)[0]
    first[0] = 5.0
    return h[0] @ h[1]


def test_a_row_that_may_be_one_of_several_arrays():
    with pytest.raises(UnsupportedProgram, match="updated in place") as caught:
        parsed(updated_after_a_sort, X)
    assert str(caught.value.where) == line_of(updated_after_a_sort, "first[0]")


def unlike(x):
    return sorted([(x[0], x), (x[1], x[:2])], key=lambda pair: pair[0])[0][1]


def unlike_in_a_loop(x, n):
    total = 0.0
    for _ in range(n):
        x = np.cos(x)
        total += np.sum(unlike(x))
    return total


def test_items_that_are_not_alike():
    assert_like_python(unlike, X)
    with pytest.raises(UnsupportedProgram, match="computed from the values of arrays") as caught:
        parsed(unlike_in_a_loop, X, 300)
    assert "sorted" in str(caught.value)


def test_keys_that_are_not_numbers():
    def program(x):
        return sorted([x[:1], x[1:]], key=lambda one: {"size": one})[0]

    with pytest.raises(UnsupportedProgram, match="Python raises TypeError here"):
        parsed(program, X)


def dosed(t, amounts, observed):
    """Events of two kinds, which are not alike, in the order of their times."""
    events = [(x + 0.0, "dose", v) for x, v in zip(t, amounts, strict=True)]
    events += [(x, "observation", None) for x in observed]
    level, now, total = 0.0, 0, 0.0
    for at, kind, amount in sorted(events, key=lambda event: (event[0], event[1] == "dose"), reverse=False):
        level, now = level * np.exp(-0.3 * (at - now)), at
        if kind == "dose":
            level += amount
        else:
            total += level * at
    return total


@pytest.mark.parametrize("second", [3.0, 1.5, 2.0])
def test_the_call_at_hand_decides_the_order_of_what_is_not_alike(second):
    t, amounts = np.array([0.5, second]), np.array([1.0, 2.0])
    value, gradient = sdfgad.differentiate(dosed, wrt="amounts").value_and_grad(t, amounts, [1, 2.0, 4.0])
    np.testing.assert_allclose(value, dosed(t, amounts, [1, 2.0, 4.0]), rtol=1e-13)
    np.testing.assert_allclose(gradient @ amounts, value, rtol=1e-13)
