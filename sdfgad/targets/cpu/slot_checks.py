"""Bounds checks of tapes: where generated code checks that a tape has the slot that it is about to write.

The number of slots of a tape may be a guess, and too small. A check comes before the outermost statement throughout
which the slot is the same: never in a loop that is vectorised, or that threads share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sdfgad.ir.expr import Int, Lin, reads, symbols_of
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Params, Statement, computes, walk, written

# A slot, and the number of slots that there are.
Need = tuple[Lin, str]


class SlotChecks:
    """Finds the checks that are needed before each statement of a nest, in the order in which the nest is written.

    Args:
        block: the nest.
        bounds: the integers that may be too small.
    """

    def __init__(self, block: Block, buffers: Mapping[str, Buffer], bounds: frozenset[str]) -> None:
        self.bounds = bounds
        bounded = ((name, _bounded(buffers[name], bounds)) for name in sorted(written(block))) if bounds else ()
        self.axes = {name: axes for name, axes in bounded if axes}
        self.checked: set[Need] = set()

    @contextmanager
    def of(self, statement: Statement) -> Iterator[list[Need]]:
        """A context for writing a statement; gives the checks that are needed before it."""
        if not self.axes:
            yield []
            return
        changed = written((statement,))
        before = {need for need in self.checked if _lasts(need, changed, set())}
        bound = _bound_in(statement)
        found = dict.fromkeys(need for need in self._needs((statement,)) if _lasts(need, changed, bound))
        due = [need for need in found if need not in before]
        self.checked = before | set(due)
        assert not isinstance(statement, Compute) or self.checked.issuperset(self._needs((statement,)))
        yield due
        # What has been checked in this block holds until the slot changes; inside, other slots may have been.
        self.checked = before | set(due)

    def is_slot(self, form: Lin, extent: Lin) -> bool:
        """Whether a form is a tape's slot, which is certainly in bounds: slots are checked before they are written."""
        names = [atom for atom, _ in extent.terms]
        is_counter = len(form.terms) == 1 and form == Lin.symbol(form.terms[0][0]) and bool(reads(Int(form)))
        return is_counter and len(names) == 1 and names[0] in self.bounds and extent == Lin.symbol(names[0])

    def _needs(self, block: Block) -> Iterator[Need]:
        for statement in computes(block):
            target = statement.target
            needs = ((target.index[axis], extent) for axis, extent in self.axes.get(target.buffer, ()))
            yield from (need for need in needs if not _is_of_all(need, statement.params))


def _is_of_all(need: Need, params: Params) -> bool:
    """Whether a statement copies all slots that there are."""
    slot, extent = need
    return any((slot, length) == (Lin.symbol(name), Lin.symbol(extent)) for name, length in params)


def _bounded(buffer: Buffer, bounds: frozenset[str]) -> list[tuple[int, str]]:
    return [
        (axis, name) for axis, extent in enumerate(buffer.shape) for name in symbols_of(Int(extent)) if name in bounds
    ]


def _lasts(need: Need, changed: set[str], bound: set[str]) -> bool:
    """Whether a slot is the same throughout statements that write these buffers and bind these symbols."""
    slot = Int(need[0])
    return changed.isdisjoint(read.buffer for read in reads(slot)) and bound.isdisjoint(symbols_of(slot))


def _bound_in(statement: Statement) -> set[str]:
    loops = {s.var for s in walk((statement,)) if isinstance(s, Loop)}
    return loops | {name for s in computes((statement,)) for name, _ in s.params}
