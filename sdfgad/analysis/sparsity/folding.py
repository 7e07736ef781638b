"""Loop distribution: a loop whose trips do not read what others write, as statements over larger boxes."""

from __future__ import annotations

import math
from dataclasses import replace

from sdfgad.analysis.sparsity.effects import Setting
from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.program import Compute, Loop, Statement, rewrite_statement

# Larger boxes are not made of loops.
MOST_POINTS = 1 << 22


def folded(loop: Loop, setting: Setting) -> tuple[Compute, ...]:
    """Statements that have at least the dependences of all trips; none if a trip may depend on another one.

    Of an element that several trips assign they have the dependences of each of these.
    """
    found = _over(loop, setting) or ()
    targets = {statement.target.buffer for statement in found}
    are_read = any(read.buffer in targets for statement in found for read in _others(statement))
    are_floating = all(statement.value.dtype.kind in "fc" for statement in found)
    are_small = all(math.prod(e.const for _, e in statement.params) <= MOST_POINTS for statement in found)
    return found if len(targets) == len(found) and are_floating and are_small and not are_read else ()


def _over(statement: Statement, setting: Setting) -> tuple[Compute, ...] | None:
    """The statements of a loop over all of its trips; None if it has others, or boxes that change from trip to trip."""
    if isinstance(statement, Compute):
        extents = [setting.form(extent) for _, extent in statement.params]
        if statement.fresh or not all(extents):
            return None
        params = zip(statement.params, extents, strict=True)
        return (replace(statement, params=tuple((name, Lin(extent or 0)) for (name, _), extent in params)),)
    if not isinstance(statement, Loop) or statement.is_open:
        return None
    start, trips = setting.form(statement.start), setting.form(statement.trips)
    if start is None or trips is None or trips <= 0:
        return None
    found: list[Compute] = []
    for one in statement.body:
        inner = _over(one, setting)
        if inner is None:
            return None
        moved = [rewrite_statement(part, {statement.var: Lin.symbol(statement.var) + start}) for part in inner]
        found += [replace(part, params=((statement.var, Lin(trips)), *part.params)) for part in moved]
    return tuple(found)


def _others(statement: Compute) -> list[Read]:
    """The reads, but for that of the very element that is written: it depends on what it did, and on more."""
    target = statement.target
    return [read for read in statement.read if (read.buffer, read.index) != (target.buffer, target.index)]
