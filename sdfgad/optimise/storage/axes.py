"""Rewriting of array accesses: removes one axis of some buffers, or shifts the indices along one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Read
from sdfgad.ir.program import Access, Block, Compute, Program, Statement, buffers_of, rewrite_statement, transform

Index = tuple[Lin, ...]


def less_axes(program: Program, axes: Mapping[str, int]) -> Program:
    """The program in which each of some buffers (buffer -> axis) has lost that axis."""
    buffers = dict(program.buffers)
    for name, axis in axes.items():
        buffers[name] = replace(buffers[name], shape=_less(buffers[name].shape, axis))
    return replace(program, buffers=buffers, body=without_axes(program.body, axes, lambda name, _: name))


def without_axes(block: Block, axes: Mapping[str, int], renamed: Callable[[str, Index], str]) -> Block:
    """A block without the index along one axis of some buffers; `renamed` names the buffer of each such access."""

    def shorter(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer not in axes:
            return None
        return Read(renamed(node.buffer, node.index), _less(node.index, axes[node.buffer]), node.dtype)

    def each(statement: Statement) -> Block:
        if axes.keys().isdisjoint(buffers_of(statement)):
            return (statement,)
        changed = rewrite_statement(statement, replace_node=shorter)
        if isinstance(changed, Compute) and (name := changed.target.buffer) in axes:
            index = changed.target.index
            changed = replace(changed, target=Access(renamed(name, index), _less(index, axes[name])))
        return (changed,)

    return transform(block, each, axes)


def _less(index: Index, axis: int) -> Index:
    return index[:axis] + index[axis + 1 :]


def shifted(block: Block, axes: Mapping[str, int], by: Lin) -> Block:
    """A block with `by` added to the indices along one axis of each of some buffers."""

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

    return transform(block, each, axes)
