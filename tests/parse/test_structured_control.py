"""``while``, ``break``, ``continue``, ``return``, ``raise`` and what names hold then: as in Python."""

import numpy as np
import pytest

from sdfgad.errors import ProgramRaises, UnboundVariable
from sdfgad.ir.program import Loop, walk
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, checked_outputs, parsed

X, Y = np.array([0.5, 1.5, 0.25, 2.0]), np.array([2.0, 0.3, 0.75, 1.1])


def newton(x, y, s):
    z = s
    while abs(z * z - x[3]) > 1e-12:
        z = 0.5 * (z + x[3] / z)
    return z * y[0]


def halved(x, y, s):
    n = 0
    while s > 0.15:
        s *= 0.5
        x[n] = s
        n += 1
    return s * n


def nested_while(x, y, s):
    i = 0
    while i < 4:
        t = x[i]
        while t > 0.4:
            t = t * 0.3 * y[i]
        s = s * t + 0.5
        i += 1
    return s


def breaks(x, y, s):
    for i in range(4):
        if x[i] > 1.0:
            break
        s = s * y[i]
    return s + i


def broken_in_an_else(x, y, s):
    for i in range(4):
        if x[i] < 1.0:
            s *= y[i]
        else:
            s += y[i]
            break
        s += 0.5
    return s


def continues(x, y, s):
    for i in range(4):
        if x[i] > 1.0:
            continue
        if y[i] > 1.0:
            s = s * y[i]
            continue
        s = s + x[i] * x[i]
    return s


def returns_in_a_loop(x, y, s):
    for i in range(4):
        s = s * x[i] + 0.3
        if s > 0.6:
            return s * y[i]
    return s


def returns_in_nested_loops(x, y, s):
    for i in range(4):
        for j in range(i + 1):
            s = s * x[i] + y[j]
            if s > 2.0:
                return s * y[i], s
            if s < 0.1:
                break
        s *= 0.5
    return s, s * s


def returns_on_both_sides(x, y, s):
    if s > 0.5:
        return np.sum(x) * s
    else:
        return np.sum(y) * s


def returns_early(x, y, s):
    if s > 0.5:
        return np.sum(x) * s
    x[0] = 3.0
    if y[0] > s:
        return x[0] * y[0]
    return np.sum(x * y)


def returns_arrays(x, y, s):
    if s > 0.5:
        return x * s
    return y


def else_of_a_loop(x, y, s):
    for i in range(4):
        if x[i] > 1.75 * s:
            break
        s = s * x[i] + 0.9
    else:
        s = s * 5.0
    return s


def else_of_a_while(x, y, s):
    k = 0
    while k < 3:
        s = s * y[k] + 0.1
        if s > 1.3:
            break
        k += 1
    else:
        s = s * 7.0
    return s * k


def while_true(x, y, s):
    k = 0
    while True:
        s = s * 0.7 + 0.01 * y[0]
        k += 1
        if s < 0.3 or k == 9:
            return s


def first_and_last(x, y, s):
    first = -1.0
    for i in range(4):
        if x[i] > 0.4:
            if first < 0.0:
                first = x[i]
            last = x[i]
    return first * last


def bound_by_the_first_trip(x, y, s):
    for i in range(4):
        if i == 0:
            t = x[0] * s
        else:
            t = t * x[i] + y[i]
    return t


def swaps(x, y, s):
    a, b = s, 1.0
    for i in range(5):
        a, b = b, a * x[i % 4]
    return a + b * b


def tuple_carried(x, y, s):
    p = (s, x[0])
    for i in range(3):
        p = (p[1] * y[i], p[0] + x[i])
    return p[0] * p[1]


def data_decides_the_range(x, y, s):
    n = 0
    for i in range(4):
        if x[i] > 0.4:
            n += 1
    for j in range(n):
        s = s * y[j]
    return s


def array_grows_smaller(x, y, s):
    z = x
    while z.shape[0] > 1:
        z = z[1:] * z[:-1]
    return z[0] * s


def unrolled_over_a_list(x, y, s):
    for row, weight in [(x, 1.0), (y[:2], s)]:
        s = s + weight * np.sum(row)
        if s > 4.0:
            break
    return s


def walrus(x, y, s):
    i = 0
    while (t := x[i]) < 1.0:
        s += t * y[i]
        i += 1
    return s + (u := s * s) * u + t


def walrus_and_else(x, y, s):
    """The `else` runs where the test has failed, and its own jumps are of the loop around."""
    for j in range(3):
        i = 0
        while (t := x[i % 4] * s * (1 + i)) < 1.0 + 0.1 * j:
            s += 0.1 * t * y[i % 4]
            i += 1
            if s > 6.0:
                break
        else:
            s = s + 10.0 * t
            if s > 30.0:
                break
            continue
        s = s + 1.0
    else:
        s = 2.0 * s
    return s


def walrus_and_return(x, y, s):
    i = 0
    while (t := x[i]) < 1.0:
        i += 1
        if t * s > 4.0:
            return 3.0 * s
    else:
        return s + t
    return s


def errstate(x, y, s):
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(4):
            s = s / x[i]
            if s > 3.0:
                return s
    return s * 2.0


def conditional_stop(x, y, s):
    i = 0
    while i < 4 and x[i] < 1.75:
        s = s * x[i] + 0.5
        i += 1
    return s


def counts_down(x, y, s):
    i = 4
    while i:
        i -= 1
        if not x[i] > 0.4:
            continue
        s = s * x[i]
    return s


PROGRAMS = [
    value for name, value in list(vars().items()) if callable(value) and getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("s", [0.7, 0.2, 1.6])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_values_and_slopes(program, s):
    assert_like_python(program, X, Y, s)
    output = "return[0]" if program is returns_in_nested_loops else "return"
    assert_slope(program, X, Y, s, output=output)


def one_for_all_sides(x, y, s):
    if s > 0.5:
        return x[0] * s
    return y[0]


def test_other_values_take_other_sides_of_the_same_program():
    primal = parsed(one_for_all_sides, X, Y, 0.7)
    assert checked_outputs(primal, X, Y, 0.7)["return"] == 0.35
    assert checked_outputs(primal, X, Y, 0.2)["return"] == 2.0


def returns_nothing(x, s):
    if s > 0.5:
        x[0] = 1.0
        return
    x[1] = 2.0


@pytest.mark.parametrize("s", [0.7, 0.2])
def test_a_return_without_a_value(s):
    assert_like_python(returns_nothing, X, s)


# --- loops that are not loops of the program


def known_while(x):
    n = 1
    while n < 4:
        x = x[:-1] * n
        n *= 2
    return np.sum(x)


def test_a_while_whose_trips_differ_in_shapes_is_unrolled():
    primal = assert_like_python(known_while, X)
    assert not [s for s in walk(primal.program.body) if isinstance(s, Loop)]


def known_break(x):
    for i in range(4):
        if i == 2:
            break
        x[i] *= 2.0
    return x


def test_a_break_that_the_counter_decides():
    assert_like_python(known_break, X)


def never_runs(x, s):
    while False:
        x[0] = 3.0
    for i in range(0):
        x[i] = 2.0
    return np.sum(x)


def test_a_loop_that_never_runs_leaves_nothing():
    assert_like_python(never_runs, X, 0.5)


def peeled(x, y):
    z = x
    for i in range(4):
        z[i] = z[i] * 2.0
        z = z + y
    return z


def peeled_at_run_time(x, y, n):
    z = x
    for i in range(n):
        z[i] = z[i] * 2.0
        z = z + y
    return z


def test_the_first_trip_is_peeled():
    assert_like_python(peeled, X, Y)
    for n in (0, 1, 2, 4):
        assert_like_python(peeled_at_run_time, X, Y, n)


def swaps_arrays(x, y, n):
    for k in range(n):
        y[1:] = x[:-1] * 0.5 + k
        x, y = y, x
    return x - 2.0 * y


def rotates_arrays(x, y, n):
    z = x * 2.0
    for k in range(n):
        z[1:] = x[:-1] * 0.5 + y[1:] * k
        x, y, z = y, z, x
    return x - y * z


@pytest.mark.parametrize("n", range(8))
def test_arrays_that_are_swapped(n):
    assert_like_python(swaps_arrays, X, Y, n)


@pytest.mark.parametrize("n", range(1, 8))
def test_three_arrays_that_are_handed_round(n):
    assert_like_python(rotates_arrays, X, Y, n)


def shrinking_loop(x):
    for i in range(3):
        x = x[1:] + i
    return x


def test_a_loop_whose_trips_differ_in_shapes_is_unrolled():
    primal = assert_like_python(shrinking_loop, X)
    assert not [s for s in walk(primal.program.body) if isinstance(s, Loop)]


def split_by_rank(x, y, s):
    if s > 0.5:
        z = x[:2]
    else:
        z = y
    z = z * 2.0
    w = z[0] * s
    return w * np.sum(z)


def split_alias(x, y, s):
    z = x if s > 0.5 else y
    z[0] = 4.0
    return x * y


@pytest.mark.parametrize("program", [split_by_rank, split_alias])
@pytest.mark.parametrize("s", [0.7, 0.2])
def test_what_follows_a_branch_is_parsed_for_each_side(program, s):
    assert_value_and_slope(program, X, Y, s)


# --- errors of the program itself


def raises_for_certain(x):
    y = x * 2.0
    raise ValueError(f"no {y}")


def raises_on_data(x, s):
    for i in range(4):
        if x[i] > s:
            raise ValueError("too large")
        x[i] *= 2.0
    return np.sum(x)


def raises_where_the_argument_is_known(x, n):
    if n < 0:
        raise ValueError("negative")
    return x * n


def raises_again(x, s):
    if s > 0.5:
        raise
    return x


def test_a_raise_that_is_certain():
    with pytest.raises(ProgramRaises, match="the program raises `ValueError") as caught:
        parsed(raises_for_certain, X)
    assert str(caught.value.where) == line_of(raises_for_certain, "raise ValueError")


def test_a_raise_on_data():
    primal = assert_like_python(raises_on_data, X, 5.0)
    with pytest.raises(ProgramRaises, match=r"the program raises `ValueError\('too large'\)`") as caught:
        checked_outputs(primal, X, 1.0)
    assert str(caught.value.where) == line_of(raises_on_data, "raise ValueError")


def test_a_raise_on_an_argument():
    assert_like_python(raises_where_the_argument_is_known, X, 2)
    with pytest.raises(ProgramRaises, match="negative") as caught:
        checked_outputs(parsed(raises_where_the_argument_is_known, X, -2), X, -2)
    assert str(caught.value.where) == line_of(raises_where_the_argument_is_known, "raise ValueError")


def test_a_bare_raise():
    primal = parsed(raises_again, X, 0.2)
    with pytest.raises(ProgramRaises, match="the program raises `an exception`"):
        checked_outputs(primal, X, 0.7)


# --- names without a value


def bound_in_a_while(x, s):
    while s > 0.5:
        s *= 0.5
        t = s * x[0]
    return t


def bound_in_a_data_loop(x, idx):
    for i in range(idx[0], idx[1]):
        t = x[i]
    return t * i


def bound_before_a_break(x, s):
    for i in range(4):
        if x[i] > s:
            t = x[i]
            break
    return t


def bound_by_one_branch(x, s):
    if s > 0.5:
        t = x[0]
    for i in range(2):
        s += i
    return t * s


def deleted(x, s):
    t = x[0]
    if s > 0.5:
        del t
    return t * s


@pytest.mark.parametrize(
    ("program", "good", "bad", "name"),
    [
        (bound_in_a_while, 0.7, 0.2, "t"),
        (bound_in_a_data_loop, np.array([1, 3]), np.array([2, 2]), "[ti]"),
        (bound_before_a_break, 1.0, 9.0, "t"),
        (bound_by_one_branch, 0.7, 0.2, "t"),
        (deleted, 0.2, 0.7, "t"),
    ],
)
def test_a_name_that_no_executed_statement_has_assigned(program, good, bad, name):
    primal = assert_like_python(program, X, good)
    with pytest.raises(UnboundLocalError):
        program(X.copy(), bad)
    with pytest.raises(UnboundVariable, match=f"`{name}` ") as caught:
        checked_outputs(primal, X, bad)
    assert str(caught.value.where) == line_of(program, "return t")
    assert caught.value.todo


def carried_with_a_gap(x, s):
    k = 0
    for k in range(int(s > 0.5), 3):
        x[k] = 1.0
    return x * k


def after_a_loop_at_run_time(x, n):
    k = 7
    for k in range(n):
        x[k] = k
    return x + k


def read_after_one_branch_of_a_trip(x, s):
    for i in range(4, 0, -1):
        if s < i:
            u = i * s
        s = s + u * 0.125
    return s * u


def test_counter_that_had_a_value_before():
    for n in (0, 2):
        assert_like_python(after_a_loop_at_run_time, X, n)
    assert_like_python(carried_with_a_gap, X, 0.7)


def test_name_that_a_trip_may_leave_unbound():
    assert_like_python(read_after_one_branch_of_a_trip, X, 0.5)


def test_ranges_as_axes_and_texts_of_a_counter():
    def program(x):
        turned = np.moveaxis(np.outer(x, x).reshape(4, 4, 1), range(2), (2, 0))
        parts = {}
        for k in range(3):
            parts["Z" * k + "I" * (2 - k)] = x[k]
        total = sum(value * name.count("Z") for name, value in parts.items())
        return total + np.sum(turned[:, 0, 1] * np.tensordot(np.eye(4), np.outer(x, x), axes=(range(2), range(2))))

    assert_like_python(program, X)
    assert_slope(program, X)


# --- tests of `while` that change something


class Cursor:
    def __init__(self, x):
        self.x, self.i, self.n = x, 0, 0.0

    def more(self):
        self.i += 1
        return self.x[self.i] ** 2 < 4.0

    def step(self, tolerance):
        """A step of Newton's method for a root of 2; whether it is long."""
        self.n, old = self.n + 1.0, self.x
        self.x = 0.5 * (self.x + 2.0 / self.x)
        return np.max(np.abs(self.x - old)) > tolerance

    def counts(self, most):
        self.i += 1
        return self.i < most


def by_data(x):
    q, total = Cursor(x), 0.0
    while q.more():
        total += x[q.i]
    return total + q.i * x[0]


def without_a_body(x):
    q = Cursor(x[:3] + 1.0)
    while q.step(1e-3):
        pass
    return np.sum(q.x * x[:3]) * q.n


def known_number(x):
    q, total = Cursor(x), 0.0
    while q.counts(5):
        total += x[0] * q.i
    return total + q.i


def stopped_and_else(x):
    q, k = Cursor(x[:3] + 1.0), 0
    while k < 10 and q.step(1e-3):
        k += 1
        if q.n > 3.0:
            break
    else:
        return q.n + q.x[0]
    return np.sum(q.x) * q.n + k


def in_a_loop(x):
    q, total = Cursor(x[:3] + 1.0), 0.0
    for j in range(3):
        while q.step(10.0 ** -(j + 1)):
            total += q.x[0] * x[0]
    return np.sum(q.x) * q.n + total


def of_a_list(x):
    left, total = [3, 2, 1], x[0]

    def taken():
        return left.pop()

    while taken() < 3:
        total = total * x[1]
    return total + len(left)


def of_an_array(x):
    count, total = np.zeros(3), x[0]

    def is_short():
        count[0] += 1.0
        return total * count[0] < 8.0

    while is_short():
        total = total + x[1]
    return total + count[0] * x[2]


@pytest.mark.parametrize(
    "program", [by_data, without_a_body, known_number, stopped_and_else, in_a_loop, of_a_list, of_an_array]
)
def test_tests_that_change_something(program):
    x = np.array([0.2, 0.55, 0.43, 1.1, 2.8])
    assert_like_python(program, x)
    assert_slope(program, x)


class Budget:
    """Its truth value, and a property, count how often they are asked for."""

    def __init__(self):
        self.n = 0

    def __bool__(self):
        self.n += 1
        return self.n < 4

    @property
    def left(self):
        self.n += 1
        return 6 - self.n


@pytest.mark.parametrize("test", ["budget", "budget.left > 0", "total < 1.0 and budget.left"])
def test_tests_that_ask_an_object(test, tmp_path):
    text = (
        "def program(x, budget):\n    total = 0.0\n"
        f"    while {test}:\n        total += x[0]\n    return total + budget.n * x[1]\n"
    )
    program = module_from(text, tmp_path).program
    x = np.array([0.3, 0.5])
    assert_like_python(lambda x: program(x, Budget()), x)
    assert_slope(lambda x: program(x, Budget()), x)
