"""What a plan and an infeasible limit say: values, lines and bytes of the user's program."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InfeasibleBudget
from tests.helpers import line_of

POINTS = 512
VECTOR = 8 * POINTS
STEPS = 30


def looped(steps, u, a):
    y = np.exp(a)
    for _ in range(steps):
        d = np.sin(u) * y
        u = u + 0.1 * d * d
    return np.sum(u * y)


def arguments():
    return STEPS, np.linspace(0.1, 1.0, POINTS), np.linspace(0.5, 1.0, POINTS)


def plan_of(function=looped, args=None, **options):
    return sdfgad.differentiate(function, **options).plan(*(args or arguments()))


def rows(plan):
    return {row.name: row for row in plan.decisions}


@pytest.fixture(scope="module")
def stored():
    return plan_of(strategy="store_all")


@pytest.fixture(scope="module")
def again():
    return plan_of(strategy="recompute_all")


@pytest.fixture(scope="module")
def error():
    with pytest.raises(InfeasibleBudget) as caught:
        plan_of(memory_limit=1)
    return caught.value


# --- rows


def test_there_is_a_row_for_each_value_in_program_order(stored, again):
    assert [row.name for row in stored.decisions] == ["y", "d", "u"]
    assert [row.name for row in again.decisions] == ["y", "loop", "d", "u"]


def test_rows_quote_the_user_s_lines(again):
    found = rows(again)
    assert found["y"].source == line_of(looped, "y = ")
    assert found["loop"].source == line_of(looped, "for _")
    assert found["d"].source == line_of(looped, "d = ")
    assert found["u"].source == line_of(looped, "u = u")


def test_rows_of_what_is_stored(stored):
    found = rows(stored)
    assert {row.choice for row in stored.decisions} == {"store"}
    assert found["y"].bytes == VECTOR
    assert found["d"].bytes == found["u"].bytes == STEPS * VECTOR
    assert found["y"].seconds == 0.0
    assert found["y"].reason == "stored in its own array until it is needed"
    assert found["d"].seconds == found["u"].seconds > 0.0
    assert found["d"].reason == found["u"].reason == "needed by the reverse sweep, but overwritten"


def test_rows_of_what_is_made_again(again):
    found = rows(again)
    assert found["y"].choice == found["d"].choice == "recompute"
    assert found["y"].reason == "recomputed when needed"
    assert found["d"].reason == "recomputed in each trip of the reversed loop"
    # What keeping them would take.
    assert found["y"].bytes == VECTOR
    assert found["d"].bytes == STEPS * VECTOR
    # Both are a call of libm at each point.
    assert found["d"].seconds > 2 * found["y"].seconds > 0.0


def test_rows_of_loops(again):
    found = rows(again)
    length = int(found["loop"].choice.removeprefix("a state every ").removesuffix(" trips"))
    assert found["loop"].bytes == -(-STEPS // length) * VECTOR
    assert found["loop"].reason == f"{STEPS} trips; {STEPS} are recomputed"
    assert found["loop"].seconds > 0.0
    assert found["u"].bytes == length * VECTOR
    assert found["u"].reason == "stored for one segment of its loop at a time"


def test_a_linear_program_has_no_rows():
    def linear(x):
        return np.sum(0.5 * x)

    plan = plan_of(linear, (np.ones(4),))
    assert plan.decisions == ()
    assert "nothing to decide" in str(plan)
    assert plan.peak_bytes == plan.store_all_bytes >= 64


def test_values_that_are_not_needed_have_no_rows():
    def unneeded(x):
        y = 2.0 * x
        z = np.sin(y)
        w = 3.0 * z
        return np.sum(w)

    assert [row.name for row in plan_of(unneeded, (np.ones(8),)).decisions] == ["y"]


# --- moments


def test_the_peak_is_that_of_the_moments(stored, again):
    for plan in (stored, again):
        assert plan.peak_bytes == max(moment.bytes for moment in plan.moments)
        assert plan.peak_point in [m.label for m in plan.moments if m.bytes == plan.peak_bytes]
        assert plan.store_all_bytes == max(moment.bytes for moment in plan.store_all)
    assert stored.moments == stored.store_all == again.store_all


def test_there_is_a_moment_for_each_statement_and_direction(stored):
    labels = [moment.label for moment in stored.moments]
    half = len(labels) // 2
    assert len(labels) == 2 * half
    assert all(label.startswith("forward sweep of ") for label in labels[:half])
    assert all(label.startswith("reverse sweep of ") for label in labels[half:])
    lines = [label.partition(" of ")[2] for label in labels]
    assert lines[:half] == lines[: half - 1 : -1]
    assert lines[0] == line_of(looped, "y = ")
    assert lines[half] == line_of(looped, "return")


def test_moments_by_hand(stored):
    """The tapes are there from the loop to its reverse, and nothing else is as large."""
    forward, before, loop, *_ = [moment.bytes for moment in stored.moments]
    tapes, always = 2 * STEPS * VECTOR, 4 * VECTOR
    # The arguments and their gradients; y; then u's own copy; then the tapes: what a trip makes lives on one of them.
    assert always <= forward - VECTOR <= always + 512
    assert before == forward + VECTOR
    assert loop == before + tapes
    # The adjoint of a is made of that of y and of y itself.
    assert stored.moments[-1].bytes == forward + VECTOR
    # Adjoints of vectors are made where their gradients are: the loop is not reversed with more than it ran with.
    assert stored.peak_point == f"forward sweep of {line_of(looped, 'return')}"
    assert loop <= stored.peak_bytes <= loop + VECTOR


def test_the_peak_is_what_is_measured():
    for options in ({"strategy": "store_all"}, {"strategy": "recompute_all"}, {"memory_limit": "120 KiB"}):
        g = sdfgad.differentiate(looped, **options)
        plan, measured = g.plan(*arguments()), g.measure(*arguments(), repeats=1)
        assert 0.95 * plan.peak_bytes <= measured.peak_bytes <= plan.peak_bytes


# --- the plan as a whole


def test_attributes(stored, monkeypatch):
    # What is run again costs more than pieces would, which are not said to be the best; plans for 120 KiB are recalled.
    monkeypatch.setattr("sdfgad.planning.search.WORTH_PIECES", math.inf)
    plan = plan_of(memory_limit="121 KiB")
    assert (plan.strategy, plan.budget_bytes, plan.solver) == ("ilp", 121 << 10, "CBC")
    assert plan.status == "optimal"
    assert 0.0 <= plan.gap <= 0.01
    assert 0.0 < plan.solve_seconds < 10.0
    assert plan.store_all == stored.store_all
    assert (stored.strategy, stored.budget_bytes, stored.solver, stored.status) == ("store_all", None, "none", "fixed")


def test_json(again):
    found = json.loads(again.to_json())
    assert found["peak_bytes"] == again.peak_bytes
    assert found["decisions"][0] == {
        "name": "y",
        "source": line_of(looped, "y = "),
        "bytes": VECTOR,
        "choice": "recompute",
        "seconds": again.decisions[0].seconds,
        "reason": "recomputed when needed",
    }
    assert [m["bytes"] for m in found["moments"]] == [m.bytes for m in again.moments]
    assert found["budget_bytes"] is None


def test_text(again):
    text = str(again)
    source = Path(line_of(looped, "y = ").partition(":")[0])
    for row in again.decisions:
        assert row.name in text
        assert row.choice in text
    assert f"{source.name}:" in text
    assert str(source.parent) not in text
    assert "no limit" in text
    assert "recompute_all: fixed" in text
    limited = str(plan_of(memory_limit="120 KiB"))
    assert "limit 120.0 KiB" in limited
    assert "solver CBC" in limited


# --- limits that cannot be kept


def test_the_error_says_what_would_do(error):
    assert f"memory_limit={error.minimum_bytes}" in error.todo
    assert "smaller arguments" in error.todo
    assert "fewer arguments in `wrt`" in error.todo
    assert "strategy=" not in error.todo
    assert "no plan keeps memory_limit=1 bytes" in error.what
    assert plan_of(memory_limit=error.minimum_bytes).peak_bytes <= error.minimum_bytes


def test_the_error_lists_the_largest_values_first(error):
    lines = error.what.splitlines()
    start = next(k for k, line in enumerate(lines) if "largest values" in line)
    listed = [line.strip() for line in lines[start + 1 :]]
    tape = f"{STEPS * VECTOR / 1024:.1f} KiB"
    assert listed == [
        f"d: {tape}, from {line_of(looped, 'd = ')}",
        f"u: {tape}, from {line_of(looped, 'u = u')}",
        f"y: {VECTOR / 1024:.1f} KiB, from {line_of(looped, 'y = ')}",
    ]


def test_the_error_of_a_program_without_values_lists_none():
    def linear(x):
        return np.sum(0.5 * x)

    with pytest.raises(InfeasibleBudget) as caught:
        plan_of(linear, (np.ones(100),), memory_limit=100)
    assert "largest" not in str(caught.value)
    assert caught.value.minimum_bytes >= 1600


def test_the_error_of_another_strategy_names_it():
    with pytest.raises(InfeasibleBudget, match="the strategy 'store_all' does not keep") as caught:
        plan_of(memory_limit="100 KiB", strategy="store_all")
    assert 'strategy="ilp"' in caught.value.todo
    assert caught.value.minimum_bytes == plan_of(strategy="store_all").peak_bytes


def test_all_calls_raise_it():
    g = sdfgad.differentiate(looped, memory_limit=1)
    for call in (g, g.value_and_grad, g.plan, g.sdfg, g.measure, g.compile):
        with pytest.raises(InfeasibleBudget):
            call(*arguments())
    # The forward program alone needs no plan.
    np.testing.assert_allclose(g.value(*arguments()), looped(*arguments()))
