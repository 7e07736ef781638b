"""Incremental evaluation of solutions: their cost, as the simulator computes it, updated change by change."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.simulate import consumers_first, is_active, simulate

# Bytes that are held from one point to another, both included.
Span = tuple[int, int, int]


@dataclass(frozen=True)
class Change:
    """A change of a solution, and its effect.

    Attributes:
        solution: the solution after the change.
        spans: the bytes held more, or less, between two points.
        work: the nanoseconds added.
        recomputed_at: for each value whose recomputation moves, its new reverse point; -1: it is no longer recomputed.
    """

    solution: Solution
    spans: Sequence[Span]
    work: int
    recomputed_at: Mapping[int, int] = field(default_factory=dict)


class Board:
    """A solution under change, with its bytes and its work.

    Attributes:
        live: the bytes that are held at each point.
        work: as in `Simulation`.

    Raises:
        InvalidPlan: the solution cannot be carried out, or values are inputs of each other in a circle.
    """

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self.problem, self.solution = problem, solution
        result = simulate(problem, solution)
        self.live, self.work = np.array(result.live, np.int64), result.work
        self._recomputed_at = dict(result.recomputed_at)
        self._consumers: list[list[int]] = [[] for _ in problem.values]
        for index, value in enumerate(problem.values):
            for source in sorted(set(value.inputs)):
                self._consumers[source].append(index)
        free = [k for k, value in enumerate(problem.values) if value.latest >= 0 or k in solution.values]
        self._rank = dict.fromkeys(range(len(problem.values)), len(free))
        self._rank |= {value: rank for rank, value in enumerate(consumers_first(problem, free))}
        self._highest = [max(value.needs, default=-1) for value in problem.values]
        self._lowest = [min(value.needs, default=len(self.live)) for value in problem.values]

    @property
    def peak(self) -> int:
        return int(self.live.max(initial=0))

    def excess(self, budget: int, change: Change | None = None) -> int:
        """The bytes above `budget`, summed over all points."""
        return int(np.maximum(self._after(change) - budget, 0).sum())

    def peak_after(self, change: Change) -> int:
        return int(self._after(change).max(initial=0))

    def _after(self, change: Change | None) -> np.ndarray:
        if change is None:
            return self.live
        live = self.live.copy()
        for first, last, size in change.spans:
            live[first : last + 1] += size
        return live

    def apply(self, change: Change) -> None:
        self.live, self.solution = self._after(change), change.solution
        self.work += change.work
        for value, point in change.recomputed_at.items():
            self._recomputed_at[value] = point
            if point < 0:
                del self._recomputed_at[value]

    # --- changes

    def value(self, index: int) -> Change | None:
        """The change that stores value `index` if it is recomputed, or the other way round; None if that is invalid."""
        recomputed = self.solution.values ^ {index}
        recomputed_at: dict[int, int] = {}
        spans: list[Span] = []
        work = 0
        waiting, seen = [(self._rank[index], index)], {index}
        while waiting:
            value = heapq.heappop(waiting)[1]
            held, was = self._held(value, recomputed, recomputed_at), self._held(value, self.solution.values, {})
            if value != index and held == was:
                continue
            if value in recomputed and held[0] > self.problem.values[value].latest:
                return None
            spans += self._spans(value, value in self.solution.values, was, -1)
            spans += self._spans(value, value in recomputed, held, 1)
            before, recomputed_at[value] = self._recomputed_at.get(value, -1), held[0] if value in recomputed else -1
            work += ((recomputed_at[value] >= 0) - (before >= 0)) * self.problem.values[value].work
            sources = set(self.problem.values[value].inputs) - seen if before != recomputed_at[value] else set[int]()
            for source in sources:
                seen.add(source)
                heapq.heappush(waiting, (self._rank[source], source))
        changed = {
            value: point for value, point in recomputed_at.items() if point != self._recomputed_at.get(value, -1)
        }
        return Change(replace(self.solution, values=recomputed), spans, work, changed)

    def _held(self, value: int, recomputed: frozenset[int], recomputed_at: Mapping[int, int]) -> tuple[int, int]:
        """The highest and the lowest reverse point that need a value; a highest of -1: none does."""
        highest, lowest = self._highest[value], self._lowest[value]
        for consumer in self._consumers[value]:
            if consumer in recomputed:
                point = recomputed_at[consumer] if consumer in recomputed_at else self._recomputed_at.get(consumer, -1)
                if point >= 0:
                    highest, lowest = max(highest, point), min(lowest, point)
        return highest, lowest

    def _spans(self, value: int, is_recomputed: bool, held: tuple[int, int], sign: int) -> list[Span]:
        what, turn = self.problem.values[value], len(self.live) - 1
        size, (highest, lowest) = sign * what.bytes, held
        if highest < 0:
            return [(what.computed, what.used, size)]
        if not is_recomputed:
            return [(what.computed, turn - lowest, size)]
        return [(what.computed, what.used, size), (turn - highest, turn - lowest, size)]

    def inner(self, recomputed: frozenset[int]) -> Change | None:
        """The change that recomputes exactly the inner values `recomputed`; None if two of them conflict."""
        if any(one in recomputed and other in recomputed for one, other in self.problem.conflicts):
            return None
        other = recomputed ^ self.solution.inner
        steps = {t.step for t in self.problem.tapes if any(not other.isdisjoint(pair) for pair in t.asked)}
        change = self._steps(replace(self.solution, inner=recomputed), steps)
        work = sum(self.problem.inner[k].work * (1 if k in recomputed else -1) for k in other)
        return replace(change, work=change.work + work)

    def mode(self, step: int, mode: int) -> Change:
        modes = self.solution.modes
        return self._steps(replace(self.solution, modes=(*modes[:step], mode, *modes[step + 1 :])), {step})

    def _steps(self, solution: Solution, steps: set[int]) -> Change:
        spans: list[Span] = []
        total = 0
        for step in sorted(steps):
            end = len(self.live) - 1 - step
            for one, sign in ((self.solution, -1), (solution, 1)):
                kept, transient, work = self._cost(one, step)
                spans += [(step, end, sign * kept), (end, end, sign * transient)]
                total += sign * work
        return Change(solution, spans, total)

    def _cost(self, solution: Solution, step: int) -> tuple[int, int, int]:
        """The bytes that a step and its tapes keep, those that they hold at its reverse point only, and the work."""
        mode = solution.modes[step]
        chosen = self.problem.steps[step].modes[mode]
        active = [t for t in self.problem.tapes if t.step == step and is_active(t, solution.inner)]
        return (
            chosen.kept + sum(tape.kept[mode] for tape in active),
            chosen.transient + sum(tape.transient[mode] for tape in active),
            chosen.work + sum(tape.work[mode] for tape in active),
        )
