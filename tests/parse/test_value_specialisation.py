"""Integers that data decides, as constants of programs for the calls in which they are those."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import DecidedByRounding, UnsupportedProgram, UnusedArgument
from sdfgad.parse import value_specialisation
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, outputs_of, parsed

rng = np.random.default_rng(11)
X, Y = rng.standard_normal(12), rng.standard_normal(12)
RIGHT = []


def right(program):
    RIGHT.append(program)
    return program


@right
def a_length(x):
    n = int(np.ceil(np.sum(x**2)))
    h = np.zeros(n)
    for i in range(n):
        h[i] = x[i % 12] * i
    return h


@right
def what_a_mask_selects(x):
    return x[x > 0.3] ** 2


@right
def a_length_of_numbers_drawn_with_a_seed(x):
    generator = np.random.default_rng(7)
    chosen = [value for value in generator.normal(size=12) * x if value > 0.1]
    others = generator.normal(size=len(chosen))
    return np.dot(others, np.array(chosen) ** 2)


@right
def a_mask_of_what_a_mask_selects(x):
    y = x[x > -0.5] ** 2
    z = y[y < 0.8]
    return np.sum(z * np.arange(len(z)))


@right
def two_masks(x):
    a, b = x[x > 0], x[x < 0]
    n = min(len(a), len(b))
    return np.dot(a[:n], b[:n])


@right
def rows_and_columns(x):
    A = np.outer(x, x) + 3.0 * np.eye(12)
    keep = x > 0
    return np.linalg.inv(A[keep][:, keep])


@right
def positions(x):
    i = np.nonzero(x > 0)[0]
    return x[i] @ np.arange(1, len(i) + 1)


@right
def an_open_mesh(x):
    i = np.where(x > 0)[0]
    return np.outer(x, x)[np.ix_(i, i)] @ np.ones(len(i))


@right
def singular_values(x):
    U, S, V = np.linalg.svd(x.reshape(3, 4), full_matrices=False)
    k = np.sum(0.5 * S[0] < S)
    return (U[:, :k] * S[:k]) @ V[:k]


@right
def a_range_of_floats(x):
    s = np.cumsum(np.abs(x))
    t = np.arange(0.0, s[-1], 0.3 * np.abs(x[0]))
    return t**2


@right
def an_empty_range(x):
    return x[0] + np.sum(np.arange(np.sum(x**2), 0.0, 0.1))


@right
def a_loop_that_counts(x):
    k = 12
    while k > 0 and x[k - 1] > -0.2:
        k -= 1
    return x[:k] * np.arange(k)


@right
def other_sizes_in_each_trip(x):
    s = 0.0
    for i in range(3):
        y = x[x > 0.2 * i]
        s += np.sum(np.outer(y, y)[0])
    return s


@right
def fewer_in_each_trip(x):
    y = x
    for i in range(3):
        y = np.diff(y[y < np.max(y)])
    return y


@right
def a_histogram(x):
    return np.bincount(np.floor(3 * np.abs(x)).astype(int), weights=x) ** 2


@right
def distinct_numbers(x):
    u = np.unique(np.floor(x))
    return np.sum(x**2) * len(u) + u[-1]


@right
def distinct_floats(x):
    y = np.concatenate((x, x[:4]))
    u = np.unique(y)
    return u * np.arange(len(u))


@right
def a_helper(x):
    def positive(v):
        return v[v > 0]

    return np.outer(positive(x), positive(-x)) @ np.ones(len(positive(-x)))


@right
def a_shift(x):
    return np.roll(x, int(np.argmax(x))) * np.arange(12)


@right
def a_comprehension(x):
    y = np.array([np.log(v) for v in x if v > 0.1])
    return y * np.arange(len(y))


@right
def indices(x):
    ids = [i for i in range(12) if x[i] < 0 and i > 1]
    return x[ids] ** 2 + sum(x[i] * x[i - 1] for i in ids)


@right
def appended_in_a_branch(x):
    y, z = [], [1.0]
    for v in x:
        if v > 0:
            y.append(2 * v)
        else:
            z.append(v**2)
    return np.diff(y[1:]) * max(z) + len(z) * sum(y)


@right
def appended_until(x):
    a, h = np.abs(x[0]) + 1.0, []
    r = a
    while np.abs(r * r - a) > 1e-9:
        r = 0.5 * (r + a / r)
        h.append(r)
    h = np.array(h)
    return np.sum(h[1:] * h[:-1]) + h.mean()


@right
def pairs(x):
    y = []
    for k in range(11):
        if x[k] * x[k + 1] < 0:
            y.append((k, x[k] / (x[k] - x[k + 1])))
    return sum(k * v for k, v in y)


@right
def integers_and_floats(x):
    y = []
    for v in x:
        if v > 0.5:
            y.append(1)
        if v > 0:
            y.append(v)
    return np.array(y) ** 2


@right
def rows(x):
    p, rows = x[:2] * 1.0, []
    for v in x:
        p = p + v
        if v > 0:
            rows.append(p)
    return np.diff(np.array(rows), axis=0) ** 2


@right
def read_twice(x):
    y = []
    for v in x:
        if v > 0:
            y.append(v)
    s = sum(y)
    for v in x:
        if v < 0:
            y.append(v * s)
    return np.array(y) * np.arange(len(y))


@right
def integers_in_steps_of_floats(x):
    # NumPy rounds the first two numbers, 0.0 and 1.7, and goes on by their difference.
    return x[0] * np.arange(0, np.sum(x**2), 1.7, dtype=int)


@right
def lists_of_several_lengths(x):
    rows = []
    for i in range(4):
        row = []
        for j in range(3):
            if x[3 * i + j] > 0:
                row.append(x[3 * i + j])
        rows.append(row)
    return np.array([sum(row) * len(row) for row in rows])


@right
def a_list_as_an_index(x):
    ids = []
    for k in range(12):
        if x[k] > 0:
            ids.append(k)
    return np.sum(x[ids] * np.array(ids)) + sum(x[k] ** 2 for k in range(12) if k not in ids)


@right
def one_item_either_way(x):
    y = [0]
    for v in x:
        if v > 0:
            y.append(v)
        else:
            y.append(1)
    return np.array(y) ** 2


@right
def as_many_trips_as_data_says(x):
    s = 0.0
    for i in range(int(np.sum(x**2))):
        m = int(np.sum(x[: i % 12] ** 2))
        s += np.sum(np.outer(np.arange(m), x)[:, i % 12])
    return s


@right
def a_view_of_what_a_mask_selects_is_updated(x):
    y = x[x > 0.1]
    first, backwards = y[:2], y[::-1]
    backwards[1:] = 0.8
    y[0] *= x[1]
    return np.concatenate((y, first))


@right
def what_a_mask_selects_is_updated_and_a_view_read(x):
    y = x[x > 0.1]
    z, same = y[::-1], np.asarray(y)
    y += x[1]
    same[same > 0.9] = 0.5
    return np.sum(z**2 * np.arange(len(z)))


@right
def a_column_of_rows_that_a_mask_selects(x):
    A = x.reshape(6, 2)
    y = A[A[:, 0] > 0.1]
    y.T[1] *= x[0]
    return np.sum(y**2)


@right
def a_length_that_is_used_again_and_changes(x):
    keep = np.array([int(np.sum(x > 0.3)) + 1])
    total = np.sum(x[: keep[0]] ** 2) + np.sum(x[: keep[0]].reshape(keep[0], 1) @ np.ones((1, keep[0])))
    keep[0] = keep[0] + int(np.sum(x > 0.9))
    return total + np.sum(np.sin(x[: keep[0]]))


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_as_in_python(program):
    for x in (X, Y):
        assert_value_and_slope(program, x, tolerance=1e-10)


def in_a_loop_that_data_ends(x):
    while np.sum(x**2) > 0.1:
        y = 0.5 * x[x > 0.1]
        x = 0.5 * x + np.linalg.det(np.outer(y, y) + np.eye(len(y)))
    return x


def random_numbers(x):
    z = np.random.standard_normal(3)
    return np.zeros(int(np.sum(x**2 + z[0]))) + x[0]


@right
def an_array_that_is_updated(x):
    p, rows = x[:2] * 1.0, []
    for v in x:
        p += v
        if v > 0:
            rows.append(p)
    return np.array(rows)


def shapes_that_differ(x):
    rows = []
    for k in range(12):
        if x[k] > 0:
            rows.append(x[:2])
        if x[k] > 1:
            rows.append(x[:3])
    return np.array(rows)


@right
def an_item_that_is_replaced(x):
    y = []
    for v in x:
        if v > 0:
            y.append(v)
    y[0] = 9.0
    return np.array(y)


@right
def a_slice_that_is_replaced(x):
    y = []
    for v in x:
        if v > 0:
            y.append(v)
    y[:1] = [9.0]
    return np.array(y)


def an_array_in_the_list_at_first(x):
    p = x[:3] * 1.0
    rows = [p]
    for k in range(12):
        if x[k] > 0:
            rows.append(x[:3] * x[k])
    p += 1
    return np.array(rows)


REFUSED = [
    (
        in_a_loop_that_data_ends,
        "x = 0.5 * x +",
        "a loop changes|known only at run time|from trip to trip|computed from the values",
    ),
    (random_numbers, "return", "a length, shape, axis or other integer here is computed"),
    (shapes_that_differ, "rows.append(x[:3])", "has items of different shapes"),
]


def test_branches_that_fill_a_list_of_an_array_that_is_updated():
    for sign in (1.0, -1.0):
        assert_value_and_slope(an_array_in_the_list_at_first, sign * X)


@pytest.mark.parametrize(("program", "line", "message"), REFUSED)
def test_refused(program, line, message):
    with pytest.raises(UnsupportedProgram, match=message) as caught:
        sdfgad.differentiate(program, reduce="sum")(X)
    assert str(caught.value.where) == line_of(program, line)


def test_numbers_of_python_give_way_to_single_precision():
    def program(x):
        y = []
        for v in x:
            if v > 0:
                y.append(2.0)
        return np.array([a * x[0] for a in y])

    x = X.astype(np.float32)
    found = outputs_of(parsed(program, x), x)["return"]
    assert found.dtype == program(x).dtype == np.float32
    np.testing.assert_allclose(found, program(x), rtol=1e-6)


def test_a_list_that_stays_empty_has_zeros_for_gradient():
    def program(x):
        y = []
        for v in x:
            if v > 0:
                y.append(v)
        return np.sum(np.cumsum(np.array(y)))

    g = sdfgad.differentiate(program)
    value, gradient = g.value_and_grad(-np.abs(X))
    assert value == 0.0
    np.testing.assert_array_equal(gradient["x"], np.zeros(12))
    np.testing.assert_allclose(g(np.abs(X))["x"], np.arange(12, 0, -1))


def test_arguments_that_decide_nothing_must_be_used():
    def program(x, t):
        return np.sum(np.ones(int(np.sum(x**2))))

    with pytest.raises(UnusedArgument, match="does not depend on `t` in"):
        sdfgad.differentiate(program, wrt=("x", "t"))(X, 1.0)


def selected(x):
    y = x[x > 0]
    return np.sum(np.outer(y, y) @ np.arange(len(y)))


def slope_of(x):
    step = 1e-6 * np.eye(len(x))
    return np.array([(selected(x + one) - selected(x - one)) / 2e-6 for one in step])


def test_calls_with_other_lengths_and_back(monkeypatch):
    g = sdfgad.differentiate(selected)
    for x in (X, Y, X):
        value, gradient = g.value_and_grad(x)
        np.testing.assert_allclose(value, selected(x))
        np.testing.assert_allclose(gradient["x"], slope_of(x), rtol=1e-6, atol=1e-7)
    # One for each length; the calls with the same length share it, also where other elements are selected.
    (found,) = g._specialisations.found.values()
    assert len(found) == 2
    np.testing.assert_allclose(g(X[::-1])["x"], slope_of(X[::-1]), rtol=1e-6, atol=1e-7)
    assert len(found) == 2

    # What another program, rounded otherwise, would find instead is no value.
    monkeypatch.setattr("sdfgad.specialise.guards.Guarded.holds", lambda *_: True)
    with pytest.raises(DecidedByRounding, match="rounding decides a length") as caught:
        g(Y)
    assert str(caught.value.where) == line_of(selected, "y = ")


def many_lengths(x, n):
    total = 0.0
    for i in range(n):
        grid = np.linspace(0.0, x[i % 12], int(abs(x[i % 12]) * 3.0 + 0.01 * i) + 2)
        total += np.sum(np.sin(grid))
    return total


def test_more_lengths_than_may_be_constants_are_refused(monkeypatch):
    monkeypatch.setattr(value_specialisation, "MOST_VALUES", 20)
    with pytest.raises(UnsupportedProgram, match="more than 256 lengths or other integers are computed") as caught:
        parsed(many_lengths, X, 21)
    assert line_of(many_lengths, "np.linspace") in str(caught.value)
    assert "make fewer trips of an unrolled loop" in str(caught.value)


def test_as_many_lengths_as_may_be_constants():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_specialisation, "MOST_VALUES", 6)
        assert_value_and_slope(many_lengths, X, 6)
        with pytest.raises(UnsupportedProgram, match="lengths or other integers"):
            parsed(many_lengths, X, 7)


def one_length_many_times(x):
    n = int(np.sum(x > 0.0)) + 2
    y = np.zeros(n)
    y[:n] = np.sum(x**2) * np.ones(n)
    return np.sum(y.reshape(n, 1) * np.zeros((n, n)) + np.arange(n))


def test_an_integer_is_measured_once():
    assert len(parsed(one_length_many_times, X).guard.values) == 1
    changed = parsed(a_length_that_is_used_again_and_changes, X).guard.values
    assert set(changed.values()) == {np.sum(X > 0.3) + 1, np.sum(X > 0.3) + np.sum(X > 0.9) + 1}
