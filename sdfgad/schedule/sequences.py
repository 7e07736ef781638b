"""Persistent kernels: sequential loops of short steps that one block of threads runs, with barriers between steps.

A launch takes some microseconds, a barrier within a block some dozens of nanoseconds. But a block has the memory and
the arithmetic of one multiprocessor, about a hundredth of a device.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Branch, Buffer, Call, Compute, Loop, Statement, blocks_of, walk
from sdfgad.schedule.kernels import Sum, longest_extent

# The most threads that a block may have, and those of a block for arrays whose sizes are not known.
MOST, USUAL = 1024, 256
WARP = 32

Ranges = Mapping[str, tuple[Lin, Lin]]


def is_possible(loop: Loop, buffers: Mapping[str, Buffer], bounds: Collection[str]) -> bool:
    """Whether a block can run a loop: it calls no library, and writes no tape whose slots the host counts."""
    inside = list(walk((loop,)))
    targets = (buffers[s.target.buffer] for s in inside if isinstance(s, Compute))
    has_slots = any(not extent.symbols.isdisjoint(bounds) for target in targets for extent in target.shape)
    return not has_slots and not any(isinstance(s, Call) for s in inside)


def threads_of_sequence(loop: Loop) -> int:
    """The threads of the block: a power of two, as many as the largest statement has points or terms."""
    widths = [width for one, ranges in _computes(loop, {}) for width in _widths(one, ranges)]
    largest = max((USUAL if width is None else width for width in widths), default=1)
    return min(MOST, max(WARP, 1 << max(largest - 1, 0).bit_length()))


def group_of(box: Sum, threads: int) -> int:
    """The threads for each element of sums: all for one element; a warp at least, which reads neighbours."""
    if not box.own:
        return threads
    elements = threads if box.elements is None else max(box.elements, 1)
    return min(threads, max(WARP, threads >> (elements - 1).bit_length()))


def written_in_parallel(loop: Loop) -> frozenset[str]:
    """What parallel loops in a loop write: numbers that are not the same for all threads."""
    return frozenset[str]().union(*(s.written for s in walk(loop.body) if isinstance(s, Loop) and s.is_parallel))


def _computes(statement: Statement, ranges: Ranges) -> Iterator[tuple[Compute, Ranges]]:
    if isinstance(statement, Compute):
        yield statement, ranges
    if isinstance(statement, Loop):
        ranges = {**ranges, statement.var: (statement.start, statement.trips)}
    for block in blocks_of(statement) if isinstance(statement, Loop | Branch) else ():
        for nested in block:
            yield from _computes(nested, ranges)


def _widths(statement: Compute, ranges: Ranges) -> Iterator[int | None]:
    """The points and the terms of a statement, in its longest trip."""
    box = Sum(statement)
    for names in (box.own, box.summed):
        product: int | None = 1
        for name in names:
            longest = longest_extent(box.extents[name], ranges)
            product = None if longest is None or product is None else product * max(longest.const, 0)
        yield product
