"""Removal of stop-gradients: once a program has been differentiated, values are all that counts."""

from __future__ import annotations

from sdfgad.ir.expr import Expr, Op, Rewriter, postorder
from sdfgad.ir.program import Program, computes, rewrite_statement, transform


def drop_held(program: Program) -> Program:
    """The program with the operand in the place of each operation that only ends derivatives."""
    if not any(_value(node) for s in computes(program.body) for node in postorder(s.value)):
        return program
    rewriter = Rewriter({}, _value)
    return program.with_body(transform(program.body, lambda s: (rewrite_statement(s, rewriter=rewriter),)))


def _value(node: Expr) -> Expr | None:
    return node.args[0] if isinstance(node, Op) and node.name == "held" else None
