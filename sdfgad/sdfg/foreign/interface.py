"""The interface of a graph's program: inputs that nothing writes, and outputs by the graph's names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sdfgad.dependence.private import begins_with_write
from sdfgad.dependence.regions import fills_target
from sdfgad.ir.expr import Lin, cast
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, written


def copied(source: Buffer, target: Buffer, names: Names) -> Compute:
    """All of one buffer copied to another one, which may be of another dtype, and have an axis where that has none."""
    params = tuple((names.fresh("p"), extent) for extent in source.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    there = index if len(target.shape) == len(source.shape) else (Lin(0),) * len(target.shape)
    value = cast(Access(source.name, index).read(source.dtype), target.dtype)
    return Compute(params, Access(target.name, there), value, None, target.where)


def is_overwritten(body: Block, buffer: Buffer) -> bool:
    """Whether a block certainly gives every element of a buffer a value before it reads one."""
    first = next((statement for statement in body if buffer.name in statement.mentioned), None)
    if isinstance(first, Compute) and first.assigns and first.target.buffer == buffer.name:
        is_read = any(read.buffer == buffer.name for read in first.read)
        return not is_read and fills_target({buffer.name: buffer}, first)
    return not buffer.shape and begins_with_write(body, buffer.name)


def single(buffer: Buffer, names: Names) -> tuple[Buffer, Compute]:
    """A number that has the only element of an array, and the statement that sets it."""
    number = replace(buffer, name=names.fresh(buffer.name), shape=())
    value = Access(buffer.name, (Lin(0),) * len(buffer.shape)).read(buffer.dtype)
    return number, Compute((), Access(number.name), value, None, buffer.where)


def changed(body: Block, names: Collection[str]) -> list[str]:
    """Those of some buffers that a block writes."""
    found = written(body)
    return [name for name in names if name in found]
