"""Privatisation and reductions of a loop: of what each trip needs a copy, so that all trips can run at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.private import carries_no_value
from sdfgad.dependence.uses import Use, uses_of
from sdfgad.ir.program import Buffer, Loop


@dataclass(frozen=True)
class TripCopies:
    """The buffers that trips would share, although their values do not depend on each other.

    Attributes:
        temporaries: those that each trip assigns before it reads them.
        sums: those that trips only add to.
    """

    temporaries: frozenset[str]
    sums: frozenset[str]


def trip_copies(
    loop: Loop, buffers: Mapping[str, Buffer], own: Collection[str], free: Collection[str]
) -> TripCopies | None:
    """What each trip of a loop needs copies of; None if a trip needs what another one has computed.

    Args:
        own: the buffers that only this loop uses.
        free: buffers that trips may share as they do.
    """
    by_buffer: dict[str, list[Use]] = {}
    for use in uses_of(loop):
        by_buffer.setdefault(use.buffer, []).append(use)
    temporaries, sums = set[str](), set[str]()
    for name in sorted(loop.written.difference(free)):
        uses = by_buffer[name]
        if are_independent((use.as_write for use in uses), loop.var):
            continue
        if name in own and carries_no_value(loop.body, buffers[name]):
            temporaries.add(name)
        elif all(use.kind == "add" for use in uses):
            sums.add(name)
        else:
            return None
    return TripCopies(frozenset(temporaries), frozenset(sums))
