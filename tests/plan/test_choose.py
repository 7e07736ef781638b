"""The choice between the solver's plan and the greedy one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sdfgad.plan import choose as module
from sdfgad.plan.answer import Answer
from sdfgad.plan.choose import Infeasible, choose
from sdfgad.plan.greedy import greedy, keep_all, recompute_all
from sdfgad.plan.problem import Mode, Problem, Solution, Step, Value
from sdfgad.plan.simulate import InvalidPlan, simulate
from tests.plan.random_problems import draw_budget, judged_solutions, random_problem

MODES = (Mode("store", kept=50), Mode("half", kept=30, work=5), Mode("nothing", kept=0, work=100))
PROBLEM = Problem((Step(3, 4, MODES),))


def answering(*answers: Answer) -> Callable[..., Answer]:
    left = list(answers)
    return lambda *_, **__: left.pop(0)


@pytest.mark.parametrize("scale", [1, 100_000_000_003])
def test_random_problems(scale: int) -> None:
    for seed in range(3000, 3150):
        problem = random_problem(seed, scale)
        judged = judged_solutions(problem)
        if not judged:
            with pytest.raises(InvalidPlan):
                choose(problem, None)
            continue
        lowest = min(result.peak for _, result in judged)
        budget = draw_budget(seed, [result.peak for _, result in judged])
        if budget is not None and budget < lowest:
            with pytest.raises(Infeasible) as caught:
                choose(problem, budget)
            assert (caught.value.minimum, caught.value.proven) == (lowest, True)
            assert choose(problem, lowest).simulation.peak == lowest
            continue
        choice = choose(problem, budget)
        assert (choice.method, choice.status, choice.gap) == ("ilp", "optimal", 0.0)
        assert choice.simulation == simulate(problem, choice.solution)
        assert choice.simulation.work == min(
            result.work for _, result in judged if budget is None or result.peak <= budget
        )


def test_infeasible_states_the_minimum() -> None:
    with pytest.raises(Infeasible, match="no plan fits into 3 bytes: the lowest peak is 4 bytes") as caught:
        choose(PROBLEM, 3)
    assert isinstance(caught.value, ValueError)
    assert choose(PROBLEM, 4).solution == Solution((2,))


def test_without_a_solution_in_time_the_greedy_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "solve", answering(Answer(None, "time limit", None, 1.0)))
    choice = choose(PROBLEM, 40)
    assert (choice.solution, choice.method, choice.status, choice.gap) == (Solution((1,)), "greedy", "time limit", None)


@pytest.mark.parametrize(("mode", "method", "gap"), [(2, "greedy", 0.2), (1, "ilp", 0.96)])
def test_at_the_time_limit_the_better_one(monkeypatch: pytest.MonkeyPatch, mode: int, method: str, gap: float) -> None:
    # The gap is of the solver's plan (100 or 5 ns of work): it had proved 4 ns or 0.2 ns.
    monkeypatch.setattr(module, "solve", answering(Answer(Solution((mode,)), "time limit", 0.96, 1.0)))
    choice = choose(PROBLEM, 40)
    assert (choice.solution, choice.method, choice.status) == (Solution((1,)), method, "time limit")
    assert choice.gap == pytest.approx(gap)


def test_neither_finds_a_plan_but_the_lowest_peak_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Answer(Solution((2,)), "optimal", 0.0, 1.0)
    monkeypatch.setattr(module, "solve", answering(Answer(None, "time limit", None, 1.0), found))
    monkeypatch.setattr(module, "greedy", lambda *_: None)
    choice = choose(PROBLEM, 10)
    assert (choice.solution, choice.status, choice.gap) == (Solution((2,)), "feasible", None)


def test_a_minimum_that_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Answer(None, "time limit", None, 1.0)
    monkeypatch.setattr(module, "solve", answering(nothing, nothing))
    with pytest.raises(Infeasible, match="found in time is 4 bytes") as caught:
        choose(PROBLEM, 3)
    assert (caught.value.minimum, caught.value.proven) == (4, False)


def test_a_big_problem_with_hardly_any_time() -> None:
    values = tuple(
        Value(f"v{i}", 10**6 + 7919 * i % 10**5, i, min(79, i + 1), (i,), 1000 + 31 * i % 977,
              (i - 1, i // 2) if i > 1 else (), 79)
        for i in range(80)
    )  # fmt: skip
    problem = Problem(tuple(Step(0, 0) for _ in values), values)
    budget = simulate(problem, keep_all(problem)).peak * 3 // 4
    assert greedy(problem, budget) is not None
    choice = choose(problem, budget, seconds=0.1)
    assert choice.simulation.peak <= budget
    assert choice.status == "time limit"
    assert simulate(problem, recompute_all(problem)).work >= choice.simulation.work
