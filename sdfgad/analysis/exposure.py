"""Upward-exposed reads: which buffers a block may read before it has written them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import islpy as isl

from sdfgad.analysis.dataflow import flow
from sdfgad.analysis.flow import AFTER, BEFORE, WRITE, Request
from sdfgad.analysis.model import AccessRelation, Params, Place, access_relation, after, placed
from sdfgad.dependence.regions import overwrites
from sdfgad.ir.expr import INT, Const
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Statement,
    Whole,
    boxed_reads,
    users_of,
    walk,
    writes_of,
)

START = Compute((), Access("", ()), Const(0, INT))


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
    users = users_of(block)
    unclear = sorted(name for name in names if not _is_overwritten_first(users.get(name, ()), buffers[name]))
    model = _Accesses(block, requests, context) if unclear else None
    return frozenset(name for name in unclear if model is not None and model.are_exposed(buffers[name]))


def _is_overwritten_first(users: Block, buffer: Buffer) -> bool:
    """Whether the first of the statements that mention a buffer overwrites all of it, or there are none."""
    for statement in users:
        inner = list(walk((statement,)))
        if any(buffer.name == read.buffer for s in inner for read, _ in boxed_reads(s)):
            return False
        if any(buffer.name == access.buffer for s in inner for access, _ in writes_of(s)):
            return overwrites(statement, buffer)
    return True


# Where an access is, its element over a box, and its phase.
_Placed = tuple[Place, Access, Params, int]


class _Accesses:
    """The accesses of a block and of the adjoints of its statements, by buffer."""

    def __init__(self, block: Block, requests: Mapping[int, Iterable[Request]], context: isl.Set) -> None:
        # Number 0 is a write before the block.
        places = placed((START, *block))
        self.start, self.context = places[0][2], context
        self.depth = max(len(after(statement, place).order) for _, statement, place in places)
        self.reads: dict[str, list[_Placed]] = {}
        self.writes: dict[str, list[_Placed]] = {}
        for number, statement, place in places[1:]:
            for access, params in writes_of(statement):
                self.writes.setdefault(access.buffer, []).append((place, access, params, WRITE))
            for access, params, phase in _reads(statement, requests.get(number - 1, ())):
                there = after(statement, place) if phase == AFTER else place
                self.reads.setdefault(access.buffer, []).append((there, access, params, phase))

    def are_exposed(self, buffer: Buffer) -> bool:
        """Whether a write of the whole buffer, inserted before the block, may reach one of the block's reads."""
        reads = self.reads.get(buffer.name, ())
        if not reads:
            return False
        whole = Whole(buffer.name, buffer.shape, buffer.dtype)
        before: _Placed = (self.start, whole.access, whole.params, WRITE)
        sinks = [self._relation(f"R{k}", one) for k, one in enumerate(reads)]
        sources = (before, *self.writes.get(buffer.name, ()))
        writes = [self._relation(f"W{k}", one) for k, one in enumerate(sources)]
        found = flow(sinks, [w for w in writes if not w.is_exact], [w for w in writes if w.is_exact])
        return found is None or any(source == "W0" for source, _ in found)

    def _relation(self, label: str, one: _Placed) -> AccessRelation:
        return access_relation(label, *one, self.depth, self.context)


def _reads(statement: Statement, requests: Iterable[Request]) -> Iterator[tuple[Access, Params, int]]:
    """What a statement and its adjoint read: elements, the box, and when."""
    for read, params in boxed_reads(statement):
        yield Access(read.buffer, read.index), params, BEFORE
    if isinstance(statement, Compute) and statement.accumulate:
        yield statement.target, statement.params, BEFORE
    for one in requests:
        yield one.access, one.params, one.phase
