"""Extrema with what was there before: ``z max= x`` is ``t = -inf; t max= x; z = maximum(z, t)``.

The derivative of an accumulation by maximum or minimum is that of the extremum of its own points, which is right where
its target has been set to the identity just before. Graphs accumulate into whatever an array holds, also trip by trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.dependence.hazards import is_once
from sdfgad.dependence.regions import is_same_region
from sdfgad.dependence.sets import Domain
from sdfgad.dependence.uses import own_params
from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Const, Lin, Op, Rewriter
from sdfgad.ir.names import Names
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Block, Buffer, Compute, Params, Statement, with_blocks

KINDS = ("maximum", "minimum")


def with_values_before(body: Block, buffers: dict[str, Buffer], names: Names) -> Block:
    """A block in which accumulations by extrema start from the identity; new storage is added to `buffers`.

    Raises:
        UnsupportedGraph: the targets of the points of one cannot be told apart.
    """
    return tuple(_block(body, buffers, names))


def _block(block: Block, buffers: dict[str, Buffer], names: Names) -> Iterator[Statement]:
    before: dict[str, Statement] = {}
    for one in block:
        statement = with_blocks(one, lambda inner: tuple(_block(inner, buffers, names)))
        if _is_open(statement, before, buffers):
            assert isinstance(statement, Compute)
            yield from _apart(statement, buffers, names)
        else:
            yield statement
        before |= dict.fromkeys(statement.mentioned, statement)


def _is_open(statement: Statement, before: dict[str, Statement], buffers: dict[str, Buffer]) -> bool:
    """Whether a statement is such an accumulation of floats, and its target has not been cleared just before."""
    if not isinstance(statement, Compute) or statement.accumulate not in KINDS or statement.fresh:
        return False
    name = statement.target.buffer
    first = before.get(name)
    if not buffers[name].is_floating:
        return False
    if not isinstance(first, Compute) or first.accumulate is not None or first.target.buffer != name:
        return True
    is_start = isinstance(first.value, Const) and first.value.value == OPERATIONS[statement.accumulate].identity
    return not (is_start and is_same_region(first, replace(statement, params=own_params(statement))))


def _apart(statement: Compute, buffers: dict[str, Buffer], names: Names) -> Iterator[Compute]:
    """The extremum of the points alone, and then that with what was there."""
    buffer, kind = buffers[statement.target.buffer], str(statement.accumulate)
    own, index = own_params(statement), statement.target.index
    if not is_once(Domain(), own, index):
        what = f"which elements of `{buffer.source or buffer.name}` a {kind} goes to is data, or several are one"
        raise UnsupportedGraph(
            what, statement.where, "Write a sequential loop with an assignment: z[i] = max(z[i], x)."
        )
    if not statement.params:
        value = Op(kind, (statement.target.read(buffer.dtype), statement.value), buffer.dtype)
        yield replace(statement, value=value, accumulate=None)
        return
    found = replace(buffer, name=names.fresh(buffer.name))
    buffers[found.name] = found
    place = Access(found.name, index)
    start = Const(OPERATIONS[kind].identity, buffer.dtype)
    yield _renamed(Compute(own, place, start, None, statement.where), names)
    yield replace(statement, target=place)
    value = Op(kind, (statement.target.read(buffer.dtype), place.read(buffer.dtype)), buffer.dtype)
    yield _renamed(Compute(own, statement.target, value, None, statement.where), names)


def _renamed(statement: Compute, names: Names) -> Compute:
    """The statement with parameters of its own."""
    new = {name: names.fresh(name) for name, _ in statement.params}
    rewriter = Rewriter({old: Lin.symbol(one) for old, one in new.items()})
    params: Params = tuple((new[name], extent) for name, extent in statement.params)
    target = Access(statement.target.buffer, rewriter.index(statement.target.index))
    return replace(statement, params=params, target=target, value=rewriter(statement.value))
