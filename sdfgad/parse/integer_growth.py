"""Python's integers that the trips of a loop hand on and that get longer than 64 bits in it, as factorials do.

Range analysis: a bound on the magnitude of each integer at the start of a trip gives that at its end, and so on. Most
grow by the same amount in each trip, or not at all. Those that outgrow the 64 bits of compiled code are computed by
Python, in a loop that is written out; where data decides them, or the trips are many, the compiled program checks them.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Lin, reads
from sdfgad.ir.program import Block, Branch, Compute, Loop, reads_of, walk
from sdfgad.parse import python_numbers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.known_tables import known_tables
from sdfgad.parse.loop_state import Stores
from sdfgad.parse.magnitudes import UNKNOWN, Bounds, Sizes, fitting
from sdfgad.parse.values import ABSENT

# As many trips are followed one by one: what grows by a factor has outgrown 64 bits by then.
FOLLOWED = 256
# As many bounds, one after another, say that they are a polynomial: four that it follows from, and two that agree.
POINTS = 6


def starts_of(b: Builder, stores: Stores, before: Mapping[str, Any]) -> Bounds:
    """Bounds on the magnitudes of Python's integers with which a loop begins, by the buffers that hand them on."""
    found: Bounds = {}
    for name, carry in stores.carried.items():
        firsts = trees.leaves(before.get(name, ABSENT))
        if len(firsts) != len(carry.leaves):
            # A value of another structure, such as one that a branch selects.
            firsts = [None] * len(carry.leaves)
        for store, leaf, first in zip(stores.leaves[name], carry.leaves, firsts, strict=True):
            if leaf is not None and leaf.weak and leaf.dtype == INT and not leaf.shape:
                found[str(store.buffer)] = python_numbers.magnitude(b, first)
    return found


def bounds_after(
    b: Builder, body: Block, starts: Mapping[str, int], var: str, trips: Lin, rows: Set[str] = frozenset()
) -> Bounds:
    """Bounds on the magnitudes of the integers that a loop hands on, and of those that its last trip leaves, after it.

    Args:
        starts: those before the loop, by the buffers that hand them on.
        rows: the buffers of which a statement writes one of several numbers.

    Raises:
        Overflow: they may take more than 64 bits in the loop, or what is computed of them may.
    """
    statements = _computed_of(body, starts) if starts else []
    if not statements:
        return dict(starts)
    count = python_numbers.count_of(trips)
    symbols = python_numbers.symbol_sizes(b) | {var: count}
    tables = {name: _largest(table) for name, table in known_tables(b).items()}
    known = {**b.magnitudes.sizes, **tables}
    analysis = _Growth([*statements, *_users_of(body, statements, starts)], known, rows)

    def trip(bounds: Bounds) -> Bounds:
        now = dict(bounds)
        analysis.block(body, now, symbols)
        return now

    return _after(trip, dict(starts), count)


def are_closed(body: Block, starts: Iterable[str]) -> bool:
    """Whether integers that a loop hands on follow from it alone, so that they are known where it is written out."""
    statements = _computed_of(body, starts)
    known = {*starts, *(one.target.buffer for one in statements)}
    # Loops in it stay loops.
    inside = {id(one) for around in walk(body) if isinstance(around, Branch | Loop) for one in walk((around,))}
    others = {read.buffer for one in statements for read in reads(one.value)} - known
    return not others and not any(id(one) in inside for one in statements)


def _computed_of(body: Block, starts: Iterable[str]) -> list[Compute]:
    """The statements that compute integers from those that are handed on, or hand integers on."""
    computed = [one for one in walk(body) if isinstance(one, Compute) and one.value.dtype == INT and not one.params]
    found, before = set(starts), -1
    while len(found) != before:
        before = len(found)
        found |= {one.target.buffer for one in computed if _reads_any(one, found)}
    return [one for one in computed if one.target.buffer in found or _reads_any(one, found)]


def _users_of(body: Block, statements: Sequence[Compute], starts: Iterable[str]) -> list[Compute | Branch]:
    """The statements and conditions that compute others of these integers."""
    found, own = {*starts, *(one.target.buffer for one in statements)}, set(map(id, statements))
    users = [one for one in walk(body) if isinstance(one, Compute | Branch) and id(one) not in own]
    return [one for one in users if _reads_any(one, found)]


def _reads_any(one: Compute | Branch, buffers: Set[str]) -> bool:
    found = reads(one.condition) if isinstance(one, Branch) else reads_of(one)
    return any(read.buffer in buffers for read in found)


def _after(trip: Callable[[Bounds], Bounds], bounds: Bounds, count: int) -> Bounds:
    """The bounds after so many trips: followed until they are polynomials in the number of trips, as nearly all are.

    Raises:
        Overflow: they outgrow 64 bits.
    """
    past = [bounds]
    for done in range(1, min(count, FOLLOWED) + 1):
        past.append(trip(past[-1]))
        if past[-1] == past[-2]:
            return past[-1]
        if POINTS <= done < count - 1 and (found := _extrapolated(past[-POINTS:], count - done - 1)) is not None:
            # The last trip, as what is computed of the integers in it is largest.
            return trip(found)
    if count <= FOLLOWED:
        return past[-1]
    # By the degree of a polynomial that grows as the last half of the trips does.
    degrees = {name: _degree(past[FOLLOWED // 2].get(name, 0), bound) for name, bound in past[-1].items()}
    factor = math.ceil(count / FOLLOWED)
    found = {name: fitting(bound * factor ** degrees[name]) for name, bound in past[-1].items()}
    trip(found)
    return found


def _extrapolated(bounds: list[Bounds], trips: int) -> Bounds | None:
    """The bounds after further trips, by Newton's formula; None unless they are polynomials of degree 3 at most."""
    if any(one.keys() != bounds[0].keys() for one in bounds):
        return None
    found: Bounds = {}
    for name in bounds[0]:
        values, size = [one[name] for one in bounds], 0
        for order in range(POINTS - 2):
            size += values[-1] * math.comb(trips + order - 1, order)
            values = [y - x for x, y in pairwise(values)]
        if any(values):
            return None
        found[name] = fitting(size)
    return found


def _degree(half: int, whole: int) -> int:
    """That of the polynomial in the number of trips by which a bound grows."""
    return max(math.ceil(math.log2(whole / half)), 0) if half and whole > half else 0


def _largest(table: np.ndarray[Any, Any]) -> int:
    return int(np.abs(table.astype(object)).max()) if table.size and table.dtype.kind in "iu" else UNKNOWN


@dataclass(frozen=True)
class _Growth:
    """The bounds after statements, of those before them.

    Attributes:
        statements: those that matter.
        known: bounds on what other buffers hold.
        rows: the buffers of which a statement writes one of several numbers.
    """

    statements: list[Compute | Branch]
    known: Bounds
    rows: Set[str]

    @cached_property
    def _own(self) -> set[int]:
        return {id(one) for one in self.statements}

    def block(self, block: Block, now: Bounds, symbols: Mapping[str, int]) -> None:
        for one in block:
            if isinstance(one, Compute) and id(one) in self._own:
                self._compute(one, now, symbols)
            elif isinstance(one, Branch):
                self._branch(one, now, symbols)
            elif isinstance(one, Loop) and any(id(inner) in self._own for inner in walk((one,))):
                self._loop(one, now, symbols)

    def _branch(self, one: Branch, now: Bounds, symbols: Mapping[str, int]) -> None:
        if id(one) in self._own:
            self._sizes(now, symbols).parts(one.condition)
        sides = [dict(now), dict(now)]
        for side, statements in zip(sides, (one.then, one.orelse), strict=True):
            self.block(statements, side, symbols)
        now |= {name: max(side.get(name, 0) for side in sides) for name in {**sides[0], **sides[1]}}

    def _loop(self, loop: Loop, now: Bounds, symbols: Mapping[str, int]) -> None:
        inside = {**symbols, loop.var: python_numbers.count_of(loop.trips)}

        def trip(bounds: Bounds) -> Bounds:
            after = dict(bounds)
            self.block(loop.body, after, inside)
            return after

        before = dict(now)
        now |= _after(trip, before, max(loop.trips.const, 0) if loop.trips.is_const else FOLLOWED)
        if not loop.trips.is_const:
            # It may have no trip.
            now |= {name: max(size, now[name]) for name, size in before.items()}

    def _compute(self, one: Compute, now: Bounds, symbols: Mapping[str, int]) -> None:
        sizes, name = self._sizes(now, symbols), one.target.buffer
        if one.value.dtype != INT or one.params:
            return sizes.parts(one.value)
        size = sizes.of(one.value)
        if one.accumulate is not None:
            old = now.get(name, UNKNOWN)
            size = old + size if one.accumulate == "add" else max(old, size)
        now[name] = fitting(max(now[name], size) if name in self.rows else size)

    def _sizes(self, now: Bounds, symbols: Mapping[str, int]) -> Sizes:
        return Sizes(ChainMap(now, self.known), lambda symbol: symbols.get(symbol, UNKNOWN), now)
