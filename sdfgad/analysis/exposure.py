"""Upward-exposed reads: which buffers a block may read before it has written them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from sdfgad.analysis.flow import AFTER, BEFORE, WRITE, Request
from sdfgad.analysis.model import AccessRelation, access_relation, after, depth_of, flow, placed, source_of
from sdfgad.ir.expr import Const
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Statement, Whole, boxed_reads, walk, writes_of


def exposed(
    block: Block,
    names: Iterable[str],
    buffers: Mapping[str, Buffer],
    context: isl.Set,
    requests: Mapping[int, Iterable[Request]],
) -> frozenset[str]:
    """The buffers among `names` with an upward-exposed read: an element may be read before the block writes it.

    Args:
        block: statements; symbols that they do not bind, such as the counter of a loop around them, have any value.
        requests: statement number in the block -> further reads, of the adjoint of that statement.
    """
    unclear = sorted(name for name in names if not _is_overwritten_first(block, name, buffers))
    return frozenset(name for name in unclear if _is_exposed(block, buffers[name], context, requests))


def _is_overwritten_first(block: Block, name: str, buffers: Mapping[str, Buffer]) -> bool:
    """Whether the first statement of the block that mentions a buffer overwrites all of it."""
    for statement in block:
        inner = list(walk((statement,)))
        if any(name == read.buffer for s in inner for read, _ in boxed_reads(s)):
            return False
        if any(name == access.buffer for s in inner for access, _ in writes_of(s)):
            return overwrites(statement, buffers[name])
    return True


def overwrites(statement: Statement, buffer: Buffer) -> bool:
    """Whether a statement gives every element of a buffer a new value."""
    if isinstance(statement, Call):
        return any(whole.buffer == buffer.name for whole in statement.outputs)
    if not isinstance(statement, Compute) or statement.accumulate or statement.target.buffer != buffer.name:
        return False
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    names = [name for name, _ in statement.params]
    index = tuple(access for access in statement.target.index)
    in_order = [str(lin) for lin in index] == names
    return in_order and tuple(extent for _, extent in statement.params) == whole.shape


def _is_exposed(block: Block, buffer: Buffer, context: isl.Set, requests: Mapping[int, Iterable[Request]]) -> bool:
    """Whether a write of the whole buffer, inserted before the block, may reach one of the block's reads."""
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    before = Compute(whole.params, whole.access, Const(0, buffer.dtype))
    body = (before, *block)
    depth = depth_of(body)
    sinks: list[AccessRelation] = []
    writes: list[AccessRelation] = []
    for number, statement, place in placed(body):
        for access, params in writes_of(statement):
            if access.buffer == buffer.name:
                writes.append(access_relation(f"W{number}", place, access, params, WRITE, depth, context))
        reads = [(Access(r.buffer, r.index), params, BEFORE) for r, params in boxed_reads(statement)]
        if isinstance(statement, Compute) and statement.accumulate:
            reads.append((statement.target, statement.params, BEFORE))
        reads += [(r.access, r.params, r.phase) for r in requests.get(number - 1, ())]
        for access, params, phase in reads:
            if access.buffer == buffer.name:
                there = after(statement, place) if phase == AFTER else place
                sinks.append(access_relation(f"R{len(sinks)}", there, access, params, phase, depth, context))
    if not sinks:
        return False
    found = flow(sinks, [w for w in writes if not w.is_exact], [w for w in writes if w.is_exact])
    return found is None or any(source_of(d) == "W0" for d in found)
