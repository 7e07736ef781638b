"""Chooses how a gradient is computed within a memory limit, and checks what comes of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.api.recall import Recall
from sdfgad.api.wishes import Wishes
from sdfgad.errors import ArgumentError
from sdfgad.ir.program import Block, Program
from sdfgad.lowering.accounting import Accountant, Accounts
from sdfgad.lowering.assemble import GradientProgram, assemble
from sdfgad.lowering.inner import InnerChoices, inner_choices
from sdfgad.lowering.lifetimes import evaluate, peak_bytes
from sdfgad.plan.choose import Infeasible, choose
from sdfgad.plan.greedy import keep_all, make_all_again
from sdfgad.plan.ilp import solve
from sdfgad.plan.machine import machine
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.segments import Segments
from sdfgad.plan.simulate import InvalidPlan, simulate
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Again

MOST_ATTEMPTS = 5
# How many layouts are made better by single changes, and by how many, when the smallest peak is looked for.
MOST_STARTS, MOST_TURNS = 3, 40
# Predicted times are never so good that less than this share of them would mean anything.
TOLERANCE = 0.005
# With less than this share of the time left, a plan that fits is not looked for a better one.
QUICK = 0.8
# To what share of its trips the number of a loop's kept states is found.
SHARE = 1 / 4096


@dataclass(frozen=True)
class Sizes:
    """What the sizes of one call depend on.

    Attributes:
        integers: values of the program's run-time integers.
        trips: loop counter -> the number of its trips in all, where that is data and has been counted.
        copies: bytes of copies of arguments that are not contiguous.
    """

    integers: Mapping[str, int]
    trips: Mapping[str, int] = field(default_factory=dict)
    copies: int = 0

    def of(self, made: GradientProgram) -> dict[str, int]:
        """All integers that a gradient program's sizes are made of, but for its segments."""
        counted = {} if made.counting is None else made.counting.outputs
        loops = {buffer: name.removeprefix("trips of ") for name, buffer in counted.items()}
        totals = {symbol: self.trips.get(loops[buffer], 0) for symbol, buffer in made.totals.items()}
        return {**self.integers, **totals}


@dataclass(frozen=True, eq=False)
class Layout:
    """One way to compute a gradient.

    Attributes:
        made, program: the gradient program, and the same optimised.
        body: the primal's statements, which `made.points` number.
        again: the statements that make each value again.
        segments: how loops are kept, by statement number.
        solution: what was decided, or None where nothing was.
        status, gap, solver, seconds: how it was found.
    """

    made: GradientProgram
    body: Block
    again: tuple[Any, ...]
    segments: Mapping[int, Segments] = field(default_factory=dict)
    solution: Solution | None = None
    status: str = "fixed"
    gap: float | None = 0.0
    solver: str = "none"
    seconds: float = 0.0

    @cached_property
    def program(self) -> Program:
        return _optimised(self.made.program)

    @property
    def gradient_program(self) -> Program:
        """The program without the output's value, and so without what only that needs."""
        whole = self.made.program
        gradients = {name: buffer for name, buffer in whole.outputs.items() if buffer != self.made.value}
        return replace(whole, outputs=gradients)

    @property
    def decided(self) -> Solution:
        """What was decided, of a layout of which something was."""
        assert self.solution is not None
        return self.solution

    @property
    def structure(self) -> tuple[Any, ...]:
        """Equal for layouts with the same compiled code."""
        return self.again, tuple(sorted(self.segments))

    def for_trips(self, integers: Mapping[str, int]) -> Layout:
        """The same layout for other numbers of trips."""
        loops = {number: kept.loop for number, kept in self.made.checkpoints.items()}
        segments = {n: s.for_trips(max(evaluate(loops[n].trips, integers), 0)) for n, s in self.segments.items()}
        return self if segments == self.segments else replace(self, segments=segments)

    @cached_property
    def tables(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, int]]:
        """The arrays and integers that tell the compiled program which states to keep and what to run again."""
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        integers: dict[str, int] = {}
        for number, kept in self.made.checkpoints.items():
            segments = self.segments[number]
            forward, reverse = segments.forward(), segments.reverse()
            arrays |= {kept.forward.name: forward, kept.reverse.name: reverse}
            values = (segments.length, segments.slots, len(forward), len(reverse))
            integers |= dict(zip(kept.integers, values, strict=True))
        return arrays, integers

    def integers(self, sizes: Sizes) -> dict[str, int]:
        return sizes.of(self.made) | self.tables[1]

    def peak_bytes(self, sizes: Sizes) -> int:
        """The most that a call holds."""
        integers, counting = self.integers(sizes), self.made.counting
        first = peak_bytes(_optimised(counting), integers) if counting is not None else 0
        return max(first, peak_bytes(self.program, integers)) + sizes.copies


class Planner:
    """Plans the gradient of one specialisation.

    Args:
        derive: gives the adjoint, which is not needed where all that is asked for is recalled.
    """

    def __init__(
        self, derive: Callable[[], Adjoint], wrt: tuple[str, ...], output: str, wishes: Wishes, recall: Recall
    ) -> None:
        self.derive, self.wrt, self.output, self.wishes, self.recall = derive, wrt, output, wishes, recall
        self._accounts: tuple[Sizes, Accounts] | None = None

    @cached_property
    def adjoint(self) -> Adjoint:
        return self.derive()

    @cached_property
    def store_all(self) -> Layout:
        return self.recall("store all", lambda: self._assembled([], {}))

    @cached_property
    def inner(self) -> InnerChoices:
        return inner_choices(self.adjoint)

    @property
    def is_trivial(self) -> bool:
        """Whether storing everything is as good as anything: no limit, no wishes, no tapes."""
        wishes = self.wishes
        has_tapes = any(residual.loops for residual in self.adjoint.residuals.values())
        is_free = wishes.limit is None and not wishes.overrides
        return is_free and (wishes.strategy == "store_all" or (wishes.strategy == "ilp" and not has_tapes))

    def layout(self, sizes: Sizes) -> Layout:
        """The best layout for a call; where none is within the limit, the one with the smallest peak.

        Raises:
            ArgumentError: an override names no value, or one that cannot be recomputed, or two contradict each other.
        """
        return self.recall(f"{self.wishes} {sizes} {machine()}", lambda: self._layout(sizes))

    def _layout(self, sizes: Sizes) -> Layout:
        if self.is_trivial:
            return self.store_all
        start = time.perf_counter()
        accounts = self.accounts(sizes)
        problem = _pinned(accounts, self.wishes.overrides)
        try:
            found = self._fixed(problem, accounts, sizes) or self._solved(problem, accounts, sizes)
        except InvalidPlan as error:
            raise ArgumentError(f"the overrides cannot be carried out: {error}", todo="Leave some out.") from None
        return replace(found, seconds=time.perf_counter() - start)

    def accounts(self, sizes: Sizes) -> Accounts:
        """What there is to decide for a call."""
        if self._accounts is None or self._accounts[0] != sizes:
            made = self.store_all.made
            self._accounts = sizes, Accountant(self.adjoint, made, self.inner, sizes.of(made), machine()).accounts()
        return self._accounts[1]

    # --- strategies

    def _fixed(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout | None:
        strategy = self.wishes.strategy
        if strategy == "ilp":
            return None
        if strategy == "store_all":
            return self._built(_stored(problem), accounts)
        if strategy == "recompute_all":
            return self._built(replace(make_all_again(problem), modes=_square_roots(accounts)), accounts)
        return self._revolve(_stored(problem), accounts, sizes)

    def _revolve(self, solution: Solution, accounts: Accounts, sizes: Sizes) -> Layout:
        """Of each outermost loop as many states as the limit allows, or else of every trip; nothing else is decided."""
        low, high, limit = 0.0, 1.0, self.wishes.limit
        full = self._states_kept(solution, accounts, high)
        if limit is None or full.peak_bytes(sizes) <= limit:
            return full
        while high - low > SHARE:
            middle = (low + high) / 2
            fits = self._states_kept(solution, accounts, middle).peak_bytes(sizes) <= limit
            low, high = (middle, high) if fits else (low, middle)
        return self._states_kept(solution, accounts, low)

    def _states_kept(self, solution: Solution, accounts: Accounts, share: float) -> Layout:
        """Of each outermost loop the states of a share of its trips, at least one."""
        loops = [one for one in accounts.loops.values() if accounts.loops.keys().isdisjoint(one.around)]
        segments = {one.number: Segments(one.trips, 1, max(1, round(share * one.trips))) for one in loops}
        return replace(self._assembled(_made_again(solution, accounts), segments), solution=solution)

    def _solved(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout:
        """The solver's layout: the best without a limit if it keeps it, else the best that does.

        The problem's bytes are mostly upper bounds of the program's, which count. So what fits by the problem's bytes
        is tried first, then what exceeds the limit by as much as the bound is off where everything is stored.
        """
        limit, deadline = self.wishes.limit, time.perf_counter() + self.wishes.solver_seconds
        layout = self._attempt(problem, None, accounts, deadline)
        if limit is None or layout is None or layout.peak_bytes(sizes) <= limit:
            assert layout is not None, "without a limit there is always a layout"
            return layout
        # Not said to be the best, should it be taken because nothing better was found.
        stored = self._built(_stored(problem), accounts)
        stored = replace(stored, status="feasible", gap=None, solver=self.wishes.solver)
        slack = simulate(problem, _stored(problem)).peak - stored.peak_bytes(sizes)
        found = [stored, *self._closing_in(problem, limit, accounts, sizes, deadline)]
        is_quick = deadline - time.perf_counter() > QUICK * self.wishes.solver_seconds
        if slack > 0 and (is_quick or all(layout.peak_bytes(sizes) > limit for layout in found)):
            found += self._closing_in(problem, limit + slack, accounts, sizes, deadline)
        fitting = [layout for layout in found if layout.peak_bytes(sizes) <= limit]
        if not fitting:
            return self._smallest(problem, accounts, sizes)
        return min(fitting, key=lambda layout: simulate(problem, layout.decided).work)

    def _closing_in(
        self, problem: Problem, target: int, accounts: Accounts, sizes: Sizes, deadline: float
    ) -> Iterator[Layout]:
        """Layouts for so many of the problem's bytes, then for less by what the last one exceeds the limit."""
        limit = self.wishes.limit or 0
        for _ in range(MOST_ATTEMPTS):
            layout = self._attempt(problem, target, accounts, deadline)
            if layout is None:
                return
            yield layout
            excess = layout.peak_bytes(sizes) - limit
            if excess <= 0 or time.perf_counter() > deadline:
                return
            target -= excess

    def _attempt(self, problem: Problem, target: int | None, accounts: Accounts, deadline: float) -> Layout | None:
        """The solver's layout for so many of the problem's bytes, or None if there is none."""
        wishes, left = self.wishes, max(0.1, deadline - time.perf_counter())
        try:
            chosen = choose(problem, target, wishes.solver, left, TOLERANCE)
        except Infeasible:
            return None
        status = "greedy" if chosen.method == "greedy" else chosen.status
        return replace(self._built(chosen.solution, accounts), status=status, gap=chosen.gap, solver=wishes.solver)

    def _smallest(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout:
        """The layout with the smallest peak that is found from several which should have small ones."""
        deadline = time.perf_counter() + self.wishes.solver_seconds
        answer = solve(problem, None, objective="peak", solver=self.wishes.solver, seconds=self.wishes.solver_seconds)
        plain = replace(problem, steps=tuple(replace(step, modes=step.modes[:1]) for step in problem.steps))
        few = tuple(min(1, len(step.modes) - 1) for step in problem.steps)
        solutions = [
            keep_all(problem),
            make_all_again(problem),
            make_all_again(plain),
            *(replace(solution, modes=few) for solution in (keep_all(problem), make_all_again(problem))),
            *([answer.solution] if answer.solution is not None else []),
        ]
        layouts = [self._built(solution, accounts) for solution in _valid(problem, solutions)]
        layouts.sort(key=lambda layout: layout.peak_bytes(sizes))
        # Each has its share of the time, from when it begins.
        share = self.wishes.solver_seconds / MOST_STARTS
        layouts[:MOST_STARTS] = [
            self._descended(one, problem, accounts, sizes, time.perf_counter() + share) for one in layouts[:MOST_STARTS]
        ]
        best = min(layouts, key=lambda layout: layout.peak_bytes(sizes))
        kept = self._states_kept(_stored(problem), accounts, 0.0)
        if kept.peak_bytes(sizes) < best.peak_bytes(sizes):
            return replace(kept, status="smallest peak", gap=None)
        faster = self._attempt(problem, simulate(problem, best.decided).peak, accounts, deadline)
        if faster is not None and faster.peak_bytes(sizes) <= best.peak_bytes(sizes):
            best = faster
        return replace(best, status="smallest peak", gap=None, solver=self.wishes.solver)

    def _descended(self, best: Layout, problem: Problem, accounts: Accounts, sizes: Sizes, deadline: float) -> Layout:
        """Single changes, as long as they make the real peak smaller: the problem's is only a bound of it."""
        least, turns = best.peak_bytes(sizes), len(problem.inner) + sum(v.latest >= 0 for v in problem.values)
        for turn in range(min(turns, MOST_TURNS)):
            if time.perf_counter() > deadline:
                break
            for solution in _valid(problem, [_changed(problem, best.decided, turn)]):
                layout = self._built(solution, accounts)
                if layout.peak_bytes(sizes) < least:
                    best, least = layout, layout.peak_bytes(sizes)
        return best

    def _built(self, solution: Solution, accounts: Accounts) -> Layout:
        segments: dict[int, Segments] = {}
        for step, mode in enumerate(solution.modes):
            segments |= accounts.modes[step][mode]
        return replace(self._assembled(_made_again(solution, accounts), segments), solution=solution)

    def _assembled(self, again: list[Again], segments: Mapping[int, Segments]) -> Layout:
        adjoint = self.adjoint.making_again(again) if again else self.adjoint
        made = assemble(adjoint, self.wrt, self.output, tuple(segments))
        return Layout(made, adjoint.primal.body, tuple(one.members for one in adjoint.again), segments)


def _optimised(program: Program) -> Program:
    from sdfgad.optimize.passes import optimise  # A program that is found compiled does without the import.

    return optimise(program)


def _made_again(solution: Solution, accounts: Accounts) -> list[Again]:
    again = [a for k, a in enumerate(accounts.values) if a is not None and k in solution.values]
    return again + [a for k, a in enumerate(accounts.inner) if k in solution.inner]


def _stored(problem: Problem) -> Solution:
    """Everything stored, but for what the user wants made again."""
    return replace(keep_all(problem), modes=(0,) * len(problem.steps))


def _changed(problem: Problem, solution: Solution, turn: int) -> Solution:
    """The solution with one value, of those that can be, made again or not made again."""
    values = [k for k, value in enumerate(problem.values) if value.latest >= 0]
    if turn < len(values):
        return replace(solution, values=solution.values ^ {values[turn]})
    return replace(solution, inner=solution.inner ^ {turn - len(values)})


def _valid(problem: Problem, solutions: Iterable[Solution]) -> Iterator[Solution]:
    """Those that can be carried out: what the user pins may rule some out."""
    for solution in solutions:
        with contextlib.suppress(InvalidPlan):
            simulate(problem, solution)
            yield solution


def _square_roots(accounts: Accounts) -> tuple[int, ...]:
    """For each step the mode with fewest bytes in which no segment is run twice."""
    result: list[int] = []
    for step, modes in zip(accounts.problem.steps, accounts.modes, strict=True):
        once = [k for k, choice in enumerate(modes) if choice and all(not s.replays for s in choice.values())]
        sizes = {k: step.modes[k].kept + step.modes[k].transient + _taped(accounts, len(result), k) for k in once}
        result.append(min(sizes, key=sizes.__getitem__) if sizes else 0)
    return tuple(result)


def _taped(accounts: Accounts, step: int, mode: int) -> int:
    return sum(t.kept[mode] + t.transient[mode] for t in accounts.problem.tapes if t.step == step)


def _pinned(accounts: Accounts, overrides: Mapping[str, str]) -> Problem:
    """The problem with the user's own choices.

    Raises:
        ArgumentError: an override names no value, or asks to recompute one for which that is not possible.
    """
    problem = accounts.problem
    values: list[tuple[int, bool]] = []
    inner: list[tuple[int, bool]] = []
    for name, choice in overrides.items():
        if choice not in ("store", "recompute"):
            raise ArgumentError(f"the override of `{name}` is {choice!r}", todo='It must be "store" or "recompute".')
        of_values = [k for k, v in enumerate(problem.values) if name in v.name.split(", ") and v.latest >= 0]
        of_inner = [k for k, i in enumerate(problem.inner) if name in i.name.split(", ")]
        kept = {t.name for t in problem.tapes} | {v.name for v in problem.values}
        if not of_values and not of_inner and (choice == "recompute" or name not in kept):
            labels = [*(v.name for v in problem.values), *(i.name for i in problem.inner)]
            known = {n for label in labels for n in label.split(", ")}
            raise ArgumentError(
                f"there is no value `{name}` that could be recomputed",
                todo=f"Values that can be are: {', '.join(sorted(known)) or 'none'}.",
            )
        values += [(k, choice == "recompute") for k in of_values]
        inner += [(k, choice == "recompute") for k in of_inner]
    return replace(problem, fixed_values=tuple(values), fixed_inner=tuple(inner))
