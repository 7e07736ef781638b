"""The board's numbers are the simulator's, whatever is changed."""

from __future__ import annotations

import random

from sdfgad.plan.board import Board, Change
from sdfgad.plan.greedy import keep_all, lowest_peak
from sdfgad.plan.problem import Problem, Solution, Step, Value
from sdfgad.plan.simulate import InvalidPlan, simulate
from tests.plan.random_problems import judged_solutions, random_problem


def change(board: Board, rng: random.Random) -> tuple[Solution, Change | None]:
    """A random change, and the solution that it should lead to."""
    problem, now = board.problem, board.solution
    kinds = [kind for kind, parts in (("value", problem.values), ("inner", problem.inner)) if parts]
    kind = rng.choice([*kinds, "mode"])
    if kind == "value":
        index = rng.randrange(len(problem.values))
        return Solution(now.modes, now.values ^ {index}, now.inner), board.value(index)
    if kind == "inner":
        again = now.inner ^ {rng.randrange(len(problem.inner))}
        return Solution(now.modes, now.values, again), board.inner(again)
    step = rng.randrange(len(problem.steps))
    mode = rng.randrange(len(problem.steps[step].modes))
    modes = (*now.modes[:step], mode, *now.modes[step + 1 :])
    return Solution(modes, now.values, now.inner), board.mode(step, mode)


def test_changes_cost_what_the_simulator_says() -> None:
    rng = random.Random(3)
    taken = refused = 0
    for seed in range(60):
        problem = random_problem(seed)
        free = Problem(problem.steps, problem.values, problem.inner, problem.tapes, problem.conflicts)
        try:
            board = Board(free, keep_all(free))
        except InvalidPlan:
            continue
        for _ in range(25):
            solution, found = change(board, rng)
            try:
                result = simulate(free, solution)
            except InvalidPlan:
                assert found is None
                refused += 1
                continue
            assert found is not None
            assert found.solution == solution
            assert board.peak_after(found) == result.peak
            assert board.excess(result.peak - 1, found) == sum(max(b - result.peak + 1, 0) for b in result.live)
            board.apply(found)
            taken += 1
            assert (tuple(board.live), board.work, board.peak) == (result.live, result.work, result.peak)
    assert taken > 500
    assert refused > 20


def test_the_lowest_peak_is_mostly_the_lowest_of_all() -> None:
    same = tried = 0
    for seed in range(80):
        problem = random_problem(seed)
        judged = judged_solutions(problem)
        if judged:
            tried += 1
            same += simulate(problem, lowest_peak(problem)).peak == min(result.peak for _, result in judged)
    assert tried > 50
    assert same >= 0.9 * tried


def chain(count: int) -> Problem:
    """Values of one byte, each made from the one before, and read once by the reverse sweep."""
    values = tuple(Value(f"v{k}", 1, k, k + 1, (k + 1,), 1, (k - 1,) if k else (), count) for k in range(count))
    return Problem(tuple(Step(0, 0) for _ in range(count + 1)), values)


def test_a_long_chain_needs_about_the_square_root_of_its_length() -> None:
    # Of s kept values and segments of shrinking length, s * (s + 1) / 2 values need about s at once.
    for count, most in ((10, 5), (45, 11), (190, 24)):
        assert simulate(chain(count), lowest_peak(chain(count))).peak <= most
