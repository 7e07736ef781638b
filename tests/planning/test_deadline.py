"""What a plan says of itself where there was not enough time; how much a plan looks at is a matter of counts."""

import math
import time

import numpy as np
import pytest

import sdfgad
from sdfgad.plan import choose
from sdfgad.plan.answer import Answer
from sdfgad.plan.greedy import keep_all
from sdfgad.plan.machine import machine
from sdfgad.planning import search
from sdfgad.planning.deadline import Deadline
from sdfgad.planning.layout import Layout

X, W = np.linspace(-1.0, 1.0, 64 * 8).reshape(64, 8), np.linspace(0.0, 0.2, 6 * 64).reshape(6, 8, 8)


def row(x, W):
    x = np.tanh(x @ W[0]) + 0.1 * np.sin(x)
    x = np.tanh(x @ W[1]) + 0.1 * np.sin(x)
    x = np.tanh(x @ W[2]) + 0.1 * np.sin(x)
    x = np.tanh(x @ W[3]) + 0.1 * np.sin(x)
    x = np.tanh(x @ W[4]) + 0.1 * np.sin(x)
    x = np.tanh(x @ W[5]) + 0.1 * np.sin(x)
    return np.sum(x * x)


def plan(share=0.75, **options):
    stored = sdfgad.differentiate(row, wrt="x", strategy="store_all").plan(X, W).peak_bytes
    return sdfgad.differentiate(row, wrt="x", memory_limit=int(share * stored), **options).plan(X, W)


def facts(plan):
    return plan.peak_bytes, plan.status, plan.gap, [(row.name, row.choice) for row in plan.decisions]


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Plans that are found anew each time, for the same constants of the machine, with nothing in pieces."""
    monkeypatch.setattr(search, "WORTH_PIECES", math.inf)
    known = machine()
    monkeypatch.setattr(search, "machine", lambda: known)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    return tmp_path


def layout(status):
    return Layout(None, (), (), {}, None, status, 0.0)


@pytest.mark.parametrize("status", ["optimal", "feasible", "greedy", "smallest peak"])
def test_a_layout_is_called_the_best_if_there_was_time_to_look(status):
    deadline = Deadline(100.0)
    assert not deadline.is_over
    deadline.answered("optimal")
    deadline.answered(None)
    assert deadline.marked(layout(status)).status == status
    deadline.answered("time limit")
    told = deadline.marked(layout(status))
    assert (told.status, told.gap) == ("time limit", None)


def test_what_was_found_when_time_was_over_keeps_its_gap():
    deadline = Deadline(0.0)
    assert deadline.is_over
    assert deadline.marked(layout("time limit")).gap == 0.0


def test_nothing_found_in_all_of_the_time_is_no_proof():
    deadline = Deadline(0.01)
    time.sleep(1.1 * deadline.for_one_answer())
    deadline.answered(None)
    assert deadline.was_short


@pytest.fixture
def elapsed(monkeypatch):
    """A clock that stands still, but for the seconds that each question to the solver is said to take."""
    now, solve, seconds = [0.0], choose.solve, [0.0]

    def slow(*args, **options):
        now[0] += seconds[0]
        return solve(*args, **options)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(choose, "solve", slow)
    return seconds


@pytest.mark.parametrize("share", [0.85, 0.75])
def test_a_slow_machine_has_the_same_plan(cache, elapsed, monkeypatch, share):
    """Once a second search was begun only where the first one had been quick."""
    whole = plan(share)
    assert whole.status in ("optimal", "feasible")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(cache / "other"))
    elapsed[0] = 4.5
    assert facts(plan(share)) == facts(whole)


def test_a_plan_that_was_cut_short_is_not_called_optimal(cache, elapsed, monkeypatch):
    """Where it is called so, it is the one that is found in any time; once it was another one for each of these."""
    shares = (0.65, 0.7, 0.8, 0.88, 0.95, 0.98)
    whole = [plan(share) for share in shares]
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(cache / "other"))
    elapsed[0] = 20.0
    short = [plan(share) for share in shares]
    assert all(one.peak_bytes <= one.budget_bytes for one in short)
    for mine, other in zip(short, whole, strict=True):
        assert mine.status == "time limit" or facts(mine) == facts(other)


def test_a_better_plan_that_was_not_found_in_time(cache, monkeypatch):
    """The first answer is the best within the limit by upper bounds of its bytes; what exceeds these may be better."""
    solve, limits = choose.solve, []

    def cut_short(problem, budget, **options):
        limits.append(budget)
        is_second = budget is not None and len(limits) > 2
        return Answer(None, "time limit", None, 1.0) if is_second else solve(problem, budget, **options)

    monkeypatch.setattr(choose, "solve", cut_short)
    monkeypatch.setattr(choose, "greedy", lambda problem, _: keep_all(problem))
    found = plan()
    assert limits[1] == found.budget_bytes < limits[2]
    assert (found.status, found.gap) == ("time limit", None)
    assert found.peak_bytes <= found.budget_bytes


def test_more_than_a_solver_can_decide_is_left_to_the_descent(monkeypatch, cache):
    monkeypatch.setattr(search, "DECISIONS_A_SECOND", 0.1)
    found = [plan(), plan()]
    assert found[0].status == "greedy"
    assert facts(found[0]) == facts(found[1])
    assert found[0].peak_bytes <= found[0].budget_bytes
