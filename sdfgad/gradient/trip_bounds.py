"""Bounds of the numbers of trips of nested loops."""

from __future__ import annotations

from collections.abc import Iterable

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Loop


def most_trips(loops: Iterable[tuple[int, Loop]]) -> dict[str, Lin]:
    """By counter, an upper bound of a loop's trips, if possible without the counters of the loops around it."""
    most: dict[str, Lin] = {}
    for _, loop in loops:
        trips = Lin(loop.trips.const)
        for atom, factor in loop.trips.terms:
            outer = most.get(atom) if isinstance(atom, str) else None
            trips = trips + (Lin.symbol(atom).scaled(factor) if outer is None else outer.scaled(max(factor, 0)))
        most[loop.var] = trips
    return most
