"""Solver back end: passes the integer program to PuLP; no other file imports it."""

from __future__ import annotations

import math
import tempfile
import time
import warnings
from pathlib import Path

import pulp

from sdfgad.plan.answer import FAILED, Answer, Effort, left_out
from sdfgad.plan.model import ONE, Model, Sum, binding, unit
from sdfgad.plan.problem import Solution
from sdfgad.plan.simulate import simulate
from sdfgad.processes import run as run_program


def run(model: Model, budget: int | None, objective: str, effort: Effort) -> Answer:
    """Calls the solver; of a model from which choices were left out, optimality and infeasibility are not proved."""
    if any(row.keys() == {ONE} for row in model.rows):
        return Answer(None, "infeasible", None, 0.0)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.filterwarnings("ignore", message=r".*PuLP 4\.0", category=DeprecationWarning)
        log = Path(folder) / "log"
        try:
            answer = _run_once(model, budget, objective, _solver(effort, log, is_free=budget is None), log)
        except pulp.PulpSolverError:
            answer = _run_preprocessed(model, budget, objective, effort, log) if effort.solver == "CBC" else FAILED
    if answer.status == "infeasible" and time.perf_counter() >= effort.deadline:
        answer = Answer(None, "time limit", None, 0.0)  # What a solver that ran out of time says is no proof.
    return left_out(answer) if model.pruned else answer


def _run_once(model: Model, budget: int | None, objective: str, solver: pulp.LpSolver, log: Path) -> Answer:
    program = _Program(model, budget, objective)
    return program.answer(program.solve(solver), log)


def _run_preprocessed(model: Model, budget: int | None, objective: str, effort: Effort, log: Path) -> Answer:
    """Run CBC in the way that does not break down, but is no proof that a solution is the best."""
    try:
        answer = _run_once(model, budget, objective, _cbc(effort, log, preprocess=True), log)
    except pulp.PulpSolverError:
        return FAILED
    return answer if answer.status == "infeasible" else left_out(answer)


def _solver(effort: Effort, log: Path, *, is_free: bool) -> pulp.LpSolver:
    if effort.solver == "CBC":
        return _cbc(effort, log, preprocess=False, pump=not is_free)
    limit, gap = _time_left(effort.deadline), effort.tolerance
    return pulp.HiGHS(msg=False, threads=1, timeLimit=limit, gapRel=gap, gapAbs=0.0, random_seed=1)


def _cbc(effort: Effort, log: Path, *, preprocess: bool, pump: bool = True) -> pulp.LpSolver:
    # With preprocessing CBC 2.10.3 loses the optimum of some models, also of ones with small whole coefficients;
    # without it breaks down at some that are infeasible. It is serial unless told otherwise; told to use one thread
    # it sometimes hangs.
    options = ["randomSeed 1", "randomCbcSeed 1", *([] if preprocess else ["preprocess off"])]
    # Without a budget every plan is feasible, and the search for a feasible one is most of the time.
    options += [] if pump else ["feasibilityPump off"]
    limit, gap = _time_left(effort.deadline), effort.tolerance
    solver = _Cbc(msg=False, timeLimit=limit, gapRel=gap, gapAbs=0.0, options=options, logPath=str(log))
    solver.tmpDir = str(log.parent)  # Where it breaks down, PuLP leaves its files.
    return solver


class _Cbc(pulp.PULP_CBC_CMD):
    """CBC, whose arguments may contain blanks, and which ends when the user interrupts."""

    def solve_CBC(self, lp: pulp.LpProblem, use_mps: bool = True) -> int:
        folder = Path(self.tmpDir)
        model, solution = folder / "model.mps", folder / "solution"
        solution.unlink(missing_ok=True)
        variables, names, rows, _ = lp.writeMPS(str(model), rename=1)
        options = [f"sec {self.timeLimit}", *self.options, *self.getOptions()]
        words = [word for option in options for word in f"-{option}".split()]
        last = ["-solve", "-printingOptions", "all", "-solution", str(solution)]
        done = run_program([self.path, str(model), *words, *last], Path(self.optionsDict["logPath"]))
        if done.returncode != 0 or not solution.exists():
            raise pulp.PulpSolverError(f"{self.path} ended with {done.returncode}")
        status, values, *_, found = self.readsol_MPS(str(solution), lp, variables, names, rows)
        lp.assignVarsVals(values)
        lp.assignStatus(status, found)
        return int(status)


def _time_left(deadline: float) -> float:
    return max(0.05, deadline - time.perf_counter())


class _Program:
    """A model in the form of PuLP."""

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
        recomputed = {
            value
            for value, variables in model.recompute_variables.items()
            if any(self._is_one({key: 1}) for key in variables.values())
        }
        return Solution(
            tuple(next(mode for mode, what in chosen.items() if self._is_one(what)) for chosen in model.modes),
            frozenset(fixed | recomputed),
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
