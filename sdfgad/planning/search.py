"""Search for a layout within a memory limit: solves the planning problem, builds programs, and adds up their peaks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from sdfgad.collector import collected_rarely
from sdfgad.errors import ArgumentError
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.program import Buffer, walk
from sdfgad.memory.accounting import Accountant, Accounts
from sdfgad.memory.loop_choices import InnerChoices, inner_choices
from sdfgad.options import Options
from sdfgad.plan.choose import Choice, within
from sdfgad.plan.greedy import recompute_all, store_all
from sdfgad.plan.machine import machine
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.segments import Segments
from sdfgad.plan.simulate import InvalidPlan, simulate
from sdfgad.planning.deadline import CUT, Deadline
from sdfgad.planning.layout import Code, Layout, Sizes
from sdfgad.planning.layout_cache import LayoutCache
from sdfgad.planning.smallest_peak import SmallestPeak
from sdfgad.planning.strip_mining import Cuts
from sdfgad.progress import stage
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Recompute

MOST_ATTEMPTS = 5
# A second search, for what fits only by the program's bytes, may lower programs with so many statements in all.
MOST_STATEMENTS = 1500
# With this many decisions, yes or no, for each second of its time the solver finds no better plan than is known anyway.
DECISIONS_A_SECOND = 300
# Predicted times are never so good that less than this share of them would mean anything.
TOLERANCE = 0.005
# A plan without strip-mined statements is preferred if its work is at most this many times the least.
WORTH_PIECES = 1.1
# To what share of its trips the number of a loop's kept states is found.
SHARE = 1 / 4096


class Planner:
    """Plans the gradient of one specialisation.

    Args:
        derive: computes the adjoint; not called if all layouts asked for are in the cache.
    """

    def __init__(
        self,
        derive: Callable[[], Adjoint],
        wrt: tuple[str, ...],
        output: str,
        options: Options,
        layout_cache: LayoutCache,
    ) -> None:
        self.derive, self.wrt, self.output, self.options, self.layout_cache = derive, wrt, output, options, layout_cache
        self._accounts: tuple[Sizes, Accounts] | None = None
        self._smallest: tuple[Sizes, Layout] | None = None
        # By what is recomputed and which loops are checkpointed: layouts that differ in numbers only share it.
        self._codes: dict[tuple[Any, ...], tuple[Code, tuple[Any, ...]]] = {}

    @cached_property
    def adjoint(self) -> Adjoint:
        return self.derive()

    @cached_property
    def store_all(self) -> Layout:
        return self.layout_cache(f"store all {self.options.without}", lambda: self._assembled([], {}))

    @cached_property
    def inner(self) -> InnerChoices:
        return inner_choices(self.adjoint)

    @property
    def _others(self) -> list[str]:
        """The outputs that the gradient program gives besides the one that is differentiated."""
        returned = [name for name in self.adjoint.primal.outputs if name.startswith("return")]
        return [name for name in returned if name != self.output] if self.options.all_outputs else []

    @property
    def is_trivial(self) -> bool:
        """Whether storing everything is optimal without a search: no limit, no overrides, no tapes."""
        options = self.options
        has_tapes = any(residual.loops for residual in self.adjoint.residuals.values())
        is_pinned = any(buffer.is_pinned for buffer in self.adjoint.primal.buffers.values())
        is_free = options.limit is None and not options.overrides and not is_pinned
        return is_free and (options.strategy == "store_all" or (options.strategy == "ilp" and not has_tapes))

    @collected_rarely()
    def layout(self, sizes: Sizes) -> Layout:
        """The best layout for a call; if none fits the limit, the one with the smallest peak.

        Raises:
            ArgumentError: an override names no value, or one that cannot be recomputed, or two contradict each other.
        """
        with stage("planning the memory"):
            return self.layout_cache(f"{self.options} {sizes} {machine()}", lambda: self._layout(sizes))

    def _layout(self, sizes: Sizes) -> Layout:
        if self.is_trivial:
            return self.store_all
        start = time.perf_counter()
        accounts = self.accounts(sizes)
        problem = _pinned(accounts, self.options.overrides)
        try:
            found = self._found(_hinted(problem, accounts, self.adjoint.primal.buffers), accounts, sizes)
        except InvalidPlan as error:
            raise ArgumentError(f"the overrides cannot be carried out: {error}", todo="Leave some out.") from None
        return replace(found, seconds=time.perf_counter() - start)

    def _found(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout:
        return self._fixed(problem, accounts, sizes) or self._solved(problem, accounts, sizes)

    def accounts(self, sizes: Sizes) -> Accounts:
        """The planning problem for a call."""
        if self._accounts is None or self._accounts[0] != sizes:
            gradient_program = self.store_all.gradient_program
            self._accounts = (
                sizes,
                Accountant(
                    self.adjoint, gradient_program, self.inner, sizes.of(gradient_program), machine(), sizes.trips
                ).accounts(),
            )
        return self._accounts[1]

    # --- strategies

    def _fixed(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout | None:
        strategy = self.options.strategy
        if strategy == "ilp":
            return None
        if strategy == "store_all":
            return self._built(store_all(problem), accounts)
        if strategy == "recompute_all":
            return self._built(replace(recompute_all(problem), modes=_square_roots(accounts)), accounts)
        return self._revolve(store_all(problem), accounts, sizes)

    def _revolve(self, solution: Solution, accounts: Accounts, sizes: Sizes) -> Layout:
        """Of each outermost loop as many states as the limit allows, or else of every trip; nothing else is decided."""
        low, high, limit = 0.0, 1.0, self.options.limit
        full = self._with_states(solution, accounts, high)
        if limit is None or full.peak_bytes(sizes) <= limit:
            return full
        while high - low > SHARE:
            middle = (low + high) / 2
            fits = self._with_states(solution, accounts, middle).peak_bytes(sizes) <= limit
            low, high = (middle, high) if fits else (low, middle)
        return self._with_states(solution, accounts, low)

    def _with_states(self, solution: Solution, accounts: Accounts, share: float) -> Layout:
        """Of each outermost loop the states of a share of its trips, at least one."""
        loops = [one for one in accounts.loops.values() if accounts.loops.keys().isdisjoint(one.around)]
        segments = {one.number: Segments(one.trips, 1, max(1, round(share * one.trips))) for one in loops}
        return replace(self._assembled(_recomputes(solution, accounts), segments), solution=solution)

    def _solved(self, problem: Problem, accounts: Accounts, sizes: Sizes) -> Layout:
        """The best layout without a limit if it keeps it, else the best that does, whole or in pieces."""
        limit = self.options.limit
        chosen = self._chosen(problem, None, Deadline(self.options.solver_seconds))
        assert chosen is not None, "without a limit there is always a layout"
        free = self._of(chosen, accounts)
        if limit is None or free.peak_bytes(sizes) <= limit:
            return free
        deadline = Deadline(self.options.solver_seconds)
        cuts = Cuts(free, sizes)
        search = self._search(problem, accounts, sizes, cuts)
        fast = WORTH_PIECES * simulate(problem, free.decided).work
        is_near = search.is_near(limit)
        # That no layout keeps the limit need not be found out one by one.
        is_hopeless = is_near and not search.may_be_whole(limit)
        whole = [] if is_hopeless else self._whole(problem, accounts, sizes, deadline)
        if all(simulate(problem, layout.decided).work > fast for layout in whole):
            whole += [layout for layout in [cuts.within(limit)] if layout.peak_bytes(sizes) <= limit]
        if whole:
            return deadline.marked(min(whole, key=lambda layout: simulate(problem, layout.decided).work))
        return self._around_the_least(problem, accounts, search, is_near)

    def _whole(self, problem: Problem, accounts: Accounts, sizes: Sizes, deadline: Deadline) -> list[Layout]:
        """Layouts that keep the limit with no statement in pieces.

        The problem's bytes are mostly upper bounds of the program's, which count. So what fits by the problem's bytes
        is tried first, then what exceeds the limit by as much as the bound is off where everything is stored.
        """
        limit = self.options.limit or 0
        # Not said to be the best, should it be taken because nothing better was found.
        stored = self._built(store_all(problem), accounts)
        stored = replace(stored, status="feasible", gap=None, solver=self.options.solver)
        slack = simulate(problem, store_all(problem)).peak - stored.peak_bytes(sizes)
        found = [stored, *self._closing_in(problem, limit, accounts, sizes, deadline)]
        more = MOST_STATEMENTS // sum(1 for _ in walk(stored.gradient_program.program.body))
        if all(layout.peak_bytes(sizes) > limit for layout in found):
            more = max(more, 1)
        elif deadline.was_short:
            more = 0  # Where the solver has taken all its time once, it would again.
        if slack > 0:
            found += islice(self._closing_in(problem, limit + slack, accounts, sizes, deadline), more)
        return [layout for layout in found if layout.peak_bytes(sizes) <= limit]

    def _around_the_least(self, problem: Problem, accounts: Accounts, search: SmallestPeak, is_near: bool) -> Layout:
        """The layout with the smallest peak; but if it fits the limit, or others may, the fastest of those that fit."""
        limit, sizes = self.options.limit or 0, search.sizes
        least = self._least(search)
        if is_near and least.peak_bytes(sizes) > limit:
            return least
        # Others that need as much by the problem's bytes may take less time.
        deadline, target = Deadline(self.options.solver_seconds), simulate(problem, least.decided).peak
        found = [least, *self._closing_in(problem, target, accounts, sizes, deadline)]
        fitting = [layout for layout in found if layout.peak_bytes(sizes) <= limit] or [least]
        return deadline.marked(min(fitting, key=lambda layout: simulate(problem, layout.decided).work))

    def _search(self, problem: Problem, accounts: Accounts, sizes: Sizes, fastest: Cuts) -> SmallestPeak:
        starts = [lambda: self._with_states(store_all(problem), accounts, 0.0)] if accounts.loops else []
        return SmallestPeak(problem, accounts, sizes, lambda solution: self._built(solution, accounts), starts, fastest)

    def _least(self, search: SmallestPeak) -> Layout:
        """The layout with the smallest peak, which is the same for all limits."""
        if self._smallest is None or self._smallest[0] != search.sizes:
            asked = replace(self.options, limit=None)
            make = lambda: search.layout(self.options.solver)  # noqa: E731
            self._smallest = search.sizes, self.layout_cache(f"least {asked} {search.sizes} {machine()}", make)
        return self._smallest[1]

    def _closing_in(
        self, problem: Problem, target: int, accounts: Accounts, sizes: Sizes, deadline: Deadline
    ) -> Iterator[Layout]:
        """Layouts for a budget in the problem's bytes, which falls by the excess of each one's real peak."""
        limit = self.options.limit or 0
        for _ in range(MOST_ATTEMPTS):
            layout = self._attempt(problem, target, accounts, deadline)
            if layout is None:
                return
            yield layout
            excess = layout.peak_bytes(sizes) - limit
            if excess <= 0 or deadline.is_over:
                return
            target -= excess

    def _attempt(self, problem: Problem, target: int | None, accounts: Accounts, deadline: Deadline) -> Layout | None:
        """The solver's layout for a budget in the problem's bytes, or None if none is found."""
        chosen = self._chosen(problem, target, deadline)
        return None if chosen is None else self._of(chosen, accounts)

    def _chosen(self, problem: Problem, target: int | None, deadline: Deadline) -> Choice | None:
        options, seconds = self.options, deadline.for_one_answer()
        most = DECISIONS_A_SECOND * options.solver_seconds
        chosen = within(problem, target, options.solver, seconds, TOLERANCE, most)
        deadline.answered(None if chosen is None else chosen.status)
        return chosen

    def _of(self, chosen: Choice, accounts: Accounts) -> Layout:
        is_greedy = chosen.method == "greedy" and chosen.status != CUT
        status = "greedy" if is_greedy else chosen.status
        layout = self._built(chosen.solution, accounts)
        return replace(layout, status=status, gap=chosen.gap, solver=self.options.solver)

    def _built(self, solution: Solution, accounts: Accounts) -> Layout:
        segments: dict[int, Segments] = {}
        for step, mode in enumerate(solution.modes):
            segments |= accounts.modes[step][mode]
        return replace(self._assembled(_recomputes(solution, accounts), segments), solution=solution)

    def _assembled(self, recomputes: list[Recompute], segments: Mapping[int, Segments]) -> Layout:
        structure = tuple(one.members for one in recomputes), tuple(sorted(segments))
        if structure not in self._codes:
            adjoint = self.adjoint.recomputing(recomputes) if recomputes else self.adjoint
            gradient_program = assemble(adjoint, self.wrt, self.output, tuple(segments), others=self._others)
            code = Code(gradient_program, without=self.options.without)
            self._codes[structure] = code, tuple(one.members for one in adjoint.recomputes)
        code, members = self._codes[structure]
        return Layout(code, self.adjoint.primal.body, members, segments)


def _recomputes(solution: Solution, accounts: Accounts) -> list[Recompute]:
    recomputes = [a for k, a in enumerate(accounts.values) if a is not None and k in solution.values]
    return recomputes + [a for k, a in enumerate(accounts.inner) if k in solution.inner]


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
    """The problem with the user's overrides as fixed choices.

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
        storable = {t.name for t in problem.tapes} | {v.name for v in problem.values}
        if not of_values and not of_inner and (choice == "recompute" or name not in storable):
            labels = [*(v.name for v in problem.values), *(i.name for i in problem.inner)]
            known = {n for label in labels for n in label.split(", ")}
            raise ArgumentError(
                f"there is no value `{name}` that could be recomputed",
                todo=f"Values that can be are: {', '.join(sorted(known)) or 'none'}.",
            )
        values += [(k, choice == "recompute") for k in of_values]
        inner += [(k, choice == "recompute") for k in of_inner]
    return replace(problem, fixed_values=tuple(values), fixed_inner=tuple(inner))


def _hinted(problem: Problem, accounts: Accounts, buffers: Mapping[str, Buffer]) -> Problem:
    """The problem with what is pinned to recomputation as fixed choices, as far as it can be and nothing is said."""

    def is_pinned(one: Recompute | None) -> bool:
        return one is not None and all(buffers[name].is_pinned for name in one.buffers)

    known = dict(problem.fixed_values)
    values = [k for k, v in enumerate(problem.values) if v.latest >= 0 and is_pinned(accounts.values[k])]
    inner = dict(problem.fixed_inner)
    for k, one in enumerate(accounts.inner):
        clashes = any(inner.get(other) for pair in problem.conflicts if k in pair for other in pair if other != k)
        if is_pinned(one) and not clashes:
            inner.setdefault(k, True)
    fixed = {**dict.fromkeys(values, True), **known}
    return replace(problem, fixed_values=tuple(fixed.items()), fixed_inner=tuple(inner.items()))
