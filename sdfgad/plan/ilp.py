"""The integer program is solved here: the only file that knows PuLP."""

from __future__ import annotations

import math
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import pulp

from sdfgad.plan.model import ONE, Model, Sum, binding, build, unit
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.simulate import InvalidPlan, cheapest_modes, simulate

SOLVERS = ("CBC", "HiGHS")
# A solver takes 0.999999 for 1. Of huge sizes that is worth some bytes, so that a plan may be over the budget by them.
ATTEMPTS = 4


class SolverMissing(ValueError):
    """The solver that was asked for is unknown or not installed."""


@dataclass(frozen=True)
class Answer:
    """What the solver found.

    Attributes:
        solution: the best one, replayed by the simulator; None if there is none.
        status: "optimal"; "infeasible": provably without solution; "feasible": the best of those that were looked at,
            but choices were left out; "unknown": nothing among those; "time limit", with a solution or without one;
            "failed": the solver broke down.
        gap: how far the objective may be from the best, as a fraction of it; None if that is unknown.
        seconds: how long it took.
    """

    solution: Solution | None
    status: str
    gap: float | None
    seconds: float


FAILED = Answer(None, "failed", None, 0.0)


@dataclass(frozen=True)
class _Effort:
    """Who solves, until when (`time.perf_counter`), and how far from the best, as a fraction, is good enough."""

    solver: str
    deadline: float
    tolerance: float


def solve(
    problem: Problem,
    budget: int | None,
    *,
    objective: str = "work",
    solver: str = "CBC",
    seconds: float = 10.0,
    tolerance: float = 0.0,
) -> Answer:
    """Find the solution with the least work, or with the lowest peak, within `budget` bytes (None: without a limit).

    Args:
        tolerance: a solution that is at most this fraction from the best counts as optimal.

    Raises:
        SolverMissing: `solver` is unknown or not installed.
        ValueError: `objective` is neither "work" nor "peak".
        RuntimeError: the solver's answer does not stand the simulation.
    """
    start = time.perf_counter()
    if objective not in ("work", "peak"):
        raise ValueError(f"unknown objective {objective!r}: it is 'work' or 'peak'")
    check_solver(solver)
    answer = _without_solver(problem, budget, objective)
    if answer is not None:
        return replace(answer, seconds=time.perf_counter() - start)
    answer = _verified(problem, budget, objective, _Effort(solver, start + seconds, tolerance))
    gap = answer.gap if answer.gap is None or answer.status != "optimal" else max(answer.gap, tolerance)
    return Answer(answer.solution, answer.status, gap, time.perf_counter() - start)


def _verified(problem: Problem, budget: int | None, objective: str, effort: _Effort) -> Answer:
    """The solver's answer, as soon as the simulator agrees.

    Raises:
        RuntimeError: it never does.
    """
    model = build(problem)
    for _ in range(ATTEMPTS):
        answer = _run(model, budget, objective, effort)
        if answer.solution is None or not _is_over(problem, answer.solution, budget):
            return answer
        model.forbid(answer.solution)
    # Too many solutions are over the budget by less than the solver can tell.
    lower = None if budget is None else budget - (budget >> 10)
    answer = _left_out(_run(model, lower, objective, effort))
    if answer.solution is not None and _is_over(problem, answer.solution, budget):
        raise RuntimeError(f"the solver's plan is over the budget of {budget} bytes")
    return answer


def check_solver(solver: str) -> None:
    """Raises: SolverMissing: `solver` is unknown or not installed."""
    if solver not in SOLVERS:
        raise SolverMissing(f"unknown solver {solver!r}: there are {' and '.join(SOLVERS)}")
    if solver == "HiGHS" and not pulp.HiGHS.hscb:
        raise SolverMissing("HiGHS is not installed: pip install highspy, or use CBC")


def _is_over(problem: Problem, solution: Solution, budget: int | None) -> bool:
    try:
        peak = simulate(problem, solution).peak
    except InvalidPlan as error:
        raise RuntimeError(f"the solver's plan cannot be carried out: {error}") from error
    return budget is not None and peak > budget


def _left_out(answer: Answer) -> Answer:
    status = {"optimal": "feasible", "infeasible": "unknown"}.get(answer.status, answer.status)
    return Answer(answer.solution, status, None, answer.seconds)


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


def _run(model: Model, budget: int | None, objective: str, effort: _Effort) -> Answer:
    if any(row.keys() == {ONE} for row in model.rows):
        return Answer(None, "infeasible", None, 0.0)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.filterwarnings("ignore", message=r".*PuLP 4\.0", category=DeprecationWarning)
        log = Path(folder) / "log"
        try:
            answer = _run_once(model, budget, objective, _solver(effort, log), log)
        except pulp.PulpSolverError:
            answer = _run_again(model, budget, objective, effort, log) if effort.solver == "CBC" else FAILED
    if answer.status == "infeasible" and time.perf_counter() >= effort.deadline:
        answer = Answer(None, "time limit", None, 0.0)  # What a solver that ran out of time says is no proof.
    return _left_out(answer) if model.pruned else answer


def _run_once(model: Model, budget: int | None, objective: str, solver: pulp.LpSolver, log: Path) -> Answer:
    program = _Program(model, budget, objective)
    return program.answer(program.solve(solver), log)


def _run_again(model: Model, budget: int | None, objective: str, effort: _Effort, log: Path) -> Answer:
    """Run CBC in the way that does not break down, but is no proof that a solution is the best."""
    try:
        answer = _run_once(model, budget, objective, _cbc(effort, log, preprocess=True), log)
    except pulp.PulpSolverError:
        return FAILED
    return answer if answer.status == "infeasible" else _left_out(answer)


def _solver(effort: _Effort, log: Path) -> pulp.LpSolver:
    if effort.solver == "CBC":
        return _cbc(effort, log, preprocess=False)
    limit, gap = _time_left(effort.deadline), effort.tolerance
    return pulp.HiGHS(msg=False, threads=1, timeLimit=limit, gapRel=gap, gapAbs=0.0, random_seed=1)


def _cbc(effort: _Effort, log: Path, *, preprocess: bool) -> pulp.LpSolver:
    # With preprocessing CBC 2.10.3 loses the optimum of some models, also of ones with small whole coefficients;
    # without it breaks down at some that are infeasible. It is serial unless told otherwise; told to use one thread
    # it sometimes hangs.
    options = ["randomSeed 1", "randomCbcSeed 1", *([] if preprocess else ["preprocess off"])]
    limit, gap = _time_left(effort.deadline), effort.tolerance
    solver = pulp.PULP_CBC_CMD(msg=False, timeLimit=limit, gapRel=gap, gapAbs=0.0, options=options, logPath=str(log))
    solver.tmpDir = str(log.parent)  # Where it breaks down, PuLP leaves its files.
    return solver


def _time_left(deadline: float) -> float:
    return max(0.05, deadline - time.perf_counter())


class _Program:
    """A model handed to PuLP."""

    def __init__(self, model: Model, budget: int | None, objective: str) -> None:
        self.model = model
        self.objective = objective
        self.program = pulp.LpProblem("plan", pulp.LpMinimize)
        self.variables = [
            pulp.LpVariable(f"v{index}", 0, 1, pulp.LpContinuous if kind is None else pulp.LpInteger)
            for index, kind in enumerate(model.binaries)
        ]
        self._set_objective()
        for row in model.rows:
            self._require(row, 0, unit([row]))
        live = binding(model, budget) if budget is not None else []
        scale = unit(live)
        # Bytes are whole: with half a byte more, rounding does not exclude what uses up the budget.
        limit = budget or 0 if isinstance(scale, int) else (budget or 0) + 0.5
        for row in live:
            self._require(row, limit, scale)

    def _set_objective(self) -> None:
        if self.objective == "work":
            self.scale = unit([self.model.work])
            self.program += self._expression(self.model.work, self.scale)
            return
        live = binding(self.model, None)
        self.scale = unit(live)
        peak = pulp.LpVariable("peak", 0)
        self.program += 1 * peak
        for row in live:
            self.program += self._expression(row, self.scale) - peak <= -row.get(ONE, 0) / self.scale

    def _require(self, row: Sum, limit: float, scale: float) -> None:
        self.program += self._expression(row, scale) <= (limit - row.get(ONE, 0)) / scale

    def _expression(self, terms: Sum, scale: float) -> pulp.LpAffineExpression:
        """The terms without their constant."""
        return pulp.LpAffineExpression(
            [(self.variables[key], factor / scale) for key, factor in terms.items() if key != ONE]
        )

    def solve(self, solver: pulp.LpSolver) -> str:
        """Solve, and say how it went: `sol_status` counts, because `status` is Optimal for any solution."""
        self.program.solve(solver)
        found = self.program.sol_status
        if found in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
            return "optimal" if found == pulp.LpSolutionOptimal else "time limit"
        return {pulp.LpStatusInfeasible: "infeasible", pulp.LpStatusNotSolved: "time limit"}.get(
            self.program.status, "failed"
        )

    def answer(self, status: str, log: Path) -> Answer:
        if self.program.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
            return Answer(None, status, None, 0.0)
        solution = self._solution()
        return Answer(solution, status, 0.0 if status == "optimal" else self._gap(solution, log), 0.0)

    def _solution(self) -> Solution:
        model = self.model
        fixed = {value for value, wanted in model.problem.fixed_values if wanted}
        again = {value for value, made in model.again.items() if any(self._is_one({key: 1}) for key in made.values())}
        return Solution(
            tuple(next(mode for mode, what in chosen.items() if self._is_one(what)) for chosen in model.modes),
            frozenset(fixed | again),
            frozenset(position for position, what in enumerate(model.inner) if self._is_one(what)),
        )

    def _is_one(self, what: Sum) -> bool:
        # A variable that is in no row and costs nothing never gets a value.
        return sum(1.0 if key == ONE else self.variables[key].varValue or 0.0 for key in what) > 0.5

    def _gap(self, solution: Solution, log: Path) -> float | None:
        bound = _best_bound(self.program, log)
        if bound is None:
            return None
        result = simulate(self.model.problem, solution)
        if self.objective == "work":
            cost, bound = float(result.work), bound * self.scale + self.model.work.get(ONE, 0)
        else:
            cost, bound = float(result.peak), bound * self.scale
        return min(1.0, max(0.0, (cost - bound) / cost)) if cost > 0 else 0.0


def _best_bound(program: pulp.LpProblem, log: Path) -> float | None:
    """What the solver had proved the scaled objective to be at least, when its time was up."""
    if program.solverModel is not None:
        bound = program.solverModel.getInfo().mip_dual_bound
        return float(bound) if math.isfinite(bound) else None
    lines = [line for line in log.read_text().splitlines() if line.startswith("Lower bound:")] if log.exists() else []
    return float(lines[-1].split(":")[1]) if lines else None
