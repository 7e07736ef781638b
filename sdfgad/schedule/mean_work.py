"""Work estimates of nests whose extents depend on counters, such as triangles: by the mean of each counter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin
from sdfgad.ir.program import Block, Branch, Compute, Loop, Statement, blocks_of
from sdfgad.schedule.work import UNKNOWN_TRIPS, work_of

# The mean of each counter around a statement.
Means = Mapping[str, float]


def mean_of(form: Lin, means: Means, unknown: float = UNKNOWN_TRIPS) -> float:
    """The mean of an extent, at least 0; `unknown` if it contains anything but counters."""
    total = float(form.const)
    for atom, coefficient in form.terms:
        if isinstance(atom, Expr) or atom not in means:
            return unknown
        total += coefficient * means[atom]
    return max(total, 0.0)


def means_in(loop: Loop, means: Means) -> Means:
    """The means in the body of a loop."""
    start = mean_of(loop.start, means, 0.0)
    return {**means, loop.var: start + max(mean_of(loop.trips, means) - 1, 0.0) / 2}


def mean_size(extents: list[Lin], means: Means) -> float:
    """The mean number of points of a box."""
    size = 1.0
    for extent in extents:
        size *= mean_of(extent, means)
    return size


def mean_work(statement: Statement, means: Means) -> float:
    """The number of elementary operations."""
    if isinstance(statement, Compute):
        point = work_of((replace(statement, params=()),))
        return point * mean_size([extent for _, extent in statement.params], means)
    if isinstance(statement, Loop):
        trips, within = mean_of(statement.trips, means), means_in(statement, means)
        return trips * _work(statement.body, within)
    if isinstance(statement, Branch):
        return max(_work(block, means) for block in blocks_of(statement))
    return work_of((statement,))


def _work(block: Block, means: Means) -> float:
    return sum(mean_work(statement, means) for statement in block)
