"""Seeded small planning problems, and every solution of one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from sdfgad.plan.problem import NOBODY, Inner, Mode, Problem, Solution, Step, Tape, Value
from sdfgad.plan.simulate import InvalidPlan, Simulation, simulate

MOST_SOLUTIONS = 1000


def random_problem(seed: int, scale: int = 1) -> Problem:
    """A chain, a DAG, loops with modes and tapes, or all of these; its sizes are up to about ten times `scale`."""
    rng = random.Random(seed)
    while True:
        problem = _draw(rng, scale)
        if _count(problem) <= MOST_SOLUTIONS:
            return problem


def judged_solutions(problem: Problem) -> list[tuple[Solution, Simulation]]:
    """Every solution that can be carried out."""
    found = []
    for solution in _solutions(problem):
        try:
            found.append((solution, simulate(problem, solution)))
        except InvalidPlan:
            continue
    return found


def _count(problem: Problem) -> int:
    count = 1 << (len(problem.values) + len(problem.inner))
    for step in problem.steps:
        count *= len(step.modes)
    return count


def _solutions(problem: Problem) -> Iterator[Solution]:
    modes = itertools.product(*(range(len(step.modes)) for step in problem.steps))
    for chosen, values, inner in itertools.product(
        list(modes), list(_subsets(len(problem.values))), list(_subsets(len(problem.inner)))
    ):
        yield Solution(chosen, values, inner)


def _subsets(count: int) -> Iterator[frozenset[int]]:
    for size in range(count + 1):
        yield from map(frozenset, itertools.combinations(range(count), size))


def _draw(rng: random.Random, scale: int) -> Problem:
    kind = rng.choice(["chain", "dag", "loops", "all"])
    count = rng.randint(2, 7)
    values = _values(rng, kind, count, scale) if kind != "loops" else ()
    inner = _inner(rng, count) if kind in ("loops", "all") else ()
    steps = tuple(_step(rng, kind, scale) for _ in range(count))
    tapes = tuple(_tape(rng, steps, len(inner), scale) for _ in range(rng.randint(0, 3))) if inner else ()
    pairs = [tuple(rng.sample(range(len(inner)), 2)) for _ in range(rng.randint(0, 1))] if len(inner) > 1 else []
    return Problem(
        steps,
        values,
        inner,
        tapes,
        conflicts=tuple((one, other) for one, other in pairs),
        fixed_values=_pins(rng, len(values)),
        fixed_inner=_pins(rng, len(inner)),
    )


def _size(rng: random.Random, scale: int) -> int:
    return rng.randint(0, 10 * scale)


def _pins(rng: random.Random, count: int) -> tuple[tuple[int, bool], ...]:
    return tuple((index, rng.random() < 0.5) for index in range(count) if rng.random() < 0.08)


def _values(rng: random.Random, kind: str, steps: int, scale: int) -> tuple[Value, ...]:
    found: list[Value] = []
    made = sorted(rng.randrange(steps) for _ in range(rng.randint(1, 6 if kind != "all" else 3)))
    for index, point in enumerate(made):
        if kind == "chain":
            inputs = (index - 1,) if index else ()
        else:
            inputs = tuple(sorted(rng.sample(range(index), rng.randint(0, min(index, 3)))))
        candidates = range(steps)
        needs = tuple(sorted(rng.sample(candidates, rng.choice([0, 1, 1, 2, min(3, steps)]))))
        latest = rng.choice([steps - 1, steps - 1, steps - 1, rng.randrange(steps), -1])
        used = rng.randint(point, steps - 1)
        found.append(Value(f"v{index}", _size(rng, scale), point, used, needs, rng.randint(0, 20), inputs, latest))
    return tuple(found)


def _inner(rng: random.Random, steps: int) -> tuple[Inner, ...]:
    return tuple(Inner(f"i{index}", rng.randrange(steps), rng.randint(0, 9)) for index in range(rng.randint(1, 4)))


def _step(rng: random.Random, kind: str, scale: int) -> Step:
    forward, reverse = _size(rng, scale), _size(rng, scale)
    if kind not in ("loops", "all") or rng.random() < 0.6:
        return Step(forward, reverse, (Mode("store", _size(rng, scale) if kind == "loops" else 0),))
    modes = [
        Mode(f"m{index}", _size(rng, scale), _size(rng, scale), rng.randint(0, 15))
        for index in range(rng.randint(2, 4))
    ]
    return Step(forward, reverse, tuple(modes))


def _tape(rng: random.Random, steps: tuple[Step, ...], inner: int, scale: int) -> Tape:
    step = rng.randrange(len(steps))
    count = len(steps[step].modes)
    someone = [NOBODY, *range(inner)]
    asked = tuple((rng.choice(someone), rng.choice(someone)) for _ in range(rng.randint(1, 3)))
    kept = tuple(_size(rng, scale) for _ in range(count))
    transient = tuple(_size(rng, scale) for _ in range(count))
    work = tuple(rng.randint(0, 6) for _ in kept)
    return Tape("tape", step, kept, transient, work, asked)


def draw_budget(seed: int, peaks: list[int]) -> int | None:
    """None, a budget just below the lowest of `peaks`, or one between the lowest and the highest."""
    rng = random.Random(f"budget {seed}")
    if not peaks or rng.random() < 0.05:
        return None
    if rng.random() < 0.1:
        return min(peaks) - 1
    return rng.randint(min(peaks), rng.choice([max(peaks), (min(peaks) + max(peaks)) // 2]))
