"""Memoisation of layouts, and of their compiled programs: calls of the same sizes share them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from sdfgad.ir.program import Program
from sdfgad.pipeline import Pipeline
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.specialise.compiled import Compiled

# A memory limit is planned for given numbers of trips; so many layouts are remembered.
MOST_LAYOUTS = 256


class Layouts:
    """The layouts of one pipeline that calls have asked for."""

    def __init__(self, pipeline: Pipeline, others: Callable[[], Iterable[Compiled]] = tuple) -> None:
        self.pipeline, self._others = pipeline, others
        self._layouts: dict[Hashable, Layout] = {}
        self._by_integers: dict[tuple[int, ...], Layout] = {}
        self._compiled: dict[Any, Compiled] = {}

    def seen(self, integers: tuple[int, ...]) -> Layout | None:
        """The layout without a memory limit that an earlier call with the same integers had."""
        return self._by_integers.get(integers)

    def unlimited(self, integers: tuple[int, ...], sizes: Sizes) -> Layout:
        """The layout without a memory limit: one solution serves all trip counts of about the same size."""
        key = tuple(value.bit_length() // 3 for value in sizes.integers.values())
        layout = self._remembered(key, sizes).for_trips(sizes)
        if len(self._by_integers) >= MOST_LAYOUTS:
            self._by_integers.clear()
        self._by_integers[integers] = layout
        return layout

    def limited(self, integers: tuple[int, ...], sizes: Sizes) -> Layout:
        """The layout within the memory limit, planned for the very sizes.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
        """
        return self._remembered((integers, *sorted(sizes.trips.items()), sizes.copies), sizes)

    def _remembered(self, key: Hashable, sizes: Sizes) -> Layout:
        if key not in self._layouts:
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[key] = self.pipeline.layout(sizes)
        return self._layouts[key]

    def compiled(self, layout: Layout) -> Compiled:
        """The compiled program of a layout; layouts that differ in numbers only share it."""
        if layout.structure not in self._compiled:
            self._compiled[layout.structure] = self.new(layout)
        return self._compiled[layout.structure]

    def new(self, layout: Layout) -> Compiled:
        """A program that is compiled when it is first needed."""
        return Compiled(self.pipeline, layout, self._gradients_only(layout), self._others)

    def _gradients_only(self, layout: Layout) -> Program:
        """The program for gradients without the value; the one with it where a limit was checked for that only."""
        return layout.code.source if self.pipeline.options.limit is not None else layout.gradients_only
