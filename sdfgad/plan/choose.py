"""Choice of a plan: the solver's solution if there is one, else the heuristic's; the simulator checks either."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from sdfgad.plan.answer import Answer
from sdfgad.plan.greedy import greedy, keep_all, lowest_peak
from sdfgad.plan.ilp import solve
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.simulate import Simulation, simulate


class Infeasible(ValueError):
    """No plan fits into the budget.

    Attributes:
        minimum: the lowest budget known to be feasible: the peak of some plan.
        proven: whether it is proved that no lower budget is feasible.
    """

    def __init__(self, minimum: int, budget: int, proven: bool = True) -> None:
        known = "the lowest peak" if proven else "the lowest peak that was found in time"
        super().__init__(f"no plan fits into {budget} bytes: {known} is {minimum} bytes")
        self.minimum = minimum
        self.proven = proven


@dataclass(frozen=True)
class Choice:
    """The plan that is chosen.

    Attributes:
        status, gap: as in `ilp.Answer`; the gap is that of this solution, whoever found it.
        seconds: how long it took to choose.
        method: "ilp" or "greedy": who found the solution.
    """

    solution: Solution
    simulation: Simulation
    status: str
    gap: float | None
    seconds: float
    method: str


def choose(
    problem: Problem, budget: int | None, solver: str = "CBC", seconds: float = 10.0, tolerance: float = 0.0
) -> Choice:
    """Finds the solution with the least work within `budget` bytes (None: any).

    Args:
        seconds: how long the solver may take in all, though never less than a tenth of that at a time.
        tolerance: a solution that is at most this fraction from the best counts as optimal.

    Raises:
        Infeasible: no plan fits.
        InvalidPlan: what the user fixed cannot be carried out, whatever the budget.
        SolverMissing: `solver` is unknown or not installed.
        RuntimeError: by simulation, the solver's solutions exceed the budget.
    """
    start = time.perf_counter()
    found = within(problem, budget, solver, seconds, tolerance)
    if found is None and budget is not None:
        found = _smallest(problem, budget, solver, max(seconds / 10, seconds - time.perf_counter() + start))
    if found is None:
        raise RuntimeError("no plan was found, though there is no budget to keep")
    return replace(found, seconds=time.perf_counter() - start)


def within(
    problem: Problem,
    budget: int | None,
    solver: str = "CBC",
    seconds: float = 10.0,
    tolerance: float = 0.0,
    most: float = math.inf,
) -> Choice | None:
    """The same, but None if no fitting solution is found.

    Args:
        most: the solver is not called for models with more integer variables.

    Raises:
        InvalidPlan, SolverMissing, RuntimeError: as `choose`.
    """
    start = time.perf_counter()
    simulate(problem, keep_all(problem))  # What is invalid here is invalid in every plan.
    answer = solve(problem, budget, solver=solver, seconds=seconds, tolerance=tolerance, most=most)
    found = _of_solver(problem, answer)
    if answer.status == "time limit" or (found is None and answer.status != "infeasible"):
        found = _better(found, _of_greedy(problem, answer, greedy(problem, budget)))
    return None if found is None else replace(found, seconds=time.perf_counter() - start)


def _of_solver(problem: Problem, answer: Answer) -> Choice | None:
    if answer.solution is None:
        return None
    result = simulate(problem, answer.solution)
    return Choice(answer.solution, result, answer.status, answer.gap, 0.0, "ilp")


def _of_greedy(problem: Problem, answer: Answer, solution: Solution | None) -> Choice | None:
    """The greedy solution; what the solver proved about its own says how good it is."""
    if solution is None:
        return None
    result = simulate(problem, solution)
    gap = None
    if answer.solution is not None and answer.gap is not None:
        bound = simulate(problem, answer.solution).work * (1 - answer.gap)
        gap = max(0.0, (result.work - bound) / result.work) if result.work > 0 else 0.0
    return Choice(solution, result, answer.status, gap, 0.0, "greedy")


def _better(one: Choice | None, other: Choice | None) -> Choice | None:
    if one is None or other is None:
        return one or other
    return one if one.simulation.work <= other.simulation.work else other


def _smallest(problem: Problem, budget: int, solver: str, seconds: float) -> Choice:
    """The solution with the lowest peak, if it fits after all.

    Raises:
        Infeasible: it does not.
    """
    answer = solve(problem, None, objective="peak", solver=solver, seconds=seconds)
    found = _of_solver(problem, answer)
    if found is None or answer.status != "optimal":
        other = _of_greedy(problem, Answer(None, answer.status, None, 0.0), lowest_peak(problem))
        choices = [choice for choice in (found, other) if choice is not None]
        found = min(choices, key=lambda choice: choice.simulation.peak)
    if found.simulation.peak > budget:
        raise Infeasible(found.simulation.peak, budget, proven=answer.status == "optimal")
    # Optimal it is only in its peak, so nothing is known of its work.
    status = "feasible" if answer.status == "optimal" else answer.status
    return replace(found, status=status, gap=None)
