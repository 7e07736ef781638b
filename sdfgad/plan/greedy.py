"""Greedy heuristic: plans without a solver, by descent along changes that cost the least work for each byte saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from sdfgad.plan.board import Board, Change
from sdfgad.plan.problem import NOBODY, Problem, Solution, Tape
from sdfgad.plan.simulate import cheapest_modes, is_active, least_live, recompute_points

# All changes are looked at before the best is taken; of more values than these as many, from all over the program.
FEW_VALUES, LOOKED_AT = 120, 40
GOLDEN = 0.6180339887
# The lowest peak is looked for in steps of this part of the peak at first, of this least one at last.
FIRST_STEP, LAST_STEP = 0.15, 0.005


def keep_all(problem: Problem) -> Solution:
    """The solution that recomputes only what the user wants recomputed, in the modes with the least work."""
    inner = _wanted(problem.fixed_inner, True)
    return Solution(cheapest_modes(problem, inner), _wanted(problem.fixed_values, True), inner)


def store_all(problem: Problem) -> Solution:
    """Everything stored, in tapes of whole loops, except what the user wants recomputed."""
    return replace(keep_all(problem), modes=(0,) * len(problem.steps))


def recompute_all(problem: Problem) -> Solution:
    """The solution that recomputes all that it can, in the modes that keep the fewest bytes.

    Of inner values that conflict, the first is recomputed. A value stays stored if its inputs are no longer available
    at the point that needs it.

    Raises:
        InvalidPlan: values are inputs of each other in a circle.
    """
    start = keep_all(problem)
    inner = set(start.inner)
    stored_inner = _wanted(problem.fixed_inner, False)
    for position in range(len(problem.inner)):
        rivals = {member for pair in problem.conflicts if position in pair for member in pair}
        if position not in stored_inner and not rivals & inner:
            inner.add(position)
    active = [tape for tape in problem.tapes if is_active(tape, inner)]
    modes = tuple(
        min(range(len(step.modes)), key=lambda mode: (_mode_bytes(problem, active, index, mode), mode))
        for index, step in enumerate(problem.steps)
    )
    return Solution(modes, _recomputed_values(problem, start.values), frozenset(inner))


def _wanted(fixed: tuple[tuple[int, bool], ...], choice: bool) -> frozenset[int]:
    return frozenset(position for position, wanted in fixed if wanted == choice)


def _mode_bytes(problem: Problem, active: list[Tape], step: int, mode: int) -> tuple[int, int]:
    """The bytes that a step keeps, and those that it holds at its reverse point besides."""
    tapes = [tape for tape in active if tape.step == step]
    chosen = problem.steps[step].modes[mode]
    kept = chosen.kept + sum(tape.kept[mode] for tape in tapes)
    return kept, chosen.transient + sum(tape.transient[mode] for tape in tapes)


def _recomputed_values(problem: Problem, wanted: frozenset[int]) -> frozenset[int]:
    stored = _wanted(problem.fixed_values, False)
    recomputed = {
        index for index, value in enumerate(problem.values) if value.latest >= 0 and index not in stored
    } | wanted
    while True:
        recomputed_at = recompute_points(problem, recomputed)
        too_high = {value: point - problem.values[value].latest for value, point in recomputed_at.items()}
        absent = {value for value, excess in too_high.items() if excess > 0}
        # If a value must be recomputed, a consumer that needs it too early has to be stored instead.
        consumers = {value for value in recomputed_at if absent.intersection(problem.values[value].inputs)}
        blamed = (absent - wanted) or {
            value
            for value in consumers - wanted
            if any(recomputed_at[value] > problem.values[source].latest for source in problem.values[value].inputs)
        }
        if not blamed:
            return frozenset(recomputed)
        recomputed.remove(max(blamed, key=lambda value: (too_high[value], value)))


def greedy(problem: Problem, budget: int | None) -> Solution | None:
    """A solution within `budget` bytes with little work, not always the least; None if none is found.

    Raises:
        InvalidPlan: nothing that respects what the user fixed can be carried out.
    """
    boards = [Board(problem, keep_all(problem))]
    if budget is None:
        _relax(boards[0], None)
        return boards[0].solution
    boards.append(Board(problem, recompute_all(problem)))
    fitting = [board for board in boards if _descend(board, budget, _rate)]
    lowest = Board(problem, _lowest(problem)) if not fitting else None
    fitting += [lowest] if lowest is not None and lowest.peak <= budget else []
    for board in fitting:
        _relax(board, budget)
    return min(fitting, key=lambda board: board.work).solution if fitting else None


def reaches(problem: Problem, budget: int) -> bool:
    """Whether two quick descents find a solution within `budget` bytes; if not, there may still be one.

    Raises:
        InvalidPlan: nothing that respects what the user fixed can be carried out.
    """
    if max(least_live(problem), default=0) > budget:
        return False
    starts = (make(problem) for make in (keep_all, recompute_all))
    return any(_descend(Board(problem, start), budget, _rate) for start in starts)


def lowest_peak(problem: Problem) -> Solution:
    """A solution with a low peak, by descent; of those with that peak one with little work.

    Raises:
        InvalidPlan: nothing that respects what the user fixed can be carried out.
    """
    board = Board(problem, _lowest(problem))
    _relax(board, board.peak)
    return board.solution


@lru_cache(maxsize=4)
def _lowest(problem: Problem) -> Solution:
    """The lowest peak of several descents; found once, as many budgets of a problem may be below what others reach."""
    found: list[Board] = []
    for start in (keep_all(problem), recompute_all(problem)):
        for worth in (_rate, _saved):
            board = Board(problem, start)
            _sink(board, worth)
            found.append(board)
    return min(found, key=lambda board: (board.peak, board.work)).solution


def _sink(board: Board, worth: Worth) -> None:
    """Lowers the peak as long as single changes do so, in smaller and smaller steps."""
    step = FIRST_STEP
    while step >= LAST_STEP and board.peak > 0:
        if not _descend(board, int(board.peak * (1 - step)), worth):
            step /= 2


# --- descent


def _rate(saved: int, work: int) -> tuple[bool, float]:
    """The worth of a change: bytes saved for each nanosecond of work; changes that cost no work come first."""
    return work <= 0, saved / max(1, work)


def _saved(saved: int, work: int) -> tuple[bool, float]:
    """The worth of a change: bytes saved, whatever the work."""
    return True, saved - min(work, 1 << 60) / (1 << 61)


Worth = Callable[[int, int], tuple[bool, float]]


def _descend(board: Board, budget: int, worth: Worth) -> bool:
    """Applies the best change again and again until the solution fits; whether it fits in the end."""
    turn = 0
    while board.peak > budget:
        best, looked_at = _best_change(board, budget, worth, turn)
        if best is None:
            return False
        turn += looked_at
        board.apply(best)
    return True


def _best_change(board: Board, budget: int, worth: Worth, turn: int) -> tuple[Change | None, int]:
    """The change worth most among the next ones, if any reduces the excess bytes; and how many were evaluated."""
    excess, looked_at = board.excess(budget), 0
    changes = _changes(board, turn)
    most = LOOKED_AT if len(board.problem.values) > FEW_VALUES else None
    while tried := list(islice(changes, most)):
        looked_at += len(tried)
        saved = [(excess - board.excess(budget, change), change) for change in tried]
        better = [(worth(size, change.work), k) for k, (size, change) in enumerate(saved) if size > 0]
        if better:
            return saved[max(better, key=lambda one: one[0])[1]][1], looked_at
    return None, looked_at


def _changes(board: Board, turn: int) -> Iterator[Change]:
    """Single changes, of values from another one on each turn."""
    problem, solution = board.problem, board.solution
    fixed, fixed_inner = dict(problem.fixed_values), dict(problem.fixed_inner)
    can_change = [value.latest >= 0 or k in solution.values for k, value in enumerate(problem.values)]
    free = [k for k, can in enumerate(can_change) if can and k not in fixed]
    if len(free) > FEW_VALUES:
        start = turn % len(free)
        spread = sorted(free, key=lambda k: k * GOLDEN % 1.0)
        free = [*spread[start:], *spread[:start]]
    modes = (
        board.mode(index, mode)
        for index, step in enumerate(problem.steps)
        for mode in range(len(step.modes))
        if mode != solution.modes[index]
    )
    single = (solution.inner ^ {position} for position in range(len(problem.inner)) if position not in fixed_inner)
    active = [tape for tape in problem.tapes if is_active(tape, solution.inner)]
    without = (_inner_without(problem, solution.inner, tape) for tape in active)
    inner: Iterable[frozenset[int] | None] = dict.fromkeys(chain(single, without)) if problem.inner else ()
    changes = chain(
        modes,
        (board.inner(recomputed) for recomputed in inner if recomputed is not None and recomputed != solution.inner),
        (board.value(index) for index in free),
    )
    return (change for change in changes if change is not None)


def _inner_without(problem: Problem, inner: frozenset[int], tape: Tape) -> frozenset[int] | None:
    """The inner values to recompute so that nothing needs `tape`; None if something always does."""
    fixed, recomputed = dict(problem.fixed_inner), set(inner)
    for _ in tape.asked:  # A recomputed value may itself be a reader that needs the tape.
        for reader, read in tape.asked:
            if not ((reader == NOBODY or reader in recomputed) and (read == NOBODY or read not in recomputed)):
                continue
            if read != NOBODY and fixed.get(read, True):
                recomputed.add(read)
            elif reader != NOBODY and not fixed.get(reader, False):
                recomputed.discard(reader)
    return None if is_active(tape, recomputed) else frozenset(recomputed)


def _relax(board: Board, budget: int | None) -> None:
    """Reverts changes, one after another, that `budget` does not require."""
    problem = board.problem
    fixed, fixed_inner = dict(problem.fixed_values), dict(problem.fixed_inner)
    for index in sorted(board.solution.values - fixed.keys(), key=lambda value: (-problem.values[value].work, value)):
        _take(board, budget, board.value(index))
    inner = sorted(board.solution.inner - fixed_inner.keys(), key=lambda k: (-problem.inner[k].work, k))
    for position in inner:
        _take(board, budget, board.inner(board.solution.inner - {position}))
    for index, step in enumerate(problem.steps):
        for mode in sorted(range(len(step.modes)), key=lambda mode: -step.modes[mode].work):
            _take(board, budget, board.mode(index, mode))


def _take(board: Board, budget: int | None, change: Change | None) -> None:
    """Applies a change that takes less work, if the solution still fits."""
    if change is not None and change.work < 0 and (budget is None or board.peak_after(change) <= budget):
        board.apply(change)
