"""Array expansion of accumulators: a sum over points in each trip becomes one for each point, and a sum after the loop.

``for t: … s += sum of f(p, t)`` over p becomes ``for t: … part[p] += f(p, t)`` and then ``s += sum of part[p]``: no
trip waits for a reduction, and its points share threads with those of other statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Int, Lin, symbols_of
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    Whole,
    blocks_of,
    reads_of,
    transform,
    walk,
    with_blocks,
)
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.device.temporaries import cleared, largest_bytes
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import SHORT, points

# Bytes that are small, in so many times the largest array's.
SMALL, MANY = 1 << 22, 16


def expand_sums(program: Program) -> Program:
    """The program with such sums, outermost loops first."""
    expansion = _Expansion(program)
    body = expansion.block(program.body)
    return replace(program, body=body, buffers=expansion.buffers)


@dataclass(frozen=True)
class _Accumulator:
    """An array with a sum for each point, and the sum of these."""

    buffer: Buffer
    total: Compute


class _Expansion:
    def __init__(self, program: Program) -> None:
        self.names, self.buffers = names_of(program), dict(program.buffers)
        # All of them together are no larger than what the program holds anyway, or small.
        largest = largest_bytes(program)
        self.left = max(largest, min(MANY * largest, SMALL))

    def block(self, block: Block) -> Block:
        return flat_map(block, self.each)

    def each(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or statement.is_parallel:
            return (with_blocks(statement, self.block),)
        sums = [one for one in _sums(statement.body) if self.is_one(one, statement)]
        found = dict[tuple[Access, tuple[Lin, ...]], _Accumulator]()
        for one in sums:
            key = one.target, _shape(one.params)
            if key not in found and self.left >= (size := self.size(one)):
                self.left -= size
                found[key] = self.accumulator(one)
        if not found:
            return (with_blocks(statement, self.block),)
        chosen = {id(one): found[key] for one in sums if (key := (one.target, _shape(one.params))) in found}
        body = transform(statement.body, lambda s: (_expanded(s, chosen[id(s)]),) if id(s) in chosen else (s,))
        before = (cleared(one.buffer, statement.where) for one in found.values())
        return (*before, *self.each(replace(statement, body=body)), *(one.total for one in found.values()))

    def is_one(self, one: Compute, loop: Loop) -> bool:
        """Whether a statement adds up so many terms to an element that nothing else in the loop touches."""
        inside = list(walk(loop.body))
        counters = {s.var for s in inside if isinstance(s, Loop)} | {loop.var}
        index = symbols_of(Int(sum(one.target.index, Lin(0))))
        own = {name for name, _ in one.params}
        is_counted = any(read.buffer == one.target.buffer for read in reads_of(loop))
        others = [s for s in inside if one.target.buffer in s.touched]
        is_alone = all(isinstance(s, Compute) and _is_added(s) and s.target == one.target for s in others)
        is_free = index.isdisjoint(counters | own) and all(form.is_affine for form in one.target.index)
        return is_alone and is_free and not is_counted and (points(list(_shape(one.params))) or 0) >= SHORT

    def size(self, one: Compute) -> int:
        return (points(list(_shape(one.params))) or 0) * one.value.dtype.itemsize

    def accumulator(self, one: Compute) -> _Accumulator:
        dtype = self.buffers[one.target.buffer].dtype
        buffer = Buffer(self.names.fresh("sums"), _shape(one.params), dtype)
        self.buffers[buffer.name] = buffer
        whole = Whole(buffer.name, buffer.shape, dtype)
        return _Accumulator(buffer, replace(one, params=whole.params, value=whole.access.read(dtype)))


def _sums(block: Block) -> Iterator[Compute]:
    """The sums of a block, also those in nested ones, but for those in parallel loops."""
    for statement in block:
        if isinstance(statement, Compute) and _is_sum(statement):
            yield statement
        elif isinstance(statement, Branch) or (isinstance(statement, Loop) and not statement.is_parallel):
            for nested in blocks_of(statement):
                yield from _sums(nested)


def _is_sum(statement: Compute) -> bool:
    return _is_added(statement) and bool(statement.params)


def _is_added(statement: Compute) -> bool:
    is_read = any(read.buffer == statement.target.buffer for read in statement.read)
    return statement.accumulate == "add" and not statement.fresh and not is_read


def _expanded(statement: Statement, accumulator: _Accumulator) -> Compute:
    assert isinstance(statement, Compute)
    index = tuple(Lin.symbol(name) for name, _ in statement.params)
    return replace(statement, target=Access(accumulator.buffer.name, index))


def _shape(params: Params) -> tuple[Lin, ...]:
    return tuple(extent for _, extent in params)
