"""Strip-mining and interchange for threads: strips of independent lanes run through sequential loops side by side.

``for t: for i: x[i] = f(x[i])`` is a sequential loop around a parallel one that has too little work for threads, or so
much that it does not stay in the cache. Where no lane `i` reads what another one writes, as in ensembles, columns of
air or cells of a chemical model, each strip of lanes runs through all trips by itself,
``for strip: for t: for i in strip: x[i] = f(x[i])``: threads share the strips, and what the forward sweep of a strip
stores is still in its core's cache when the reverse sweep reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sdfgad.ir.program import Block, Buffer, Call, Compute, Loop, Program, Statement, walk
from sdfgad.memory.sharing import distance_of
from sdfgad.optimise.loops.pieces import SHORTEST_ROW, Group, groups_of
from sdfgad.schedule.products import product_of
from sdfgad.schedule.target import cpu
from sdfgad.schedule.work import is_worth_threads

# Of the arrays that sequential loops write, so many of the largest are tried.
LARGEST = 3
# So many groups of lanes are looked for, one after the other.
MOST = 4


def run_in_lanes(program: Program) -> Program:
    """The program with groups of sequential loops in parallel strips of their lanes."""
    for _ in range(MOST):
        found = _with_a_group(program)
        if found is None:
            break
        program = found
    return program


def _with_a_group(program: Program) -> Program | None:
    """The program with a group in strips, of those around an array the largest; None if there is none."""
    loops = [statement for statement in program.body if _is_sequential(statement)]
    if not is_worth_threads(tuple(loops)):
        return None
    for name in _largest(program, loops):
        groups = groups_of(program, [name], fewest=1).values()
        for group in sorted(groups, key=lambda group: -len(group.members)):
            strips = _strips(group)
            if strips is not None:
                return program.with_body(group.replaced(strips))
    return None


def _is_sequential(statement: Statement) -> bool:
    return isinstance(statement, Loop) and not statement.is_parallel and not statement.is_open


def _is_shared(statement: Statement) -> bool:
    """Whether threads would share something in a sequential loop, trip after trip."""
    inside = _parallel(statement.body) if isinstance(statement, Loop) and _is_sequential(statement) else ()
    return any(isinstance(s, (Call, Compute, Loop)) and is_worth_threads((s,)) for s in inside)


def _parallel(block: Block) -> Iterator[Statement]:
    """The statements of a block and of the sequential loops and branches in it."""
    for statement in walk(block):
        if not isinstance(statement, Loop) or statement.is_parallel:
            yield statement


def _largest(program: Program, loops: list[Statement]) -> list[str]:
    """The largest arrays that loops write; of equal ones those first that most statements mention."""
    sizes = {name: _elements(program.buffers[name]) for loop in loops for name in loop.written}
    arrays = sorted(name for name in sizes if sizes[name] > 1)
    return sorted(arrays, key=lambda name: (-sizes[name], -len(program.users[name])))[:LARGEST]


def _elements(buffer: Buffer) -> int:
    """The elements of an array; an extent that is known at run time only, as of a tape, counts as one."""
    return math.prod(max(extent.const, 1) if extent.is_const else 1 for extent in buffer.shape)


def _members(group: Group) -> Block:
    return tuple(member.statement for member in group.members)


def _strips(group: Group) -> Block | None:
    """The members in parallel strips, if that is legal and worth it."""
    width, members = _width(group), _members(group)
    if width is None or not any(map(_is_sequential, members)) or _has_products(members, group.whole.buffers):
        return None
    (loop,) = group.pieces(width, [], is_parallel=True)
    assert isinstance(loop, Loop)
    return (loop,) if distance_of(loop, (), group.whole.buffers) is not None else None


def _has_products(block: Block, buffers: Mapping[str, Buffer]) -> bool:
    """Whether there are products of matrices, of which many rows at a time are faster than a few."""
    return any(isinstance(s, Compute) and product_of(s, buffers) is not None for s in walk(block))


def _width(group: Group) -> int | None:
    """Lanes of a strip: as many as stay in the cache, but enough for vectors, and strips enough for threads."""
    n, buffers = group.length, group.whole.buffers
    ranks = {name: len(buffers[name].shape) for name in group.axes}
    are_rows = max(ranks.values()) == 1 or any(1 < ranks[name] == axis + 1 for name, axis in group.axes.items())
    least = SHORTEST_ROW if are_rows else 1
    widths = [n // count for count in range(cpu().few_parts, cpu().parts + 1) if n % count == 0 and n // count >= least]
    if any(map(_is_shared, _members(group))):
        # Not fewer threads than would share each trip.
        return next((width for width in reversed(widths) if 2 * (n // width) >= cpu().parts), None)
    bytes_of_lane = sum(_elements(buffers[name]) * buffers[name].dtype.itemsize for name in group.axes) // n
    return next((width for width in widths if width * bytes_of_lane <= cpu().cache_bytes), min(widths, default=None))
