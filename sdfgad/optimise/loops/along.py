"""Alignment of loop counters with array axes: along which counters a statement can be cut into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Call, Statement
from sdfgad.optimise.loops.nested import agree, leaves, runs

# Buffer -> the axis that is cut.
Axes = dict[str, int]


@dataclass(frozen=True)
class Leaf:
    """A leaf statement (no loop, no branch); `nest` is the same with just the loops and branches around it."""

    statement: Statement
    nest: Statement

    @cached_property
    def _uses(self) -> list[tuple[str, list[str | None], frozenset[str]]]:
        """Buffer, the symbol that each index is (None: no single one), and the nest's counters, for each use."""
        return [(use.buffer, [symbol_of(form) for form in use.index], use.names) for use in uses_of(self.nest)]

    @cached_property
    def _targets_first(self) -> list[tuple[str, list[str | None], frozenset[str]]]:
        kinds = [use.kind for use in uses_of(self.nest)]
        return [self._uses[k] for k in sorted(range(len(kinds)), key=lambda k: kinds[k] == "read")]

    @cached_property
    def _axes(self) -> dict[str, Axes]:
        """Symbol -> the axes that it alone runs along."""
        found: dict[str, Axes] = {}
        for buffer, symbols, _ in self._uses:
            for axis, symbol in enumerate(symbols):
                if symbol is not None and symbols.count(symbol) == 1:
                    found.setdefault(symbol, {}).setdefault(buffer, axis)
        return found

    def counter(self, axes: Axes) -> str:
        """The counter that alone indexes an axis that is cut, of the target if possible; empty if there is none."""
        cut = ((symbols[axes[buffer]], names) for buffer, symbols, names in self._targets_first if buffer in axes)
        return next((symbol for symbol, names in cut if symbol is not None and symbol in names), "")

    def learn(self, axes: Axes, counter: str) -> None:
        """Adds to `axes` the axes of further buffers that the counters of a statement's leaves index."""
        for buffer, axis in self._axes.get(counter, {}).items():
            axes.setdefault(buffer, axis)


@lru_cache(maxsize=20_000)
def leaves_of(statement: Statement) -> tuple[Leaf, ...]:
    return tuple(Leaf(leaf, nest) for leaf, nest in leaves(statement))


def counters_along(statement: Statement, axes: Axes, length: int) -> tuple[str, ...] | None:
    """For each leaf the counter that indexes the axes that are cut and has `length` values; None if one has none."""
    nested = leaves_of(statement)
    if not nested or any(isinstance(leaf.statement, Call) for leaf in nested):
        return None
    along = _along(nested, dict(axes))
    pairs = zip(nested, along, strict=True)
    fit = all(counter and runs(leaf.statement, leaf.nest, counter, length) for leaf, counter in pairs)
    return tuple(along) if fit and agree(statement, iter(along)) else None


def _along(nested: Sequence[Leaf], axes: Axes) -> list[str]:
    """The counter of each leaf, by propagation: one leaf's counter adds axes that determine another leaf's."""
    along = [""] * len(nested)
    is_new = True
    while is_new and not all(along):
        is_new = False
        for k, leaf in enumerate(nested):
            if not along[k] and (counter := leaf.counter(axes)):
                along[k], is_new = counter, True
                leaf.learn(axes, counter)
    return along


def learn(axes: Axes, statement: Statement, along: Sequence[str]) -> None:
    """Adds the axes along which the counters of a statement's leaves cut further buffers."""
    for leaf, counter in zip(leaves_of(statement), along, strict=True):
        leaf.learn(axes, counter)


def symbol_of(form: Lin) -> str | None:
    """The symbol that a form consists of; None if the form is anything else."""
    if form.const or len(form.terms) != 1:
        return None
    ((atom, coefficient),) = form.terms
    return atom if coefficient == 1 and isinstance(atom, str) else None
