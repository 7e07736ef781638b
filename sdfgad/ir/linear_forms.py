"""Canonical form of integers and indices: linear forms, conversions as operations, single elements at index 0.

Passes, and what reads a graph, write the same integer in several ways: as a form of symbols or as operations. Code is
written from the canonical one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read, Rewriter, as_linear, cast
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Block, Buffer, Compute, Statement, changed, rewrite_statement, transform


def canonical(block: Block, buffers: Mapping[str, Buffer]) -> Block:
    """The statements with their integers in canonical form."""
    rewriter = Rewriter({}, partial(_form, buffers))

    def one(statement: Statement) -> Block:
        statement = rewrite_statement(statement, rewriter=rewriter)
        if isinstance(statement, Compute):
            target = Access(statement.target.buffer, _index(buffers[statement.target.buffer], statement.target.index))
            statement = changed(statement, target=target)
        return (statement,)

    return transform(block, one)


def _index(buffer: Buffer, index: tuple[Lin, ...]) -> tuple[Lin, ...]:
    """An index; the only one of a buffer with one element is 0."""
    is_single = all(extent.is_const and extent.const <= 1 for extent in buffer.shape)
    return (Lin(0),) * len(buffer.shape) if is_single else index


def _form(buffers: Mapping[str, Buffer], node: Expr) -> Expr | None:
    """The canonical form of an expression whose operands are canonical; None if it is its own."""
    if isinstance(node, Int):
        terms = (
            Lin.symbol(atom if isinstance(atom, str) else cast(atom, INT)).scaled(c) for atom, c in node.value.terms
        )
        return _expression(sum(terms, Lin(node.value.const)))
    if isinstance(node, Read):
        buffer = buffers[node.buffer]
        read = Read(node.buffer, _index(buffer, node.index), buffer.dtype)
        return read if buffer.dtype == node.dtype else Op("cast", (read,), node.dtype)
    if not isinstance(node, Op) or any(arg.dtype.kind not in "iu" for arg in node.args):
        return None
    if len({arg.dtype for arg in node.args}) > 1:
        return _alike(node)
    return _linear(node.name, *map(as_linear, node.args)) if node.dtype == node.args[0].dtype == INT else None


def _alike(node: Op) -> Op | None:
    """An operator on integers of several dtypes, with the conversions that C++ would do by itself."""
    if not OPERATIONS[node.name].infix:
        return None
    common = np.result_type(*(arg.dtype for arg in node.args))
    return Op(node.name, tuple(cast(arg, common) for arg in node.args), node.dtype)


def _linear(name: str, *forms: Lin) -> Expr | None:
    """The result of an operation on linear forms, if it is linear."""
    if name == "add":
        return _expression(forms[0] + forms[1])
    if name == "subtract":
        return _expression(forms[0] - forms[1])
    if name == "multiply" and any(form.is_const for form in forms):
        factor, form = sorted(forms, key=lambda form: not form.is_const)
        return _expression(form.scaled(factor.const))
    return None


def _expression(form: Lin) -> Expr:
    if form.is_const:
        return Const(form.const, INT)
    (atom, factor), *others = form.terms
    is_alone = not others and not form.const and factor == 1
    return atom if is_alone and isinstance(atom, Expr) and atom.dtype == INT else Int(form)
