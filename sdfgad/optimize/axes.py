"""Accesses with fewer axes, and with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sdfgad.ir.accesses import mentioned_by
from sdfgad.ir.expr import Expr, Read
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Access, Block, Compute, Program, Statement, buffers_of, rewrite_statement, transform

Index = tuple[Lin, ...]


def less_axis(program: Program, name: str, axis: int) -> Program:
    """The program with one axis less of a buffer."""
    buffer = program.buffers[name]
    shape = buffer.shape[:axis] + buffer.shape[axis + 1 :]
    body = without_axis(program.body, name, axis, lambda _: name)
    return replace(program, buffers={**program.buffers, name: replace(buffer, shape=shape)}, body=body)


def without_axis(block: Block, name: str, axis: int, renamed: Callable[[Index], str]) -> Block:
    """A block with indices along one axis left out; `renamed` says of an index which buffer it is of then."""

    def shorter(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer != name:
            return None
        return Read(renamed(node.index), node.index[:axis] + node.index[axis + 1 :], node.dtype)

    def each(statement: Statement) -> Block:
        changed = rewrite_statement(statement, replace_node=shorter) if name in buffers_of(statement) else statement
        if isinstance(changed, Compute) and changed.target.buffer == name:
            index = changed.target.index
            target = Access(renamed(index), index[:axis] + index[axis + 1 :])
            changed = replace(changed, target=target)
        return (changed,)

    return tuple(new for s in block for new in (transform((s,), each) if mentioned_by(s, name) else (s,)))


def shifted(block: Block, axes: Mapping[str, int], by: Lin) -> Block:
    """A block with so much added to all indices along one axis of each of some buffers."""

    def moved(name: str, index: Index) -> Index:
        axis = axes[name]
        return (*index[:axis], index[axis] + by, *index[axis + 1 :])

    def node(one: Expr) -> Expr | None:
        if not isinstance(one, Read) or one.buffer not in axes:
            return None
        return Read(one.buffer, moved(one.buffer, one.index), one.dtype)

    def each(statement: Statement) -> Block:
        if axes.keys().isdisjoint(buffers_of(statement)):
            return (statement,)
        changed = rewrite_statement(statement, replace_node=node)
        if isinstance(changed, Compute) and (name := changed.target.buffer) in axes:
            changed = replace(changed, target=Access(name, moved(name, changed.target.index)))
        return (changed,)

    return transform(block, each)
