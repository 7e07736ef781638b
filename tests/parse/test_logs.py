"""Lists whose length is data: they are handed on, or read as a whole, and what else looks into them is refused."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import InvalidIndex, UnsupportedProgram
from sdfgad.parse.assumptions import Assumptions
from sdfgad.parse.value_specialisation import Values
from sdfgad.specialise.guards import Measuring
from tests.helpers import line_of
from tests.helpers_ir import assert_like_python, assert_value_and_slope, checked_outputs, parsed

A = np.array([0.5, 2.0, 3.0])


def newton(a, tol):
    x, history = 1.0, []
    for _ in range(30):
        error = x * x - a
        history.append(abs(error))
        if abs(error) < tol:
            return x, True, history
        x -= error / (2.0 * x)
    return x, False, history


class Solver:
    def __init__(self):
        self.log = {"errors": [], "states": []}

    def run(self, a):
        x = np.ones(3)
        while np.max(np.abs(x * x - a)) > 1e-12:
            self.log["errors"].append(np.max(np.abs(x * x - a)))
            self.log["states"].extend([x, a])
            x = x - (x * x - a) / (2.0 * x)
        return x


def handed_on(a):
    root, is_done, _ = newton(a[1], 1e-13)
    solver = Solver()
    log = solver.log["errors"] if root > 1.0 else solver.log["states"]
    return np.sum(solver.run(a) ** 3) * root + (0.0 if is_done else 1e3), log is None, solver.log["errors"]


def test_a_log_is_handed_on_through_calls_objects_and_results():
    g = sdfgad.differentiate(handed_on, wrt="a", output="return[0]")
    value, gradient = g.value_and_grad(A)
    np.testing.assert_allclose(value, handed_on(A)[0], rtol=1e-13)
    expected = 1.5 * np.sqrt(A * A[1]) + [0.0, 0.5 * np.sum(A**1.5) / np.sqrt(A[1]), 0.0]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def unpacked(a):
    x, _, (first, *_) = newton(a[1], 1e-13)
    return x * first


def gone_over(a):
    x, _, history = newton(a[1], 1e-13)
    for one in history:
        x += one
    return x * isinstance(history, list)


def test_a_log_is_gone_over_where_its_length_is_a_constant_of_the_call():
    assert_value_and_slope(gone_over, A)


def compared(a):
    x, _, history = newton(a[1], 1e-13)
    return x * (history == [])


def held_by_another(a):
    x, _, history = newton(a[1], 1e-13)
    return x * np.mean(np.array([history, history]))


def copied(a):
    x, _, history = newton(a[1], 1e-13)
    return x * len(history.copy())


@pytest.mark.parametrize("program", [compared, held_by_another, copied, unpacked])
def test_to_look_into_a_list_of_few_items_the_tests_are_decided_by_the_call(program):
    assert_value_and_slope(program, A)


def relaxed(a, tol):
    x, history = 1.0, []
    for _ in range(100):
        error = x * x - a
        history.append(abs(error))
        if abs(error) < tol:
            return x, True, history
        x -= 0.1 * error
    return x, False, history


def long_one_compared(a):
    x, _, history = relaxed(a[1], 1e-5)
    return x * (history == [])


def long_one_held_by_another(a):
    x, _, history = relaxed(a[1], 1e-5)
    return x * np.mean(np.array([history, history]))


def long_one_copied(a):
    x, _, history = relaxed(a[1], 1e-5)
    return x * len(history.copy())


def long_one_unpacked(a):
    x, _, (first, *_) = relaxed(a[1], 1e-5)
    return x * first


@pytest.mark.parametrize("program", [long_one_compared, long_one_held_by_another, long_one_copied])
def test_to_look_into_a_log_is_refused_where_its_length_is_data(program):
    with pytest.raises(UnsupportedProgram, match=r"list is changed in a loop .*\n.*history.append\(abs\(error\)\)"):
        sdfgad.differentiate(program, wrt="a").compile(A)


def test_a_log_is_not_unpacked():
    with pytest.raises(UnsupportedProgram, match=r"(?s)unpack a list whose length is known only at run time.*first"):
        sdfgad.differentiate(long_one_unpacked, wrt="a").compile(A)


def triplets(x):
    values = []
    for k in range(2):
        for j in range(2):
            values.append(x[k] * x[j])
    return sp.csr_array(np.reshape(np.array(values), (2, 2))) @ x[:2]


def test_a_list_that_was_followed_is_not_the_reason():
    with pytest.raises(UnsupportedProgram, match="csr_array of a dense array, whose zeros are data") as caught:
        sdfgad.differentiate(triplets, reduce="sum").compile(A)
    assert line_of(triplets, "csr_array") in str(caught.value)


# --- items that are replaced, and last items that are removed


def ends_at_the_limit(x, s):
    ts = [0.0]
    while ts[-1] < s:
        ts.append(ts[-1] + x[0])
    ts[-1] = s * x[1]
    return np.sum(np.array(ts) ** 2) * ts[-2]


def without_the_last(x, s):
    ts, us = [0.0], [x[2]]
    while ts[-1] < s:
        ts.append(ts[-1] + x[0])
        us.append(us[-1] * 1.1)
    over = ts.pop()
    if us[-1] > x[2] + 0.1:
        us.pop()
    return np.sum(np.array(us) ** 2) * over + ts[-1]


def replaced_in_the_loop(x, s):
    ts = [0.5]
    other = ts
    while ts[-1] < s:
        ts.append(ts[-1] + x[0])
        if ts[-1] > s:
            other[-1] = s * x[2]
            break
        ts[0] += x[1]
        ts[-1] *= 1.05
    return ts[0] * ts[-1] + np.sum(np.array(other))


def arrays_of_states(x, s):
    ys = [x * 1.0]
    while ys[-1][0] < s:
        ys.append(ys[-1] + 0.5 * x)
    ys[-1] = x * s
    last = ys.pop()
    ys.append(np.sin(last) * ys[-1])
    return np.sum(np.array(ys) ** 2) * ys[-1][1]


@pytest.mark.parametrize("program", [ends_at_the_limit, without_the_last, replaced_in_the_loop, arrays_of_states])
def test_items_that_are_replaced_or_removed(program):
    x = np.array([0.7, 0.3, 0.9])
    for s in (1.0, 2.0, 3.3):
        assert_value_and_slope(program, x, s)
    gradient = sdfgad.differentiate(program, wrt="x")
    value, found = gradient.value_and_grad(x, 2.0)
    assert value == pytest.approx(program(x, 2.0), rel=1e-13)
    steps = 1e-6 * np.eye(3)
    expected = [(program(x + d, 2.0) - program(x - d, 2.0)) / 2e-6 for d in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def emptied(x, s):
    ts = []
    while len(ts) < s:
        ts.append(x[0])
    return ts.pop() * x[1]


def test_removals_that_raise():
    x = np.array([0.7, 0.3, 0.9])
    assert_like_python(emptied, x, 1.5)
    with pytest.raises(InvalidIndex, match="pop from empty list"):
        checked_outputs(parsed(emptied, x, -1.0), x, -1.0)


def five_removals(x, s):
    ts = [0.0]
    while ts[-1] < s:
        ts.append(ts[-1] + x[0])
    ts.pop(), ts.pop(), ts.pop(), ts.pop()
    return ts.pop() * x[1]


def test_more_removals_than_last_items_are_kept_make_a_stack():
    assert_like_python(five_removals, np.array([0.1, 0.3]), 2.0)


def adaptive(x):
    t, h, y = 0.0, 0.1, x[0]
    times, values, steps, errors, slopes = [t], [y], [], [], []
    while t < 1.0:
        h = min(h, 1.0 - t)
        slope = x[1] - y
        error = np.abs(h * slope * 0.5)
        if error < 0.02:
            t, y = t + h, y + h * slope
            times.append(t)
            values.append(y)
            steps.append(h)
        errors.append(error)
        slopes.append(slope * y)
        h = h * np.clip(np.sqrt(0.01 / (error + 1e-9)), 0.5, 2.0)
    return np.sum(np.array(times) * np.array(values)) + sum(steps) + errors[-1] * slopes[0] + len(slopes)


def attempts_of(monkeypatch):
    """A list that grows with each further attempt to parse."""
    made, after = [], Assumptions.after

    def counted(self, failure, b, symbols):
        made.append(after(self, failure, b, symbols))
        return made[-1]

    monkeypatch.setattr(Assumptions, "after", counted)
    return made


def test_all_lists_of_a_loop_and_all_that_is_read_of_them_are_found_at_once(monkeypatch):
    more, measured = attempts_of(monkeypatch), []
    values = Measuring.values
    monkeypatch.setattr(Measuring, "values", lambda self, call: measured.append(self) or values(self, call))
    X = np.array([1.5, 0.4])
    g = sdfgad.differentiate(adaptive)
    np.testing.assert_allclose(g.value(X), adaptive(X), rtol=1e-13)
    # Five lists, three of which are read as a whole: these would be 5 + 5 + 3 + 3 attempts.
    assert len(more) <= 6
    assert len(measured) <= 2
    sdfgad.check_grads(adaptive, X)


def test_integers_of_an_attempt_before_are_checked(monkeypatch):
    by_place = Values.by_place.fget
    wrong = property(lambda self: {place: value + 1 for place, value in by_place(self).items()})
    monkeypatch.setattr(Values, "by_place", wrong)
    X = np.array([1.5, 0.4])
    np.testing.assert_allclose(sdfgad.differentiate(adaptive).value(X), adaptive(X), rtol=1e-13)


def harvested_late(x, effort):
    y, t, states = x * 1.0, 0.01 * x[0], [x * 1.0]
    while t < 1.01:
        y = y + 0.005 * y * x
        t += 0.005
        states.append(y)
        if t > 0.5:
            y = y * (1.0 - effort)
        y[1] *= 0.9
    return np.sum(np.array(states))


def test_an_array_that_is_updated_after_it_was_appended_is_refused():
    what = "an array that is in a list whose length is data is updated in place"
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        sdfgad.differentiate(harvested_late).compile(np.array([0.8, 1.3]), 0.1)
    assert line_of(harvested_late, "states =") in str(caught.value)


@dataclass
class Events:
    up: list = field(default_factory=list)
    down: list = field(default_factory=list)


@dataclass
class Valve:
    level: float
    opened: list = field(default_factory=list)
    seen: Events = field(default_factory=Events)

    def step(self, inflow):
        if self.level > 2.0:
            self.opened.append(self.level)
            self.level *= 0.4
        elif self.level < 0.5:
            self.seen.up.append((self.level, inflow))
            self.level += 1.0
        else:
            self.seen.down.append(inflow)
        self.level += inflow


def valves(x, level):
    one, other = Valve(level), Valve(2.0 * level)
    for inflow in x:
        one.step(inflow)
        other.step(2.0 * inflow)
    counted = len(one.opened) + 3 * len(other.opened) + 7 * len(one.seen.up) - 2 * len(other.seen.down)
    return one.level * counted + other.level + one.opened[-1] * other.opened[0] + one.seen.up[0][0]


def test_lists_of_default_factories_of_dataclasses():
    x = np.linspace(0.1, 0.8, 40)
    np.testing.assert_allclose(sdfgad.differentiate(valves).value(x, 0.31), valves(x, 0.31), rtol=1e-13)
    sdfgad.check_grads(valves, x, 0.31)
    assert len(str(sdfgad.explain(valves, x, 0.31, stage="parsed")).splitlines()) < 120


class Fit:
    """An iteration that keeps its history, until that changes little."""

    def __init__(self, tolerance, most):
        self.tolerance, self.most = tolerance, most

    def of(self, x):
        self.history = []
        for k in range(self.most):
            x = x - 0.1 * np.sin(x)
            self.history.append(np.sum(x**2))
            if k > 3 and abs(self.history[-1] - self.history[-2]) < self.tolerance:
                break
        self.x = x
        return self


def fits_in_a_list(x):
    fits, best = [], {}
    for scale in (0.5, 1.0):
        fits.append(Fit(1e-3, 60).of(scale * x))
        best.setdefault("fit", (fits[-1], scale))
    fit, scale = best["fit"]
    return sum(fit.history[-1] for fit in fits) + np.sum(fit.x) * scale + fit.history[-2]


def test_objects_with_logs_in_lists():
    assert_value_and_slope(fits_in_a_list, np.array([0.31, 0.73, 0.4]))
