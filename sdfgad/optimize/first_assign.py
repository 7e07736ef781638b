"""Lets the first contribution to an adjoint assign it, instead of clearing it and then adding."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Const
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Block, Compute, Program, Statement, buffers_of, reads_of, walk


def assign_first(program: Program) -> Program:
    """The program with ``b[...] = 0; …; b[p] += e`` as ``b[p] = e``, where nothing in between sees `b`."""
    body = program.body
    for position in reversed(range(len(body))):
        body = _at(program, body, position)
    return program.with_body(body)


def _at(program: Program, body: Block, position: int) -> Block:
    clear = body[position]
    if not isinstance(clear, Compute) or not _is_whole(program, clear) or clear.accumulate:
        return body
    if not isinstance(clear.value, Const) or clear.value.value != 0:
        return body
    buffer = clear.target.buffer
    following = next((k for k in range(position + 1, len(body)) if _mentions(body[k], buffer)), None)
    if following is None:
        return body
    first = body[following]
    if not isinstance(first, Compute) or first.accumulate != "add" or not _is_whole(program, first):
        return body
    if any(read.buffer == buffer for read in reads_of(first)):
        return body
    assigned = replace(first, accumulate=None)
    return (*body[:position], *body[position + 1 : following], assigned, *body[following + 1 :])


def _is_whole(program: Program, statement: Compute) -> bool:
    """Whether a statement writes each element of its target once, and reads each axis in order."""
    shape = program.buffers[statement.target.buffer].shape
    in_order = statement.target.index == tuple(Lin.symbol(name) for name, _ in statement.params)
    return in_order and tuple(extent for _, extent in statement.params) == shape


def _mentions(statement: Statement, buffer: str) -> bool:
    return any(buffer in buffers_of(s) for s in walk((statement,)))
