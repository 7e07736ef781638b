"""The interface of a graph's program: inputs that nothing writes, and outputs by the graph's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from sdfgad.dependence.mixed_radix import writes_all
from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin, cast
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Branch, Buffer, Compute, Loop, Params, Statement, walk, written


def copied(source: Buffer, target: Buffer, names: Names) -> Compute:
    """All of one buffer copied to another one, which may be of another dtype, and have an axis where that has none."""
    params = tuple((names.fresh("p"), extent) for extent in source.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    there = index if len(target.shape) == len(source.shape) else (Lin(0),) * len(target.shape)
    value = cast(Access(source.name, index).read(source.dtype), target.dtype)
    return Compute(params, Access(target.name, there), value, None, target.where)


def is_overwritten(body: Block, buffer: Buffer) -> bool:
    """Whether a block certainly gives every element of a buffer a value before it reads one."""
    found = _first_write(body, buffer.name, ())
    are_sure = found is not None and all(extent.is_const and extent.const > 0 for _, extent in found.params)
    return found is not None and are_sure and writes_all(found, buffer.shape)


def _first_write(body: Block, name: str, around: Params) -> Compute | None:
    """The first statement that mentions a buffer, with loops around it as parameters, if it only writes there."""
    first = next((statement for statement in body if name in statement.mentioned), None)
    if isinstance(first, Loop) and not first.is_open:
        found = _first_write(first.body, name, (*around, (first.var, first.trips)))
        # What a trip reads is the very element that it has written before.
        reads = {read.index for one in walk(first.body) for read in one.read if read.buffer == name}
        return found if found is not None and reads <= {found.target.index} else None
    if not isinstance(first, Compute) or not first.assigns or first.target.buffer != name:
        return None
    is_read = any(read.buffer == name for read in first.read)
    return None if is_read else replace(first, params=(*around, *first.params))


def single(buffer: Buffer, names: Names) -> tuple[Buffer, Compute]:
    """A number that has the only element of an array, and the statement that sets it."""
    number = replace(buffer, name=names.fresh(buffer.name), shape=())
    value = Access(buffer.name, (Lin(0),) * len(buffer.shape)).read(buffer.dtype)
    return number, Compute((), Access(number.name), value, None, buffer.where)


def changed(body: Block, names: Iterable[str]) -> list[str]:
    """Those of some buffers that a block writes."""
    found = written(body)
    return [name for name in names if name in found]


def symbols_in(statement: Statement) -> set[str]:
    """The symbols of a statement itself, without its nested statements."""
    if isinstance(statement, Compute):
        forms = (*statement.target.index, *(extent for _, extent in statement.params))
        return set(statement.value.symbols).union(*(form.symbols for form in forms))
    if isinstance(statement, Loop):
        return set(statement.start.symbols | statement.trips.symbols)
    return set(statement.condition.symbols) if isinstance(statement, Branch) else set()


def refuse_unset(body: Block, names: Set[str], buffers: Mapping[str, Buffer]) -> None:
    """Raises: UnsupportedGraph, where a temporary is accumulated into before anything is assigned to it."""
    seen = set[str]()
    for statement in walk(body):
        name = statement.target.buffer if isinstance(statement, Compute) else ""
        is_update = isinstance(statement, Compute) and not statement.assigns
        if name in names - seen and (is_update or any(read.buffer == name for read in statement.read)):
            what = f"`{buffers[name].source or name}` is accumulated into before it has a value"
            raise UnsupportedGraph(what, statement.where, "Assign the start of the sum, product or extremum before.")
        seen |= statement.touched
