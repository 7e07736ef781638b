"""The integer program, against all solutions of small problems."""

from __future__ import annotations

import importlib.util
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pulp
import pytest

from sdfgad.plan import ilp, model
from sdfgad.plan import solver as module
from sdfgad.plan.answer import Answer, Effort
from sdfgad.plan.ilp import SolverMissing, solve
from sdfgad.plan.problem import Inner, Mode, Problem, Solution, Step, Value
from sdfgad.plan.simulate import simulate
from tests.plan.random_problems import draw_budget, judged_solutions, random_problem

HIGHS = pytest.param(
    "HiGHS", marks=pytest.mark.skipif(importlib.util.find_spec("highspy") is None, reason="highspy is not installed")
)
SOLVERS = ["CBC", HIGHS]


def check_seed(seed: int, solver: str, scale: int = 1) -> None:
    problem = random_problem(seed, scale)
    judged = judged_solutions(problem)
    budget = draw_budget(seed, [result.peak for _, result in judged])
    best = min((result.work for _, result in judged if budget is None or result.peak <= budget), default=None)
    answer = solve(problem, budget, solver=solver)
    if best is None:
        # Just below the minimum, the solver cannot always tell where sizes are huge.
        assert answer.solution is None
        assert answer.status == "infeasible" or scale > 1
        return
    assert answer.solution is not None
    result = simulate(problem, answer.solution)
    assert result.work == best
    assert budget is None or result.peak <= budget
    assert (answer.status, answer.gap) == ("optimal", 0.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("block", range(10))
def test_least_work_of_all_solutions(block: int, solver: str) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        check_seed(seed, solver)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1000, 1_000_003, 100_000_000_003])
def test_least_work_with_huge_sizes(scale: int, solver: str) -> None:
    for seed in range(200):
        check_seed(seed, solver, scale)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1, 1_000_003])
def test_lowest_peak_of_all_solutions(scale: int, solver: str) -> None:
    for seed in range(300):
        problem = random_problem(seed, scale)
        judged = judged_solutions(problem)
        answer = solve(problem, None, objective="peak", solver=solver)
        if judged:
            assert answer.solution is not None
            assert simulate(problem, answer.solution).peak == min(result.peak for _, result in judged)
        else:
            assert (answer.solution, answer.status) == (None, "infeasible")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_larger_budget_never_costs_more(solver: str) -> None:
    for seed in range(2000, 2025):
        problem = random_problem(seed)
        peaks = sorted({result.peak for _, result in judged_solutions(problem)})
        works = []
        for budget in peaks:
            solution = solve(problem, budget, solver=solver).solution
            assert solution is not None
            works.append(simulate(problem, solution).work)
        assert works == sorted(works, reverse=True)


# Two values: the small one is cheap to make again, the large one is dear.
STEPS = (Step(0, 0), Step(0, 0), Step(0, 0))
TWO = Problem(
    STEPS,
    (
        Value("small", 10**12, 0, 0, (0,), 10**3, latest=2),
        Value("large", 3 * 10**12, 0, 0, (0,), 10**9, latest=2),
    ),
)


def test_the_objective_is_honoured() -> None:
    problem = Problem(
        (Step(0, 0, (Mode("store", kept=50), Mode("half", kept=30, work=5), Mode("nothing", kept=0, work=100))),)
    )
    assert solve(problem, 40).solution == Solution((1,))
    assert solve(problem, None).solution == Solution((0,))
    assert solve(problem, None, objective="peak").solution == Solution((2,))


def test_pins_are_obeyed() -> None:
    wide = replace(TWO, steps=(Step(0, 0), Step(0, 0), Step(0, 0, (Mode("a", 1, 0, 1), Mode("b", 1, 1, 0)))))
    for pins in [((0, True),), ((0, False), (1, True))]:
        solution = solve(replace(wide, fixed_values=pins), 4 * 10**12 + 2).solution
        assert solution is not None
        assert all((value in solution.values) == wanted for value, wanted in pins)


def test_conflicting_inner_values() -> None:
    problem = Problem(STEPS, inner=(Inner("x", 0, 1), Inner("y", 0, 1)), conflicts=((0, 1),))
    assert solve(problem, None).solution == Solution((0, 0, 0))
    assert solve(replace(problem, fixed_inner=((0, True), (1, True))), None).status == "infeasible"


def test_names_of_folders_may_hold_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "a b; $(touch c) -x 'ü'"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for seed in range(5):
        check_seed(seed, "CBC")
    assert list(folder.iterdir()) == []


def no_solver(*_: object) -> None:
    raise AssertionError("a solver was started")


def test_where_nothing_is_to_be_decided_no_solver_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run", no_solver)
    problem = Problem((Step(3, 4), Step(5, 6)), (Value("a", 7, 0, 0, (1,), 1),))
    assert solve(problem, 13).status == "optimal"
    assert solve(problem, 13, objective="peak").status == "optimal"
    assert solve(problem, 12).status == "infeasible"
    assert solve(replace(problem, fixed_values=((0, True),)), None).status == "infeasible"


def test_where_the_least_work_fits_no_solver_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run", no_solver)
    assert solve(TWO, None).solution == solve(TWO, 4 * 10**12).solution == Solution((0, 0, 0))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_budget_of_terabytes_is_exact(solver: str) -> None:
    for budget, values in [(4 * 10**12 - 1, {0}), (3 * 10**12, {0})]:
        # Both are needed at the same point, so that neither can be recomputed below their sum.
        apart = replace(TWO, values=(TWO.values[0], replace(TWO.values[1], needs=(1,))))
        assert solve(apart, budget + 10**12, solver=solver).solution is not None
        free = replace(TWO, values=(replace(TWO.values[0], used=0, computed=1), replace(TWO.values[1], needs=(2,))))
        solution = solve(free, budget, solver=solver).solution
        assert solution is not None
        assert solution.values == values


def big_problem() -> Problem:
    rng = random.Random(5)
    values = tuple(
        Value(f"v{i}", rng.randint(10**5, 10**8), i, min(79, i + 2), (i,), rng.randint(10**3, 10**6),
              tuple({max(0, i - 1), rng.randrange(i)}) if i else (), 79)
        for i in range(80)
    )  # fmt: skip
    steps = tuple(Step(rng.randint(0, 10**8), rng.randint(0, 10**8)) for _ in values)
    return Problem(steps, values)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tiny_time_limit(solver: str) -> None:
    problem = big_problem()
    budget = simulate(problem, Solution((0,) * 80)).peak // 3
    answer = solve(problem, budget, solver=solver, seconds=0.1)
    assert answer.status == "time limit"
    if answer.solution is not None:
        assert simulate(problem, answer.solution).peak <= budget


class FakeSolver(pulp.LpSolver):  # type: ignore[misc]
    """Says what it is told to, and leaves values that are no solution."""

    def __init__(self, status: int, sol_status: int, value: float | None) -> None:
        super().__init__(msg=False)
        self.said = status, sol_status
        self.value = value

    def available(self) -> bool:
        return True

    def actualSolve(self, lp: pulp.LpProblem) -> int:
        for variable in lp.variables():
            variable.varValue = self.value
        lp.assignStatus(*self.said)
        return self.said[0]


@pytest.mark.parametrize(
    ("status", "sol_status", "expected"),
    [
        (pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound, "time limit"),
        (pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible, "infeasible"),
        (pulp.LpStatusInfeasible, pulp.LpSolutionNoSolutionFound, "infeasible"),
        (pulp.LpStatusUndefined, pulp.LpSolutionNoSolutionFound, "failed"),
    ],
)
def test_no_value_is_read_without_a_solution(
    monkeypatch: pytest.MonkeyPatch, status: int, sol_status: int, expected: str
) -> None:
    monkeypatch.setattr(module, "_solver", lambda *_, **__: FakeSolver(status, sol_status, 1.0))
    monkeypatch.setattr(module._Program, "_solution", no_solver)
    answer = solve(TWO, 3 * 10**12)
    assert (answer.solution, answer.status, answer.gap) == (None, expected, None)


def test_a_solver_that_breaks_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise pulp.PulpSolverError("broken")

    monkeypatch.setattr(module._Program, "solve", broken)
    assert solve(TWO, 3 * 10**12).status == "failed"


def test_infeasible_said_after_the_time_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeSolver(pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible, 0.0)
    monkeypatch.setattr(module, "_solver", lambda *_, **__: fake)
    assert solve(TWO, 3 * 10**12, seconds=0.0).status == "time limit"


def test_a_solver_is_never_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem((Step(0, 0, (Mode("store", kept=50), Mode("again", work=9))),))
    monkeypatch.setattr(module._Program, "_solution", lambda _: Solution((0,)))
    monkeypatch.setattr(model.Model, "forbid", lambda *_: None)
    with pytest.raises(RuntimeError, match="over the budget"):
        solve(problem, 40)
    monkeypatch.setattr(module._Program, "_solution", lambda _: Solution((0, 0)))
    with pytest.raises(RuntimeError, match="cannot be carried out"):
        solve(problem, 40)


def test_a_solution_that_is_over_is_excluded() -> None:
    problem = Problem((Step(0, 0, (Mode("store", kept=50), Mode("again", work=9))),))
    program = model.build(problem)
    program.forbid(Solution((0,)))
    assert module.run(program, None, "work", Effort("CBC", time.perf_counter() + 10, 0.0)).solution == Solution((1,))


def test_without_a_budget_bytes_are_no_choice() -> None:
    modes = Mode("large", kept=50, work=1), Mode("small", kept=20, work=1), Mode("slow", kept=1, work=2)
    problem = Problem((Step(0, 0, modes),))
    assert [*model.build(problem).modes[0]] == [1, 2]
    assert model.build(problem, counts_bytes=False).modes == [{1: {model.ONE: 1}}]
    problems = [random_problem(seed) for seed in range(100)]
    with_bytes, without = ([len(model.build(p, counts).binaries) for p in problems] for counts in (True, False))
    assert all(few <= many for few, many in zip(without, with_bytes, strict=True))
    assert sum(without) < sum(with_bytes)


def test_candidates_that_are_left_out_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_CANDIDATES", 1)
    problem = big_problem()
    small = Problem(problem.steps[:10], tuple(replace(v, used=min(9, v.used), latest=9) for v in problem.values[:10]))
    peak = simulate(small, Solution((0,) * 10)).peak
    assert solve(small, peak - 1).status == "feasible"
    assert solve(small, 1).status == "unknown"


def test_a_model_that_is_too_large_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = big_problem()
    budget = simulate(problem, Solution((0,) * 80)).peak // 2
    size = sum(kind is not None for kind in model.build(problem).binaries)
    assert solve(problem, budget, seconds=0.1, most=size).status == "time limit"
    monkeypatch.setattr(module, "run", no_solver)
    assert solve(problem, budget, most=size - 1) == Answer(None, "too large", None, ANY)


def test_unknown_names() -> None:
    with pytest.raises(SolverMissing, match="unknown solver 'GLPK'"):
        solve(TWO, None, solver="GLPK")
    with pytest.raises(ValueError, match="unknown objective 'bytes'"):
        solve(TWO, None, objective="bytes")


def test_highs_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ilp, "find_spec", lambda _: None)
    with pytest.raises(SolverMissing, match="pip install highspy"):
        solve(TWO, None, solver="HiGHS")
