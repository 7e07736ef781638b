"""Iteration domains: the trips of the loops around a statement that come to it, where the counters alone decide that.

A domain is the list of its points, in the order in which they run: one row of counters for each. So it needs neither
be a box nor convex (``for j in range(i + 1, n)``, ``if (i + j) % 3 == 0``, ``if k in shown``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, as_linear
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import reaching_definitions
from sdfgad.parse.builder import Builder
from sdfgad.parse.known_tables import integers, known_tables

Array = np.ndarray[Any, Any]
# A table of what is known at some points only has room for all of the box around them.
LARGEST_TABLE = 2**20


@dataclass(frozen=True)
class Points:
    """The points of a domain.

    Attributes:
        counters: of the loops, from the outermost on.
        values: a row of theirs for each point.
    """

    counters: tuple[str, ...]
    values: Array

    def __len__(self) -> int:
        return len(self.values)

    @property
    def columns(self) -> dict[str, Array]:
        """The values of each counter at all points."""
        return dict(zip(self.counters, self.values.T, strict=True))

    def at(self, number: int) -> dict[str, Lin]:
        """The counters at one of the points."""
        return {name: Lin(int(value)) for name, value in zip(self.counters, self.values[number], strict=True)}

    def is_every_trip(self, counter: str, trips: int) -> bool:
        """Whether the points are the trips of one loop, all of them."""
        return self.counters == (counter,) and len(self) == trips

    def inside(self, counter: str, trips: Array) -> Points:
        """The points of a loop with so many trips at each point."""
        counts = np.maximum(np.broadcast_to(trips, (len(self),)), 0)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        trip = np.arange(counts.sum()) - starts
        return Points((*self.counters, counter), np.column_stack([np.repeat(self.values, counts, axis=0), trip]))

    def where(self, holds: Array) -> Points:
        """Those of the points at which a condition holds."""
        return Points(self.counters, self.values[np.broadcast_to(holds, (len(self),))])


def points_here(b: Builder, depth: int) -> Points | None:
    """The points that come to the present statement, of the loops within blocks at a depth; None where data decides.

    Raises:
        Decides: arrays of integers do that may become constants.
    """
    loops: list[tuple[int, str, Expr]] = [(at, var, Int(trips)) for at, var, trips in b.loops if at > depth]
    branches = [(one.depth, "", one.holds) for one in b.decisions if one.depth > depth]
    if len(loops) + len(branches) != len(b.blocks) - depth:
        return None
    tables, points = known_tables(b), Points((), np.zeros((1, 0), np.int64))
    for _, counter, expr in sorted([*loops, *branches], key=lambda one: one[0]):
        found = evaluated(expr, points.columns, tables)
        if found is None:
            found = reaching_definitions.known_at(b, expr, points.columns, len(points), decide=True)
        if found is None:
            return None
        points = points.inside(counter, found) if counter else points.where(found)
    return points


def points_around(b: Builder, counters: Set[str]) -> Points | None:
    """The points of the loops around with these counters, which may be more than come to the present statement: what
    data decides leaves out none. None where the number of trips is not known."""
    needed = set(counters)
    for _, var, trips in reversed(b.loops):
        needed |= trips.symbols if var in needed else set()
    loops: list[tuple[int, str, Expr]] = [(at, var, Int(trips)) for at, var, trips in b.loops if var in needed]
    branches = [(one.depth, "", one.holds) for one in b.decisions]
    tables, points = known_tables(b), Points((), np.zeros((1, 0), np.int64))
    for _, counter, expr in sorted([*loops, *branches], key=lambda one: one[0]):
        found = evaluated(expr, points.columns, tables)
        found = known_at(b, expr, points) if found is None else found
        if found is None and counter:
            return None
        if found is not None:
            points = points.inside(counter, found) if counter else points.where(found)
    return points


def places_of(domains: Sequence[Points]) -> list[Array]:
    """When statements run, for each of their points: its number among the points of all of them.

    Args:
        domains: of statements in the order in which they are parsed.
    """
    keys = [key for number in range(len(domains)) for key in _schedule(domains, number)]
    width = max(map(len, keys), default=0)
    padded = np.array([[*key, *[0] * (width - len(key))] for key in keys], np.int64).reshape(len(keys), width)
    order = np.lexsort(padded.T[::-1]) if width else np.arange(len(keys))
    places = np.empty(len(keys), np.int64)
    places[order] = np.arange(len(keys))
    ends = list(accumulate(map(len, domains)))
    return [places[end - len(one) : end] for one, end in zip(domains, ends, strict=True)]


def _schedule(domains: Sequence[Points], number: int) -> list[list[int]]:
    """Schedules of a statement's points: counters and, between them, positions in the body of their loop."""
    own = domains[number].counters
    # A loop's position is that of the first statement in it.
    positions = [
        next(k for k, other in enumerate(domains) if other.counters[: level + 1] == own[: level + 1])
        for level in range(len(own))
    ]
    inner = [*positions[1:], number]
    points = domains[number].values.tolist()
    return [[part for pair in zip(point, inner, strict=True) for part in pair] for point in points]


def form_of(b: Builder, points: Points, numbers: Sequence[int] | Array) -> Lin:
    """The integer that is one of `numbers` at each point, as a form of the counters.

    Raises:
        NeedsConstant: the points are too far from each other for a table.
    """
    wanted = np.asarray(numbers, np.int64)
    linear = _linear(points, wanted)
    if linear is not None:
        return linear
    if len(points.counters) == 1 and (divided := _divided(points, wanted)) is not None:
        return divided
    low, high = points.values.min(axis=0), points.values.max(axis=0)
    extents = (high - low + 1).tolist()
    if math.prod(extents) > LARGEST_TABLE:
        raise NeedsConstant(set(points.counters), b.where, "a list is filled at few of the trips of a loop")
    table = np.zeros(extents, np.int64)
    table[tuple((points.values - low).T)] = wanted
    strides = [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
    place = Lin(0)
    for axis, name in enumerate(points.counters):
        place = place + (Lin.symbol(name) - int(low[axis])).scaled(strides[axis])
    return integers(b, table.ravel())(place)


def _linear(points: Points, wanted: Array) -> Lin | None:
    """A linear form of the counters that has these values."""
    if not len(points):
        return Lin(0)
    shifted = points.values - points.values[0]
    found: Array = np.linalg.lstsq(shifted.astype(float), (wanted - wanted[0]).astype(float), rcond=None)[0]
    factors = [int(one) for one in np.round(found).reshape(-1)]
    if not np.array_equal(shifted @ np.array(factors, np.int64), wanted - wanted[0]):
        return None
    form = Lin(int(wanted[0]))
    for name, factor in zip(points.counters, factors, strict=True):
        form = form + (Lin.symbol(name) - int(points.columns[name][0])).scaled(factor)
    return form


def _divided(points: Points, wanted: Array) -> Lin | None:
    """The same for the numbers of points of one counter at equal distances."""
    values = points.values[:, 0]
    step = int(values[1] - values[0]) if len(values) > 1 else 1
    past = values - values[0]
    if step < 2 or not np.array_equal(past // step, wanted) or (past % step).any():
        return None
    return as_linear(Op("floor_divide", (Int(Lin.symbol(points.counters[0]) - int(values[0])), Const(step, INT)), INT))


def known_at(b: Builder, expr: Expr, points: Points) -> Array | None:
    """The values of an expression of integers at all points, if they are known."""
    return reaching_definitions.known_at(b, expr, points.columns, len(points))


def substituted(form: Lin, values: Mapping[str, Lin]) -> Any:
    """A form with values for its counters."""
    return form.substitute(values).plain
