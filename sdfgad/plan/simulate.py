"""Simulation of plans: replays a solution in exact integers, knowing nothing of how it was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sdfgad.plan.problem import NOBODY, Problem, Solution, Tape


class InvalidPlan(ValueError):
    """A solution that cannot be carried out, whatever the budget."""


@dataclass(frozen=True)
class Simulation:
    """The cost of a solution.

    Attributes:
        peak: the most bytes that are live at any point.
        peak_point: the first point at which they are: 0 … 2n-1, forward points first, then reverse n-1 … 0.
        live: the bytes that are live at each of these points.
        work: nanoseconds besides those of running every step once.
        recomputed_at: for each recomputed value, the reverse point at which it is recomputed.
    """

    peak: int
    peak_point: int
    live: tuple[int, ...]
    work: int
    recomputed_at: Mapping[int, int]


def simulate(problem: Problem, solution: Solution) -> Simulation:
    """Replays `solution`.

    Raises:
        InvalidPlan: it names something that does not exist, violates what the user fixed, recomputes two conflicting
            inner values, or recomputes a value where its inputs are not available.
    """
    _check(problem, solution)
    recomputed_at = recompute_points(problem, solution.values)
    for value, point in recomputed_at.items():
        if point > problem.values[value].latest:
            raise InvalidPlan(_not_present(problem, value, point))
    active = [tape for tape in problem.tapes if is_active(tape, solution.inner)]
    live = _live_bytes(problem, solution, active, recomputed_at)
    peak = max(live, default=0)
    return Simulation(
        peak=peak,
        peak_point=live.index(peak) if live else 0,
        live=live,
        work=_work(problem, solution, active, recomputed_at),
        recomputed_at=recomputed_at,
    )


def least_live(problem: Problem) -> tuple[int, ...]:
    """A lower bound of the bytes that are live at each point, whatever is decided."""
    n = len(problem.steps)
    live = [step.forward for step in problem.steps] + [step.reverse for step in reversed(problem.steps)]
    for value in problem.values:
        # Where it is read, it must be there, however it came there.
        for point in (*range(value.computed, value.used + 1), *(2 * n - 1 - need for need in set(value.needs))):
            live[point] += value.bytes
    return tuple(live)


def is_active(tape: Tape, recomputed: Collection[int]) -> bool:
    """Whether anything needs `tape` if the inner values `recomputed` are recomputed."""
    return any(
        (reader == NOBODY or reader in recomputed) and (read == NOBODY or read not in recomputed)
        for reader, read in tape.asked
    )


def cheapest_modes(problem: Problem, recomputed: Collection[int]) -> tuple[int, ...]:
    """The mode of each step with the least work, tapes included, if the inner values `recomputed` are recomputed."""
    tapes: list[list[Tape]] = [[] for _ in problem.steps]
    for tape in problem.tapes:
        if is_active(tape, recomputed):
            tapes[tape.step].append(tape)
    work = [
        [mode.work + sum(tape.work[k] for tape in own) for k, mode in enumerate(step.modes)]
        for step, own in zip(problem.steps, tapes, strict=True)
    ]
    return tuple(min(range(len(one)), key=one.__getitem__) for one in work)


def recompute_points(problem: Problem, recomputed: Iterable[int]) -> dict[int, int]:
    """The reverse point at which each of the values `recomputed` is recomputed, for those that are needed at all.

    Whether their inputs are available there is not checked.

    Raises:
        InvalidPlan: the values are inputs of each other in a circle.
    """
    order = consumers_first(problem, recomputed)
    points = {value: max(problem.values[value].needs, default=-1) for value in order}
    for value in order:
        for source in problem.values[value].inputs:
            if source in points:
                points[source] = max(points[source], points[value])
    return {value: point for value, point in points.items() if point >= 0}


def consumers_first(problem: Problem, chosen: Iterable[int]) -> list[int]:
    """The `chosen` values in topological order, each after all that have it as an input.

    Raises:
        InvalidPlan: the values are inputs of each other in a circle.
    """
    wanted = set(chosen)
    consumers = dict.fromkeys(sorted(wanted), 0)
    for value in wanted:
        for source in wanted.intersection(problem.values[value].inputs):
            consumers[source] += 1
    order = [value for value, count in consumers.items() if count == 0]
    for value in order:  # It grows while it is walked.
        for source in sorted(wanted.intersection(problem.values[value].inputs)):
            consumers[source] -= 1
            if consumers[source] == 0:
                order.append(source)
    if len(order) < len(wanted):
        names = ", ".join(problem.values[value].name for value in sorted(wanted.difference(order)))
        raise InvalidPlan(f"values are inputs of each other in a circle: {names}")
    return order


def _check(problem: Problem, solution: Solution) -> None:
    if len(solution.modes) != len(problem.steps):
        raise InvalidPlan(f"there are {len(problem.steps)} steps, but modes for {len(solution.modes)}")
    for index, (step, mode) in enumerate(zip(problem.steps, solution.modes, strict=True)):
        if not 0 <= mode < len(step.modes):
            raise InvalidPlan(f"step {index} has no mode {mode}: it has {len(step.modes)}")
    _check_positions("value", solution.values, len(problem.values))
    _check_positions("inner value", solution.inner, len(problem.inner))
    _check_fixed("value", problem.fixed_values, solution.values, [value.name for value in problem.values])
    _check_fixed("inner value", problem.fixed_inner, solution.inner, [inner.name for inner in problem.inner])
    for one, other in problem.conflicts:
        if one in solution.inner and other in solution.inner:
            names = problem.inner[one].name, problem.inner[other].name
            raise InvalidPlan(f"conflict: {names[0]} and {names[1]} cannot both be recomputed")


def _check_positions(what: str, positions: Iterable[int], count: int) -> None:
    unknown = sorted(position for position in positions if not 0 <= position < count)
    if unknown:
        raise InvalidPlan(f"there is no {what} {unknown[0]}: there are {count}")


def _check_fixed(what: str, fixed: Iterable[tuple[int, bool]], recomputed: Collection[int], names: list[str]) -> None:
    for position, wanted in fixed:
        if (position in recomputed) != wanted:
            choice = "to be recomputed" if wanted else "not to be recomputed"
            raise InvalidPlan(f"the {what} {names[position]} is fixed {choice}")


def _not_present(problem: Problem, value: int, point: int) -> str:
    name, latest = problem.values[value].name, problem.values[value].latest
    where = f"only from reverse point {latest} on" if latest >= 0 else "nowhere"
    return f"data is not present: {name} is needed at reverse point {point}, but can be recomputed {where}"


def _live_bytes(
    problem: Problem, solution: Solution, active: Iterable[Tape], recomputed_at: Mapping[int, int]
) -> tuple[int, ...]:
    count = len(problem.steps)
    changes = [0] * (2 * count + 1)

    def hold(size: int, start: int, end: int) -> None:
        changes[start] += size
        changes[max(start, end + 1)] -= size

    def reverse(point: int) -> int:
        return 2 * count - 1 - point

    for index, (step, choice) in enumerate(zip(problem.steps, solution.modes, strict=True)):
        mode = step.modes[choice]
        hold(step.forward, index, index)
        hold(step.reverse + mode.transient, reverse(index), reverse(index))
        hold(mode.kept, index, reverse(index))
    for tape in active:
        choice = solution.modes[tape.step]
        hold(tape.kept[choice], tape.step, reverse(tape.step))
        hold(tape.transient[choice], reverse(tape.step), reverse(tape.step))
    last = _last_needs(problem, recomputed_at)
    for index, value in enumerate(problem.values):
        kept = index in last and index not in solution.values
        hold(value.bytes, value.computed, reverse(last[index]) if kept else value.used)
        if index in recomputed_at:
            hold(value.bytes, reverse(recomputed_at[index]), reverse(last[index]))
    return tuple(_running_sums(changes[:-1]))


def _running_sums(changes: Iterable[int]) -> Iterable[int]:
    total = 0
    for change in changes:
        total += change
        yield total


def _last_needs(problem: Problem, recomputed_at: Mapping[int, int]) -> dict[int, int]:
    """The lowest reverse point at which each value is needed, of those that are."""
    last = {index: min(value.needs) for index, value in enumerate(problem.values) if value.needs}
    for value, point in recomputed_at.items():
        for source in problem.values[value].inputs:
            last[source] = min(last.get(source, point), point)
    return last


def _work(problem: Problem, solution: Solution, active: Iterable[Tape], recomputed_at: Mapping[int, int]) -> int:
    modes = sum(step.modes[mode].work for step, mode in zip(problem.steps, solution.modes, strict=True))
    values = sum(problem.values[value].work for value in recomputed_at)
    inner = sum(problem.inner[position].work for position in solution.inner)
    return modes + values + inner + sum(tape.work[solution.modes[tape.step]] for tape in active)
