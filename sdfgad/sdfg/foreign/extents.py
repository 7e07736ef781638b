"""Interval analysis of extents: an array whose size depends on counters is stored with the largest one that it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Buffer, Loop, blocks_of

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
    return {name: _fixed(buffer, ranges) for name, buffer in buffers.items()}


def _fixed(buffer: Buffer, ranges: Ranges) -> Buffer:
    shape = []
    for extent in buffer.shape:
        span = _span(extent, ranges)
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
            first, last = _span(statement.start, around), _span(statement.start + statement.trips - 1, around)
            inner = {name: span for name, span in around.items() if name != statement.var}
            if first is not None and last is not None and not statement.is_open:
                inner[statement.var] = first[0], max(last[1], first[0])
                low, high = ranges.get(statement.var, inner[statement.var])
                ranges[statement.var] = min(low, first[0]), max(high, inner[statement.var][1])
        for nested in blocks_of(statement):
            _note(nested, inner, ranges)


def _span(form: Lin, ranges: Ranges) -> tuple[int, int] | None:
    """The least and the greatest value of a form; None if it is not known."""
    low = high = form.const
    for atom, coefficient in form.terms:
        if not isinstance(atom, str) or atom not in ranges:
            return None
        ends = sorted(coefficient * end for end in ranges[atom])
        low, high = low + ends[0], high + ends[1]
    return low, high
