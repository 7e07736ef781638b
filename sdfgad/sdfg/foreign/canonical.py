"""Canonical form: loops from 0 on, with guards, and names of buffers, counters and parameters that are their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sdfgad.ir.expr import Lin, Rewriter
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    ZERO,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Statement,
    guards_of,
    rewrite_statement,
)
from sdfgad.ir.rename import renamed
from sdfgad.sdfg.linear_algebra import STATUS


def canonical(
    body: Block, buffers: Mapping[str, Buffer], reserved: Iterable[str]
) -> tuple[Block, dict[str, Buffer], dict[str, str], Names]:
    """A block in canonical form, its buffers by their new names, the new name of each, and the names that are taken.

    Args:
        reserved: names that stay as they are, of run-time integers.
    """
    names = Names(reserved)
    # No other buffer gets this name.
    new = {name: "status" if name == STATUS else names.fresh(name) for name in buffers}
    body = renamed(body, {old: one for old, one in new.items() if old != one})
    body = _block(body, {}, names)
    return body, {new[name]: replace(buffer, name=new[name]) for name, buffer in buffers.items()}, new, names


def _block(block: Block, symbols: Mapping[str, Lin], names: Names) -> Block:
    return tuple(_statement(statement, symbols, names) for statement in block)


def _statement(statement: Statement, symbols: Mapping[str, Lin], names: Names) -> Statement:
    if isinstance(statement, Loop):
        return _loop(statement, symbols, names)
    if isinstance(statement, Branch):
        head = rewrite_statement(statement, symbols)
        then = _block(statement.then, symbols, names)
        return replace(head, then=then, orelse=_block(statement.orelse, symbols, names))
    if isinstance(statement, Compute):
        return _compute(statement, symbols, names)
    return statement


def _loop(loop: Loop, symbols: Mapping[str, Lin], names: Names) -> Loop:
    rewriter = Rewriter(symbols)
    start, trips = rewriter.index((loop.start, loop.trips))
    var = names.fresh(loop.var)
    counter = Lin.symbol(var)
    index = start + trips - 1 - counter if loop.backward else start + counter
    known = Rewriter({**symbols, loop.var: index}).index(loop.guards) or (counter,)
    guards = known if loop.is_open else guards_of(var, trips)
    body = _block(loop.body, {**symbols, loop.var: index}, names)
    return replace(loop, var=var, start=ZERO, trips=trips, guards=guards, body=body, backward=False)


def _compute(statement: Compute, symbols: Mapping[str, Lin], names: Names) -> Compute:
    new = {name: names.fresh(name) for name, _ in statement.params}
    inner = Rewriter({**symbols, **{old: Lin.symbol(one) for old, one in new.items()}})
    outer = Rewriter(symbols)
    params = tuple((new[name], outer.index((extent,))[0]) for name, extent in statement.params)
    found = rewrite_statement(replace(statement, params=()), rewriter=inner)
    return replace(found, params=params)
