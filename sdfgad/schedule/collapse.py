"""Loop collapse: nested parallel loops over contiguous memory become one loop, with fewer partly filled vectors.

``for i < n: for j < m: y[i, j] = x[i, j]`` is ``for i < n*m: y[0, i] = x[0, i]``, if rows have m elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdfgad.ir.expr import Expr, Int, Lin, postorder, symbols_in, symbols_of
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, reads_of, substituted


def collapsed(loop: Loop, buffers: Mapping[str, Buffer]) -> Loop:
    """The loop collapsed with the perfectly nested loops in it, as far as all accesses allow; else the loop itself."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], Loop) or not _is_plain(loop):
        return loop
    inner = collapsed(loop.body[0], buffers)
    body = inner.body
    if not _is_plain(inner) or not all(isinstance(s, Compute) and not s.params for s in body):
        return loop
    outer, length = loop.var, inner.trips.const
    if not all(_is_along(access, buffers, outer, inner.var, length) for access in _accesses(body)):
        return loop
    if any({outer, inner.var} & symbols_of(*_numbers(s)) for s in body if isinstance(s, Compute)):
        return loop
    body = substituted(body, {outer: Lin(0), inner.var: Lin.symbol(outer)})
    return loop.with_trips(loop.trips.scaled(length), body)


def offset_of(access: Access, buffers: Mapping[str, Buffer]) -> Lin | None:
    """The offset of an element in memory, in elements; None if it depends on extents that are not known."""
    found, stride = Lin(0), 1
    shape = buffers[access.buffer].shape
    for position, (form, extent) in enumerate(reversed(list(zip(access.index, shape, strict=True)))):
        found = found + form.scaled(stride)
        if extent.is_const:
            stride *= max(extent.const, 1)
        elif position < len(shape) - 1:
            return None
    return found


def _is_plain(loop: Loop) -> bool:
    is_whole = loop.start == Lin(0) and loop.trips.is_const and loop.trips.const > 1
    return loop.is_parallel and is_whole and not loop.backward and not loop.is_open


def _accesses(body: Block) -> Iterator[Access]:
    for statement in body:
        assert isinstance(statement, Compute)
        yield statement.target
        yield from (Access(read.buffer, read.index) for read in reads_of(statement))


def _is_along(access: Access, buffers: Mapping[str, Buffer], outer: str, inner: str, length: int) -> bool:
    """Whether an element's offset depends on the counters as ``length*outer + inner``, or on neither of them."""
    if symbols_of(*(atom for lin in access.index for atom, _ in lin.terms if isinstance(atom, Expr))) & {outer, inner}:
        return False
    offset = offset_of(access, buffers)
    if offset is None:
        return not symbols_in(access.index) & {outer, inner}
    return offset.coefficient(outer) == length * offset.coefficient(inner)


def _numbers(statement: Compute) -> list[Expr]:
    """The integer forms that a statement uses as values."""
    return [node for node in postorder(statement.value) if isinstance(node, Int)]
