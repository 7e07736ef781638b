"""Interval analysis of extents: an array whose size depends on counters is stored with the largest one that it has.

A size that is data is bounded by what is read for it: where each element comes from one of another array, such as
``t[i] = x[column[start + i]]``, there are no more of them than that array has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin, Op, postorder
from sdfgad.ir.program import Block, Buffer, Compute, Loop, blocks_of, walk, writes_of

# The least and the greatest value of a counter, in all loops that have one of its name.
Ranges = dict[str, tuple[int, int]]
TODO = "Allocate it for the largest size outside of the loop."


def with_largest(body: Block, buffers: Mapping[str, Buffer]) -> dict[str, Buffer]:
    """The buffers with numbers for extents.

    Raises:
        UnsupportedGraph: one depends on more than the counters of loops with known bounds.
    """
    if all(extent.is_const for buffer in buffers.values() for extent in buffer.shape):
        return dict(buffers)
    ranges: Ranges = {}
    _note(body, {}, ranges)
    return {name: _fixed(buffer, ranges, body, buffers) for name, buffer in buffers.items()}


def _fixed(buffer: Buffer, ranges: Ranges, body: Block, buffers: Mapping[str, Buffer]) -> Buffer:
    shape = []
    for axis, extent in enumerate(buffer.shape):
        span = _span(extent, ranges) or _written_span(buffer.name, axis, body, buffers)
        if span is None:
            what = f"the size of `{buffer.name}` is known only while the program runs"
            raise UnsupportedGraph(what, buffer.where, TODO)
        shape.append(extent if extent.is_const else Lin(max(span[1], 1)))
    return replace(buffer, shape=tuple(shape))


def _note(block: Block, around: Ranges, ranges: Ranges) -> None:
    """Notes the values of all counters in a block."""
    for statement in block:
        inner = around
        if isinstance(statement, Loop):
            first, last = _span(statement.start, around), _span(statement.start + _most_trips(statement) - 1, around)
            inner = {name: span for name, span in around.items() if name != statement.var}
            if first is not None and last is not None:
                inner[statement.var] = first[0], max(last[1], first[0])
                low, high = ranges.get(statement.var, inner[statement.var])
                ranges[statement.var] = min(low, first[0]), max(high, inner[statement.var][1])
        for nested in blocks_of(statement):
            _note(nested, inner, ranges)


def _most_trips(loop: Loop) -> Lin:
    """The trips of a loop; of one that may be left before, as many as its guards tell."""
    forms = (guard + Lin.symbol(loop.var) + 1 for guard in loop.guards)
    return next((form for form in forms if loop.is_open and loop.var not in form.symbols), loop.trips)


def _span(form: Lin, ranges: Ranges) -> tuple[int, int] | None:
    """The least and the greatest value of a form; None if it is not known."""
    low = high = form.const
    for atom, coefficient in form.terms:
        if not isinstance(atom, str) or atom not in ranges:
            return None
        ends = sorted(coefficient * end for end in ranges[atom])
        low, high = low + ends[0], high + ends[1]
    return low, high


def _written_span(name: str, axis: int, body: Block, buffers: Mapping[str, Buffer]) -> tuple[int, int] | None:
    """The extents of an axis that statements write, by what each of them reads; None if one may write more."""
    most = 0
    for statement in walk(body):
        if any(access.buffer == name for access, _ in writes_of(statement)):
            number = _most_written(statement, axis, buffers) if isinstance(statement, Compute) else None
            if number is None:
                return None
            most = max(most, number)
    return (0, most) if most else None


def _most_written(statement: Compute, axis: int, buffers: Mapping[str, Buffer]) -> int | None:
    """How long an axis is at most of which a statement writes one element for each that it reads of another array."""
    index = statement.target.index[axis]
    names = [name for name, _ in statement.params if index == Lin.symbol(name)]
    if not names or any(isinstance(node, Op) and node.name == "select" for node in postorder(statement.value)):
        return None
    found = []
    for read in statement.value.reads:
        for form, extent in zip(read.index, buffers[read.buffer].shape, strict=True):
            others = form - Lin.symbol(names[0])
            if extent.is_const and names[0] not in others.symbols and names[0] in form.symbols:
                found.append(extent.const)
    return min(found, default=None)
