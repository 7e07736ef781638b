"""Renaming of buffers in statements (alpha renaming)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.ir.expr import Expr, Read
from sdfgad.ir.program import Access, Block, Call, Compute, Statement, Whole, changed, rewrite_statement, transform


def renamed(block: Block, names: Mapping[str, str]) -> Block:
    """The block with each buffer in `names` replaced by the one it maps to."""
    return tuple(part for s in block for part in _with_nested(s, names)) if names else block


def _with_nested(statement: Statement, names: Mapping[str, str]) -> Block:
    if names.keys().isdisjoint(statement.named):
        return (statement,)
    return transform((statement,), lambda s: (_renamed(s, names),))


def _renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    if names.keys().isdisjoint(statement.touched | statement.guarding):
        return statement

    def moved(node: Expr) -> Expr | None:
        if isinstance(node, Read) and node.buffer in names:
            return Read(names[node.buffer], node.index, node.dtype)
        return None

    statement = rewrite_statement(statement, replace_node=moved)
    if isinstance(statement, Compute):
        target = statement.target
        return changed(statement, target=Access(names.get(target.buffer, target.buffer), target.index))
    if isinstance(statement, Call):
        inputs, outputs = (tuple(_whole(w, names) for w in ws) for ws in (statement.inputs, statement.outputs))
        return replace(statement, inputs=inputs, outputs=outputs)
    return statement


def _whole(whole: Whole, names: Mapping[str, str]) -> Whole:
    return replace(whole, buffer=names.get(whole.buffer, whole.buffer))
