"""Plans without a solver: the two extremes, and a descent that pays as little work for each byte as it can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sdfgad.plan.problem import NOBODY, Problem, Solution, Tape
from sdfgad.plan.simulate import InvalidPlan, Simulation, cheapest_modes, is_active, made_again_at, simulate

# The simulator looks at so many of the most promising changes before one of them is taken.
LOOKED_AT = 8


@dataclass(frozen=True)
class _State:
    solution: Solution
    result: Simulation

    def excess(self, budget: int) -> int:
        """The bytes over `budget`, of all points together."""
        return sum(live - budget for live in self.result.live if live > budget)


def keep_all(problem: Problem) -> Solution:
    """The solution that makes nothing again but what the user wants made again, in the modes with the least work."""
    inner = _wanted(problem.fixed_inner, True)
    return Solution(cheapest_modes(problem, inner), _wanted(problem.fixed_values, True), inner)


def make_all_again(problem: Problem) -> Solution:
    """The solution that makes everything again that it can, in the modes that keep the least.

    Of inner values that conflict, the first is made again. A value stays kept where the data to make it again is not
    present at the point that needs it.

    Raises:
        InvalidPlan: values are inputs of each other in a circle.
    """
    start = keep_all(problem)
    inner = set(start.inner)
    kept_inner = _wanted(problem.fixed_inner, False)
    for position in range(len(problem.inner)):
        rivals = {member for pair in problem.conflicts if position in pair for member in pair}
        if position not in kept_inner and not rivals & inner:
            inner.add(position)
    active = [tape for tape in problem.tapes if is_active(tape, inner)]
    modes = tuple(
        min(range(len(step.modes)), key=lambda mode: (_mode_bytes(problem, active, index, mode), mode))
        for index, step in enumerate(problem.steps)
    )
    return Solution(modes, _values_again(problem, start.values), frozenset(inner))


def _wanted(fixed: tuple[tuple[int, bool], ...], choice: bool) -> frozenset[int]:
    return frozenset(position for position, wanted in fixed if wanted == choice)


def _mode_bytes(problem: Problem, active: list[Tape], step: int, mode: int) -> tuple[int, int]:
    """The bytes that a step keeps, and those that it holds at its reverse point besides."""
    tapes = [tape for tape in active if tape.step == step]
    chosen = problem.steps[step].modes[mode]
    kept = chosen.kept + sum(tape.kept[mode] for tape in tapes)
    return kept, chosen.transient + sum(tape.transient[mode] for tape in tapes)


def _values_again(problem: Problem, wanted: frozenset[int]) -> frozenset[int]:
    kept = _wanted(problem.fixed_values, False)
    again = {index for index, value in enumerate(problem.values) if value.latest >= 0 and index not in kept} | wanted
    while True:
        made_at = made_again_at(problem, again)
        too_high = {value: point - problem.values[value].latest for value, point in made_at.items()}
        absent = {value for value, excess in too_high.items() if excess > 0}
        # Of a value that has to be made again, a consumer that needs it too early is to be kept instead.
        consumers = {value for value in made_at if absent.intersection(problem.values[value].inputs)}
        blamed = (absent - wanted) or {
            value
            for value in consumers - wanted
            if any(made_at[value] > problem.values[source].latest for source in problem.values[value].inputs)
        }
        if not blamed:
            return frozenset(again)
        again.remove(max(blamed, key=lambda value: (too_high[value], value)))


def greedy(problem: Problem, budget: int | None) -> Solution | None:
    """A solution within `budget` bytes, found quickly, with little work but not always the least; None if none is.

    Raises:
        InvalidPlan: nothing that respects what the user fixed can be carried out.
    """
    starts = [_judge(problem, keep_all(problem))]
    if budget is not None:
        starts.append(_judge(problem, make_all_again(problem)))
    found = [_descend(problem, start, budget) if budget is not None else start for start in starts]
    fitting = [_relax(problem, state, budget) for state in found if budget is None or state.result.peak <= budget]
    return min(fitting, key=lambda state: state.result.work).solution if fitting else None


def lowest_peak(problem: Problem) -> Solution:
    """A solution with a low peak, found quickly.

    Raises:
        InvalidPlan: nothing that respects what the user fixed can be carried out.
    """
    best: list[_State] = []
    for start in (_judge(problem, keep_all(problem)), _judge(problem, make_all_again(problem))):
        state, lower = start, _descend(problem, start, start.result.peak - 1)
        while lower.result.peak < state.result.peak:
            state, lower = lower, _descend(problem, lower, lower.result.peak - 1)
        best.append(state)
    return min(best, key=lambda state: state.result.peak).solution


def _judge(problem: Problem, solution: Solution) -> _State:
    return _State(solution, simulate(problem, solution))


def _attempt(problem: Problem, solution: Solution) -> _State | None:
    try:
        return _judge(problem, solution)
    except InvalidPlan:
        return None


def _descend(problem: Problem, state: _State, budget: int) -> _State:
    """Change one thing after another until `state` fits, or until nothing brings it closer."""
    while state.result.peak > budget:
        better = _best_change(problem, state, budget)
        if better is None:
            return state
        state = better
    return state


def _best_change(problem: Problem, state: _State, budget: int) -> _State | None:
    """The change that saves the most excess bytes for its work, of the most promising that save any."""
    excess = state.excess(budget)
    changes = sorted(_changes(problem, state), key=lambda change: change[0], reverse=True)
    for first in range(0, len(changes), LOOKED_AT):
        tried = [_attempt(problem, solution) for _, solution in changes[first : first + LOOKED_AT]]
        better = [new for new in tried if new is not None and new.excess(budget) < excess]
        if better:
            return max(better, key=lambda new: _rate(excess - new.excess(budget), new.result.work - state.result.work))
    return None


def _rate(saved: int, work: int) -> tuple[bool, float]:
    """How good it is to save bytes for work: what costs none comes first."""
    return saved > 0 and work <= 0, saved / max(1, work)


def _changes(problem: Problem, state: _State) -> Iterator[tuple[tuple[bool, float], Solution]]:
    """Single changes, each with a guess of how good it is: `_rate` of the bytes that it saves at the peak."""
    active = [tape for tape in problem.tapes if is_active(tape, state.solution.inner)]
    yield from _value_changes(problem, state)
    yield from _mode_changes(problem, state, active)
    yield from _tape_changes(problem, state, active)
    fixed = dict(problem.fixed_inner)
    for position in range(len(problem.inner)):
        if position not in fixed:
            yield _rate(0, 0), replace(state.solution, inner=state.solution.inner ^ {position})


def _value_changes(problem: Problem, state: _State) -> Iterator[tuple[tuple[bool, float], Solution]]:
    fixed, again = dict(problem.fixed_values), state.solution.values
    turn, point = len(problem.steps), state.result.peak_point
    for index, value in enumerate(problem.values):
        if index in fixed or (value.latest < 0 and index not in again):
            continue
        changed = replace(state.solution, values=again ^ {index})
        if index in again:
            yield _rate(0, 0), changed
        elif value.used < point < 2 * turn - 1 - max(value.needs, default=-1):
            yield _rate(value.bytes if value.made <= point else 0, value.work), changed


def _mode_changes(problem: Problem, state: _State, active: list[Tape]) -> Iterator[tuple[tuple[bool, float], Solution]]:
    modes, point = state.solution.modes, state.result.peak_point
    for index, step in enumerate(problem.steps):
        tapes = [tape for tape in active if tape.step == index]
        now = _step_bytes(problem, tapes, index, modes[index], point)
        for mode in range(len(step.modes)):
            saved = now - _step_bytes(problem, tapes, index, mode, point)
            if mode != modes[index] and saved > 0:
                changed = replace(state.solution, modes=(*modes[:index], mode, *modes[index + 1 :]))
                work = step.modes[mode].work - step.modes[modes[index]].work
                yield _rate(saved, work + sum(tape.work[mode] - tape.work[modes[index]] for tape in tapes)), changed


def _step_bytes(problem: Problem, tapes: list[Tape], step: int, mode: int, point: int) -> int:
    """The bytes that a step and its active tapes hold at a point."""
    end = 2 * len(problem.steps) - 1 - step
    kept, transient = _mode_bytes(problem, tapes, step, mode)
    return (kept if step <= point <= end else 0) + (transient if point == end else 0)


def _tape_changes(problem: Problem, state: _State, active: list[Tape]) -> Iterator[tuple[tuple[bool, float], Solution]]:
    inner, point = state.solution.inner, state.result.peak_point
    end = 2 * len(problem.steps) - 1
    for tape in active:
        changed = _inner_without(problem, inner, tape)
        mode = state.solution.modes[tape.step]
        saved = tape.kept[mode] if tape.step <= point <= end - tape.step else 0
        saved += tape.transient[mode] if point == end - tape.step else 0
        if changed is not None and saved > 0:
            work = sum(
                problem.inner[position].work * (1 if position in changed else -1) for position in changed ^ inner
            )
            yield _rate(saved, work - tape.work[mode]), replace(state.solution, inner=changed)


def _inner_without(problem: Problem, inner: frozenset[int], tape: Tape) -> frozenset[int] | None:
    """What to make again so that nothing asks for `tape`; None if something always does."""
    fixed, again = dict(problem.fixed_inner), set(inner)
    for _ in tape.asked:  # Whoever is made again may be a reader that asks, too.
        for reader, read in tape.asked:
            if not ((reader == NOBODY or reader in again) and (read == NOBODY or read not in again)):
                continue
            if read != NOBODY and fixed.get(read, True):
                again.add(read)
            elif reader != NOBODY and not fixed.get(reader, False):
                again.discard(reader)
    return None if is_active(tape, again) else frozenset(again)


def _relax(problem: Problem, state: _State, budget: int | None) -> _State:
    """Take back, one after another, the changes that are not needed for `budget`."""
    again = sorted(state.solution.values, key=lambda value: -problem.values[value].work)
    for index in again:
        state = _cheaper(problem, state, budget, replace(state.solution, values=state.solution.values - {index}))
    for position in sorted(state.solution.inner, key=lambda position: -problem.inner[position].work):
        state = _cheaper(problem, state, budget, replace(state.solution, inner=state.solution.inner - {position}))
    for index, step in enumerate(problem.steps):
        for mode in sorted(range(len(step.modes)), key=lambda mode: -step.modes[mode].work):
            modes = (*state.solution.modes[:index], mode, *state.solution.modes[index + 1 :])
            state = _cheaper(problem, state, budget, replace(state.solution, modes=modes))
    return state


def _cheaper(problem: Problem, state: _State, budget: int | None, changed: Solution) -> _State:
    """The changed solution where it fits and is less work, else the old one."""
    new = _attempt(problem, changed)
    if new is None or new.result.work >= state.result.work or (budget is not None and new.result.peak > budget):
        return state
    return new
