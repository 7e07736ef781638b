"""Conditions and integers that follow from the counters of loops alone: what they are at each trip.

Where a loop can be none of the program, as its trips differ, it may be split into parts of alike trips
(`index_set_splitting`). Within a part, what is the same at all of its trips is known while parsing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import Expr, Int, Lin, reads
from sdfgad.parse.builder import Builder
from sdfgad.parse.iteration_domains import known_at, points_around
from sdfgad.parse.known_tables import known_tables

# Longer loops are not split, as each of their conditions would be evaluated at so many trips.
MOST_TRIPS = 2**14


def known(b: Builder, expr: Expr) -> Any:
    """What an expression of counters is in a part of a split loop, where it is the same at all points of the loops
    around; else None."""
    counters = expr.symbols & {var for _, var, _ in b.loops} if b.is_in_part else None
    points = points_around(b, counters) if counters and not _are_open(b) else None
    if points is None or not 0 < len(points) <= MOST_TRIPS:
        return None
    found = known_at(b, expr, points)
    return found[0].item() if found is not None and bool((found == found[0]).all()) else None


def _are_open(b: Builder) -> bool:
    """Whether a loop around is open: constant propagation knows its number of trips as it is at first."""
    return any(reads(Int(trips)) for _, _, trips in b.loops)


def index(b: Builder, form: Any) -> Any:
    """An index, as a number where it is known in a part of a split loop."""
    if not isinstance(form, Lin) or form.is_const:
        return form
    found = known(b, Int(form))
    return form if found is None else found


def known_or_kept(b: Builder, expr: Expr) -> Any:
    """What an expression is, as `known` has it; else what it is at each trip is kept, to split the loop by it."""
    found = known(b, expr)
    if found is None:
        _keep(b, expr)
    return found


def _keep(b: Builder, expr: Expr) -> None:
    own = [(var, trips) for _, var, trips in b.loops if var in expr.symbols]
    if len(own) != 1:
        return
    (counter, trips), *_ = own
    if not trips.is_const or not 1 < trips.const <= MOST_TRIPS:
        return
    found = evaluated(expr, {counter: np.arange(trips.const)}, known_tables(b))
    if found is not None and np.ndim(found):
        b.by_trip.setdefault(counter, {})[found.tobytes()] = found
