"""Smallest feasible memory limit: a search for the layout with the smallest peak.

The smallest peak depends on the program and its sizes, not on the limit. So every limit below it is refused with the
same number, and that number is itself a feasible limit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from sdfgad.ir.program import walk
from sdfgad.memory.accounting import Accounts
from sdfgad.plan.greedy import keep_all, lowest_peak, reaches, recompute_all, store_all
from sdfgad.plan.ilp import solve
from sdfgad.plan.problem import Problem, Solution
from sdfgad.plan.simulate import InvalidPlan, simulate
from sdfgad.planning.deadline import CUT
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.planning.strip_mining import Cuts

# Of programs with so many statements in all the peaks are found, of a few at least and of not too many small ones.
MOST_STATEMENTS, FEWEST_BUILDS, MOST_BUILDS = 2000, 3, 24
# The solver is asked about so many decisions, which it mostly answers at once, and given up after so many seconds.
MOST_DECISIONS, SECONDS = 40, 5.0
# Real peaks exceed the problem's by less than this factor, and the problem's the real ones by less than that.
MARGIN, WORST = 1.25, 3.0

Build = Callable[[Solution], Layout]


class SmallestPeak:
    """Searches for the layout with the smallest peak.

    Args:
        build: the layout for a solution of the planning problem.
        others: more layouts that may have small peaks.
        fastest: the fastest layout, which may have a small peak if it is strip-mined.
    """

    def __init__(
        self,
        problem: Problem,
        accounts: Accounts,
        sizes: Sizes,
        build: Build,
        others: Iterable[Callable[[], Layout]],
        fastest: Cuts,
    ) -> None:
        self.problem, self.accounts, self.sizes, self.build, self.others = problem, accounts, sizes, build, others
        self.fastest = fastest
        self._layouts: dict[tuple[object, ...], Layout] = {}
        self._was_short = False

    @cached_property
    def lowest(self) -> Solution:
        """The solution with the smallest peak found, in bytes as the problem counts them.

        Raises:
            InvalidPlan: the overrides cannot be carried out.
        """
        return lowest_peak(self.problem)

    def is_near(self, limit: int) -> bool:
        """Whether a limit may be below the smallest peak, or close to it."""
        limit -= self.sizes.copies
        # What is far below is mostly reached in a fraction of the time that the lowest peak takes.
        if reaches(self.problem, int(limit / MARGIN)):
            return False
        return limit < MARGIN * simulate(self.problem, self.lowest).peak

    def may_be_whole(self, limit: int) -> bool:
        """Whether some solution without strip-mining fits a limit, in bytes as the problem counts them."""
        return simulate(self.problem, self.lowest).peak <= limit - self.sizes.copies

    def layout(self, solver: str) -> Layout:
        """The layout with the smallest peak of those that are built, with and without strip-mining.

        Its gap is 0 if the solver proved that no other has a smaller peak, if the problem's bytes are the real ones,
        and if no statement can be strip-mined.
        """
        whole = self._whole(solver)
        others = {layout.structure: layout for layout in (whole, self._built(store_all(self.problem)))}
        others.pop(self.fastest.layouts[0].structure, None)
        cuts = [self.fastest, *(Cuts(layout, self.sizes) for layout in others.values())]
        least = self._best([whole, *(one.within(0) for one in cuts)])
        is_whole = all(len(one.layouts) == 1 for one in cuts)
        return replace(least, status=whole.status, gap=whole.gap if is_whole else None, solver=solver)

    def _whole(self, solver: str) -> Layout:
        """The layout with the smallest peak of those that are built, with no statement in pieces."""
        answer = self._proven(solver)
        bound = simulate(self.problem, answer or self.lowest).peak + self.sizes.copies
        best = self._best(self._tuned(solution) for solution in dict.fromkeys((answer or self.lowest, self.lowest)))
        others = [make() for make in self.others]
        if answer is None or self._peak(best) < bound:
            best = self._best([best, *(self._tuned(one) for one in self._starts(self._peak(best)) if self._left > 0)])
        if self._peak(best) < bound:
            best = self._descended(best)
        best = self._best([best, *others])
        is_least = answer is not None and self._peak(best) >= bound
        status = CUT if self._was_short else "smallest peak"
        return replace(best, status=status, gap=0.0 if is_least else None, solver=solver)

    def _best(self, layouts: Iterable[Layout]) -> Layout:
        return min(layouts, key=self._peak)

    def _peak(self, layout: Layout) -> int:
        return layout.peak_bytes(self.sizes)

    # --- what is tried

    def _proven(self, solver: str) -> Solution | None:
        """The solution with the provably smallest peak in the problem's bytes, if the solver finds it soon."""
        problem = self.problem
        free = sum(value.latest >= 0 for value in problem.values) + len(problem.inner)
        if free > MOST_DECISIONS:
            return None
        answer = solve(problem, None, objective="peak", solver=solver, seconds=SECONDS)
        self._was_short = answer.status == CUT
        return answer.solution if answer.status == "optimal" else None

    def _starts(self, peak: int) -> Iterator[Solution]:
        """Further solutions to start from, except those whose peak is certainly larger than a known one."""
        plain = replace(self.problem, steps=tuple(replace(step, modes=step.modes[:1]) for step in self.problem.steps))
        few = tuple(min(1, len(step.modes) - 1) for step in self.problem.steps)
        stored, recomputed = keep_all(self.problem), recompute_all(self.problem)
        starts = (recomputed, stored, replace(recomputed, modes=few), replace(stored, modes=few), recompute_all(plain))
        return self._valid(dict.fromkeys(starts), peak)

    def _valid(self, solutions: Iterable[Solution], peak: int) -> Iterator[Solution]:
        """The solutions that can be carried out, as overrides may forbid some, and that may have a smaller peak."""
        for solution in solutions:
            with contextlib.suppress(InvalidPlan):
                if simulate(self.problem, solution).peak < WORST * peak:
                    yield solution

    @property
    def _left(self) -> int:
        """How many more programs may be built."""
        statements = max(
            (sum(1 for _ in walk(one.gradient_program.program.body)) for one in self._layouts.values()), default=1
        )
        most = min(max(MOST_STATEMENTS // statements, FEWEST_BUILDS), MOST_BUILDS)
        return most - len(self._layouts)

    # --- what comes of it

    def _built(self, solution: Solution) -> Layout:
        layout = self.build(solution)
        self._layouts.setdefault(layout.structure, layout)
        return layout

    def _tuned(self, solution: Solution) -> Layout:
        """The layout of a solution, with the checkpointing parameters for the smallest real peak of its program."""
        best = self._built(solution)
        least = self._peak(best), simulate(self.problem, solution).work
        for step, modes in enumerate(self.accounts.modes):
            now = best.decided.modes[step]
            alike = [mode for mode, choice in enumerate(modes) if choice.keys() == modes[now].keys()]
            for mode in [mode for mode in alike if mode != now]:
                chosen = best.decided.modes
                other = replace(best.decided, modes=(*chosen[:step], mode, *chosen[step + 1 :]))
                layout = self._built(other)
                cost = self._peak(layout), simulate(self.problem, other).work
                if cost < least:
                    best, least = layout, cost
        return best

    def _descended(self, best: Layout) -> Layout:
        """Hill climbing: single changes as long as the real peak falls, of which the problem's peak is only a bound."""
        for change in self._changes():
            if self._left <= 0:
                break
            for solution in self._valid([change(best.decided)], self._peak(best)):
                layout = self._tuned(solution)
                if self._peak(layout) < self._peak(best):
                    best = layout
        return best

    def _changes(self) -> Iterator[Callable[[Solution], Solution]]:
        for k, value in enumerate(self.problem.values):
            if value.latest >= 0:
                yield lambda solution, k=k: replace(solution, values=solution.values ^ {k})  # type: ignore[misc]
        for k in range(len(self.problem.inner)):
            yield lambda solution, k=k: replace(solution, inner=solution.inner ^ {k})  # type: ignore[misc]
