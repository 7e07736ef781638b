"""Non-temporal stores, the decision: which arrays are stored past the cache, where nothing would find them anyway."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeGuard

from sdfgad.ir.program import Buffer, Compute, Program, Statement, reads_of, walk
from sdfgad.memory.lifetimes import buffer_bytes, peak_bytes
from sdfgad.schedule.target import cpu


class Nontemporal:
    """Decides which arrays of a program are stored with non-temporal stores (`nontemporal_stores.py`).

    These are arrays larger than the cache; and, if the program holds more than the cache, results that nothing in the
    program reads afterwards, as they are no longer in the cache when the next call starts.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.held = program, 0
        with suppress(KeyError, ValueError):
            self.held = peak_bytes(program, {})

    def at(self, position: int) -> frozenset[str]:
        """The arrays that a statement of the program's body fills with non-temporal stores."""
        return frozenset(name for name in filled(self.program.body[position]) if self._is_past(name, position))

    def _is_past(self, name: str, position: int) -> bool:
        size = _bytes(self.program.buffers[name])
        is_last = all(name not in s.mentioned for s in self.program.body[position + 1 :])
        return size >= cpu().last_cache_bytes or (
            is_last and self.held >= cpu().last_cache_bytes and size >= cpu().streamed_bytes
        )


def filled(statement: Statement) -> set[str]:
    """The arrays that a statement, with those nested in it, assigns and does nothing else with."""
    found = {s.target.buffer for s in walk((statement,)) if _is_fill(s)}
    for one in walk((statement,)):
        found -= {read.buffer for read in reads_of(one)} if _is_fill(one) else one.touched
    return found


def _is_fill(statement: Statement) -> TypeGuard[Compute]:
    return isinstance(statement, Compute) and statement.accumulate is None


def _bytes(buffer: Buffer) -> int:
    """The size of an array of floating-point numbers, if it is known."""
    is_known = buffer.dtype.kind == "f" and all(extent.is_const for extent in buffer.shape)
    return buffer_bytes(buffer, {}) if is_known else 0
