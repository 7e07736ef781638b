"""Integer linear programming: the optimal solution of the planning problem, with the solver's answers simulated."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from importlib.util import find_spec

from sdfgad.plan.answer import Answer, Effort, left_out
from sdfgad.plan.model import build
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.simulate import InvalidPlan, cheapest_modes, simulate
from sdfgad.progress import stage

SOLVERS = ("CBC", "HiGHS")
# A solver takes 0.999999 for 1. Of huge sizes that is worth some bytes, so that a plan may be over the budget by them.
ATTEMPTS = 4


class SolverMissing(ValueError):
    """The solver named by the user is unknown or not installed."""


def solve(
    problem: Problem,
    budget: int | None,
    *,
    objective: str = "work",
    solver: str = "CBC",
    seconds: float = 10.0,
    tolerance: float = 0.0,
    most: float = math.inf,
) -> Answer:
    """Finds the solution with the least work, or with the lowest peak, within `budget` bytes (None: without a limit).

    Args:
        tolerance: a solution that is at most this fraction from the best counts as optimal.
        most: models with more integer variables are not solved: unlike a time limit, this depends on no clock.

    Raises:
        SolverMissing: `solver` is unknown or not installed.
        ValueError: `objective` is neither "work" nor "peak".
        RuntimeError: by simulation, the solver's solutions exceed the budget.
    """
    start = time.perf_counter()
    if objective not in ("work", "peak"):
        raise ValueError(f"unknown objective {objective!r}: it is 'work' or 'peak'")
    check_solver(solver)
    answer = _without_solver(problem, budget, objective)
    if answer is not None:
        return replace(answer, seconds=time.perf_counter() - start)
    with stage(f"planning the memory: {solver} decides, for at most {seconds:.0f} s"):
        answer = _verified(problem, budget, objective, Effort(solver, start + seconds, tolerance, most))
    gap = answer.gap if answer.gap is None or answer.status != "optimal" else max(answer.gap, tolerance)
    return Answer(answer.solution, answer.status, gap, time.perf_counter() - start)


def _verified(problem: Problem, budget: int | None, objective: str, effort: Effort) -> Answer:
    """The solver's answer, as soon as the simulator agrees.

    Raises:
        RuntimeError: it never does.
    """
    from sdfgad.plan.solver import run  # It imports PuLP: not for plans that are known.

    model = build(problem, counts_bytes=budget is not None or objective == "peak")
    if sum(kind is not None for kind in model.binaries) > effort.most:
        return Answer(None, "too large", None, 0.0)
    for _ in range(ATTEMPTS):
        answer = run(model, budget, objective, effort)
        if answer.solution is None or not _is_over(problem, answer.solution, budget):
            return answer
        model.forbid(answer.solution)
    # Too many solutions are over the budget by less than the solver can tell.
    lower = None if budget is None else budget - (budget >> 10)
    answer = left_out(run(model, lower, objective, effort))
    if answer.solution is not None and _is_over(problem, answer.solution, budget):
        raise RuntimeError(f"the solver's plan is over the budget of {budget} bytes")
    return answer


def check_solver(solver: str) -> None:
    """Raises: SolverMissing: `solver` is unknown or not installed."""
    if solver not in SOLVERS:
        raise SolverMissing(f"unknown solver {solver!r}: there are {' and '.join(SOLVERS)}")
    if solver == "HiGHS" and find_spec("highspy") is None:
        raise SolverMissing("HiGHS is not installed: pip install highspy, or use CBC")


def _is_over(problem: Problem, solution: Solution, budget: int | None) -> bool:
    try:
        peak = simulate(problem, solution).peak
    except InvalidPlan as error:
        raise RuntimeError(f"the solver's plan cannot be carried out: {error}") from error
    return budget is not None and peak > budget


def _without_solver(problem: Problem, budget: int | None, objective: str) -> Answer | None:
    """The answer where there is nothing to decide, or where the least of all work fits; None: a solver is needed."""
    fixed = dict(problem.fixed_values)
    free_inner = len(dict(problem.fixed_inner)) < len(problem.inner)
    free_values = any(value.latest >= 0 and index not in fixed for index, value in enumerate(problem.values))
    free = free_inner or free_values or any(len(step.modes) > 1 for step in problem.steps)
    if free_inner or (free and objective == "peak"):
        return None
    inner = frozenset(index for index, wanted in problem.fixed_inner if wanted)
    values = frozenset(index for index, wanted in fixed.items() if wanted)
    solution = Solution(cheapest_modes(problem, inner), values, inner)
    try:
        fits = budget is None or simulate(problem, solution).peak <= budget
        simulate(problem, solution)
    except InvalidPlan:  # It does no more than what is fixed, so what is fixed is at fault.
        return Answer(None, "infeasible", None, 0.0)
    if fits:
        return Answer(solution, "optimal", 0.0, 0.0)
    return None if free else Answer(None, "infeasible", None, 0.0)
