"""A cache of layouts on disk, so that a program which an earlier process has compiled is not analysed again.

A layout is a pure function of the parsed program, of the request, and of this package's code; these are the key. The
caller still has to check a recalled layout against its memory limit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property

from sdfgad.cache import fingerprint, key_of, read, write
from sdfgad.errors import Location
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.checkpoints import Checkpoint
from sdfgad.gradient.message_logs import Log, LoggedCall
from sdfgad.gradient.tapes import Counter
from sdfgad.ir.capacities import Capacity
from sdfgad.ir.codec import Codec
from sdfgad.ir.program import Access, Branch, Buffer, Call, Check, Compute, Loop, Program, Whole
from sdfgad.ir.serial import serialised
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.plan.cut import Cut
from sdfgad.plan.problem import Solution
from sdfgad.plan.segments import Segments
from sdfgad.planning.layout import Code, Layout

# A plan that was cut short by a busy machine may be a better one next time.
LASTING = ("fixed", "optimal", "feasible", "greedy", "smallest peak")


class LayoutCache:
    """The cached layouts of one program; `asked` says which output is differentiated with respect to which inputs."""

    def __init__(self, program: Program, *asked: str) -> None:
        self.program, self.asked = program, asked

    @cached_property
    def _key(self) -> str:
        # With its origin, which plans and errors tell.
        return "\0".join([serialised(self.program, with_origin=True), *self.asked, fingerprint()])

    def __call__(self, request: str, make: Callable[[], Layout]) -> Layout:
        """The layout for a request, which says all that it depends on besides.

        Raises:
            NeedsConstant: recalled like a layout.
        """
        name = f"layouts/{key_of([self._key, request])}"
        found = _read(name)
        if found is None:
            found = _tried(make)
            if isinstance(found, NeedsConstant) or found.status in LASTING:
                _write(name, found)
        if isinstance(found, NeedsConstant):
            raise found
        return found


def _tried(make: Callable[[], Layout]) -> Layout | NeedsConstant:
    try:
        return make()
    except NeedsConstant as need:
        return need


def _read(name: str) -> Layout | NeedsConstant | None:
    text = read(name)
    if text is None:
        return None
    found = _codec().decode(text)
    return NeedsConstant(*found) if isinstance(found, tuple) else found


def _write(name: str, found: Layout | NeedsConstant) -> None:
    need = (found.symbols, found.where, found.what) if isinstance(found, NeedsConstant) else None
    write(name, _codec().encode(need or found))


@functools.cache
def _codec() -> Codec:
    """All records that a layout is made of."""
    chosen = (Layout, Code, Cut, GradientProgram, Counter, Checkpoint, LoggedCall, Log, Segments, Solution)
    return Codec((*chosen, Program, Buffer, Access, Whole, Check, Capacity, Location, Compute, Call, Loop, Branch))
