"""Calls that print, warn or log: left out of the compiled program, with a warning while parsing."""

import collections
import logging
import sys
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import IgnoredPrint
from tests.helpers_ir import assert_value_and_slope

LOG = logging.getLogger(__name__)
X = np.array([0.7, 1.3, 2.1])


def chatty(x):
    logging.debug("begin")
    total = 0.0
    for i in range(3):
        if x[i] > 1.0:
            warnings.warn("large: %d" % i)  # noqa: B028, UP031
            LOG.info("x is %s", x[i])
        sys.stderr.write("." + str(i))
        total += np.sin(x[i])
    sys.stdout.flush()
    return total


def test_output_has_no_effect_on_numbers():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value, gradient = sdfgad.differentiate(chatty, wrt="x").value_and_grad(X)
    assert value == pytest.approx(np.sum(np.sin(X)), rel=1e-14)
    np.testing.assert_allclose(gradient, np.cos(X), rtol=1e-14)
    told = {str(one.message).partition(" is ignored at")[0] for one in caught if one.category is IgnoredPrint}
    assert told == {"logging.debug", "warnings.warn", "LOG.info", "sys.stderr.write", "sys.stdout.flush"}


def filtered(x):
    warnings.filterwarnings("ignore")
    return np.sum(x**2)


def test_filters_of_warnings_are_left_out():
    np.testing.assert_allclose(sdfgad.differentiate(filtered, wrt="x")(X), 2.0 * X)


class Solver:
    def __init__(self, gain, verbose):
        self.gain, self.last, self.verbose = gain, None, verbose

    def step(self, y, k):
        d = 0.0 if self.last is None else y - self.last
        self.last = y
        if k % 50 == 0:
            LOG.debug("step %d: %.2f, %s", k, y, np.mean(y))
        if self.verbose and k > 3:
            print(f"step {k}: {y.item():.2f}")
        return y + 0.1 * (5.0 - y) + self.gain * d


def reported_now_and_then(x):
    solver, y = Solver(x[1], False), x[0]
    for k in range(576):
        y = solver.step(y, k)
    return y


def test_reports_now_and_then_do_not_split_a_loop():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = str(sdfgad.explain(reported_now_and_then, X, stage="parsed"))
    assert len(program.splitlines()) < 20
    told = {str(one.message).partition(" is ignored at")[0] for one in caught if one.category is IgnoredPrint}
    assert told == {"LOG.debug"}
    with pytest.warns(IgnoredPrint):
        assert_value_and_slope(reported_now_and_then, X)


class Counted:
    def __init__(self):
        self.calls = 0

    def mean(self):
        self.calls += 1
        return self.calls

    @property
    def next_one(self):
        self.calls += 1
        return self.calls

    def __getitem__(self, k):
        self.calls += k
        return self.calls


def prints_what_changes(x):
    counted, made, y = Counted(), collections.defaultdict(list), x[0]
    for k in range(40):
        if k % 10 == 0:
            print(counted.mean())
        if k % 20 == 0:
            print(counted.next_one)
        if counted[1] % 3 == 0:
            print(y)
        if k % 10 == 1:
            print(made[k])
        y = y * 0.9 + x[1]
    return y * counted.calls * len(made)


def test_what_is_printed_may_change_something():
    with pytest.warns(IgnoredPrint):
        assert_value_and_slope(prints_what_changes, X)


class Point:
    def __init__(self, x):
        self.x = x


def reports_what_may_be_none(x):
    """Only Python's order of evaluation makes sure that `best` is there."""
    points, best = [Point(v) for v in x], None
    for k in range(30):
        p = points[k % 3]
        p.x = p.x * 0.9
        if best is None or best.x > p.x:
            best = p
        if best is not None and best.x < 0.5:
            print(best.x)
        if best is None or best.x > 0.1:
            print(k)
    return best.x


def test_what_is_printed_may_be_none():
    with pytest.warns(IgnoredPrint):
        assert_value_and_slope(reports_what_may_be_none, X)
