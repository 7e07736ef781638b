"""Which buffers carry nothing from one run of a block to the next."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.analysis.accesses import Use, is_same_region, mentioned_by, own_params, uses_of
from sdfgad.ir.expr import INT, Const
from sdfgad.ir.program import Access, Block, Compute, Loop, Statement


def begins_anew(block: Block, name: str) -> bool:
    """Whether a trip reads of a buffer only what it has assigned before."""
    found = [statement for statement in block if mentioned_by(statement, name)]
    first = _first_write(found[0], name)
    if first is None:
        return False
    touched = [use for statement in found for use in uses_of(statement) if use.buffer == name]
    return all(is_same_region(first, _box(use)) for use in touched)


def _first_write(statement: Statement, name: str) -> Compute | None:
    """What a statement assigns of a buffer before it reads it, as one statement without a value of its own."""
    if isinstance(statement, Loop) and statement.is_parallel:
        nested = _first_write(next(s for s in statement.body if mentioned_by(s, name)), name)
        return nested and replace(nested, params=(*nested.params, (statement.var, statement.trips)))
    if not isinstance(statement, Compute) or not statement.assigns or statement.target.buffer != name:
        return None
    if any(use.buffer == name and use.kind == "read" for use in uses_of(statement)):
        return None
    return replace(statement, params=own_params(statement))


def _box(use: Use) -> Compute:
    """A use as a statement over the parameters that select the element."""
    whole = Compute(use.bound, Access(use.buffer, use.index), Const(0, INT))
    return replace(whole, params=own_params(whole))
