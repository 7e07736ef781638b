"""Removal of what only carries derivatives: once a program has been differentiated, values are all that counts."""

from __future__ import annotations

from sdfgad.ir.expr import Expr, Op, Rewriter, postorder
from sdfgad.ir.ops import WITHIN
from sdfgad.ir.program import Program, computes, rewrite_statement, transform

CARRIERS = frozenset({"held", *WITHIN, *WITHIN.values()})


def drop_carriers(program: Program) -> Program:
    """The program with the value in the place of each operation that keeps or gives a derivative."""
    if not any(isinstance(n, Op) and n.name in CARRIERS for s in computes(program.body) for n in postorder(s.value)):
        return program
    rewriter = Rewriter({}, _value)
    return program.with_body(transform(program.body, lambda s: (rewrite_statement(s, rewriter=rewriter),)))


def _value(node: Expr) -> Expr | None:
    return node.args[0] if isinstance(node, Op) and node.name in CARRIERS else None
