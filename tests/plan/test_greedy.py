"""The extremes and the descent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sdfgad.plan.greedy import greedy, keep_all, lowest_peak, reaches, recompute_all
from sdfgad.plan.problem import Inner, Mode, Problem, Solution, Step, Tape, Value
from sdfgad.plan.simulate import InvalidPlan, least_live, simulate
from tests.plan.random_problems import draw_budget, judged_solutions, random_problem

STEPS = (Step(0, 0), Step(0, 0, (Mode("store", kept=5), Mode("again", kept=0, work=9))), Step(0, 0))


def test_the_extremes() -> None:
    values = (Value("a", 10, 0, 0, (0,), 5, latest=2), Value("b", 10, 0, 0, (0,), 5))
    inner = (Inner("x", 1, 1), Inner("y", 1, 1), Inner("z", 1, 1))
    problem = Problem(STEPS, values, inner, conflicts=((0, 1),))
    assert keep_all(problem) == Solution((0, 0, 0))
    assert recompute_all(problem) == Solution((0, 1, 0), frozenset({0}), frozenset({0, 2}))
    pinned = replace(problem, fixed_values=((0, False),), fixed_inner=((1, True), (2, False)))
    assert keep_all(pinned) == Solution((0, 0, 0), inner=frozenset({1}))
    assert recompute_all(pinned) == Solution((0, 1, 0), inner=frozenset({1}))


def test_what_cannot_be_made_again_in_time_is_kept() -> None:
    a = Value("a", 10, 0, 0, (0,), 5, latest=1)
    b = Value("b", 10, 1, 1, (2,), 5, inputs=(0,), latest=2)
    problem = Problem(STEPS, (a, b))
    assert recompute_all(problem).values == {1}
    assert recompute_all(replace(problem, fixed_values=((0, True),))).values == {0}


def test_a_tape_that_several_ask_for() -> None:
    tape = Tape("tape", 0, (100,), (0,), (1,), ((-1, 0), (0, 1)))
    problem = Problem((Step(0, 0),), inner=(Inner("x", 0, 3), Inner("y", 0, 4)), tapes=(tape,))
    assert greedy(problem, 99) == Solution((0,), inner=frozenset({0, 1}))


@pytest.mark.parametrize("block", range(3))
def test_random_problems(block: int) -> None:
    fitting = found = 0
    for seed in range(100 * block, 100 * (block + 1)):
        problem = random_problem(seed)
        judged = judged_solutions(problem)
        if not judged:
            with pytest.raises(InvalidPlan):
                greedy(problem, None)
            continue
        simulate(problem, recompute_all(problem))
        assert simulate(problem, lowest_peak(problem)).peak >= min(result.peak for _, result in judged)
        budget = draw_budget(seed, [result.peak for _, result in judged])
        solution = greedy(problem, budget)
        fitting += any(budget is None or result.peak <= budget for _, result in judged)
        if solution is not None:
            found += 1
            assert budget is None or simulate(problem, solution).peak <= budget
    assert found >= 0.9 * fitting


def test_the_same_every_time() -> None:
    problem = random_problem(7)
    budget = simulate(problem, keep_all(problem)).peak - 1
    assert greedy(problem, budget) == greedy(problem, budget)


@pytest.mark.parametrize("seed", range(25))
def test_what_is_reached_can_be_reached(seed: int) -> None:
    problem = random_problem(seed)
    lowest = min(result.peak for _, result in judged_solutions(problem))
    assert not reaches(problem, lowest - 1)
    assert reaches(problem, simulate(problem, keep_all(problem)).peak)
    if reaches(problem, lowest):
        assert greedy(problem, lowest) is not None


@pytest.mark.parametrize("seed", range(40))
def test_no_solution_is_below_the_lower_bound(seed: int) -> None:
    problem = random_problem(seed)
    bound = least_live(problem)
    for _, result in judged_solutions(problem):
        assert all(low <= live for low, live in zip(bound, result.live, strict=True))
    assert not reaches(problem, max(bound) - 1)
