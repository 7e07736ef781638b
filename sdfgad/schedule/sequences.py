"""Steps of a block of threads, with barriers in between: of a sequential loop, or of each trip of a loop over rows.

A trip of a loop over rows may contain sequential loops: a grid of sequences, one for each block.

A launch takes some microseconds, a barrier within a block some dozens of nanoseconds. But a block has the memory and
the arithmetic of one multiprocessor, about a hundredth of a device.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import cast

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Params, Statement, blocks_of, computes, walk
from sdfgad.schedule.device_sums import BLOCK, MOST, RESIDENT, WARP, Sum, is_order_free, points
from sdfgad.schedule.kernels import longest_extent
from sdfgad.schedule.thread_independence import maximum_reductions

# The threads of a block for arrays whose sizes are not known.
USUAL = 256

Ranges = Mapping[str, tuple[Lin, Lin]]


def is_possible(loop: Loop, buffers: Mapping[str, Buffer], bounds: Collection[str]) -> bool:
    """Whether a block can run a loop: it calls no library, writes no tape whose slots the host counts, has no grid."""
    inside = list(walk((loop,)))
    if any(isinstance(s, Loop) and s.is_in_block for s in inside):
        return False
    targets = (buffers[s.target.buffer] for s in inside if isinstance(s, Compute))
    has_slots = any(not extent.symbols.isdisjoint(bounds) for target in targets for extent in target.shape)
    return not has_slots and not any(isinstance(s, Call) for s in inside)


def rows_of(loop: Loop) -> tuple[Params, Block]:
    """The counters of parallel loops each trip of which is a block of threads, and what is in them."""
    rows, block = list[tuple[str, Lin]](), cast(Block, (loop,))
    while isinstance(one := block[0], Loop) and one.is_in_block and one.is_parallel:
        rows.append((one.var, one.trips))
        block = one.body
    return tuple(rows), block


def threads_of_sequence(loop: Loop) -> int:
    """The threads of a block: a power of two, as many as the largest step has points or terms."""
    rows, block = rows_of(loop)
    ranges = {name: (Lin(0), extent) for name, extent in rows}
    widths = [width for statement in block for width in _widths(statement, ranges, 1)]
    largest = max((USUAL if width is None else width for width in widths), default=1)
    return min(_most_threads(loop, rows), max(WARP, 1 << max(largest - 1, 0).bit_length()))


def _most_threads(loop: Loop, rows: Params) -> int:
    """The most threads of a block: a multiprocessor's, if it has the only one.

    Rows are many blocks, whose threads have more registers where they are few. Sequences may be so few that each has
    a multiprocessor for itself.
    """
    if not rows:
        return MOST
    count = points([extent for _, extent in rows])
    is_grid = count is not None and has_sequences(loop)
    return max(BLOCK, min(MOST, RESIDENT // max(count or 1, 1))) if is_grid else BLOCK


def has_sequences(loop: Loop) -> bool:
    """Whether there are sequential loops in rows, or in a sequence."""
    return any(isinstance(s, Loop) and not s.is_parallel for s in walk(rows_of(loop)[1]))


def filled_by(loop: Loop) -> float:
    """The part of a device that the blocks of rows fill, more than 1 where not all run at the same time."""
    count = points([extent for _, extent in rows_of(loop)[0]])
    return 1.0 if count is None else max(count, 1) * threads_of_sequence(loop) / RESIDENT


def shared_by_rows(loop: Loop) -> frozenset[str]:
    """The numbers that the blocks of rows combine values with by atomic operations: maxima, as the status is."""
    found = maximum_reductions(loop)
    others = {one.target.buffer for one in computes((loop,)) if not is_order_free(one)}
    return frozenset(found - others)


def group_of(box: Sum, threads: int) -> int:
    """The threads for each element of sums: all for one element; a warp at least, which reads neighbours."""
    if not box.own:
        return threads
    elements = threads if box.elements is None else max(box.elements, 1)
    return min(threads, max(WARP, threads >> (elements - 1).bit_length()))


def written_in_parallel(loop: Loop) -> frozenset[str]:
    """What parallel loops in a loop write: numbers that are not the same for all threads."""
    _, block = rows_of(loop)
    return frozenset[str]().union(*(s.written for s in walk(block) if isinstance(s, Loop) and s.is_parallel))


def _widths(statement: Statement, ranges: Ranges, width: int | None) -> Iterator[int | None]:
    """The points and the terms of each step, in its longest trip; `width`: those of the parallel loops around."""
    if isinstance(statement, Compute):
        box = Sum(statement)
        for names in (box.own, box.summed):
            yield _product(width, [box.extents[name] for name in names], ranges)
    if isinstance(statement, Loop):
        width = _product(width, [statement.trips], ranges) if statement.is_parallel else width
        ranges = {**ranges, statement.var: (statement.start, statement.trips)}
    for block in blocks_of(statement) if isinstance(statement, Loop | Branch) else ():
        for nested in block:
            yield from _widths(nested, ranges, width)


def _product(width: int | None, extents: list[Lin], ranges: Ranges) -> int | None:
    for extent in extents:
        longest = longest_extent(extent, ranges)
        width = None if longest is None or width is None else width * max(longest.const, 0)
    return width
