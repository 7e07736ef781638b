"""Select merging: the sum of two selects by the same condition becomes one select.

Where a program replaces the elements that a mask names, the adjoints are ``select(m, 0, y) + select(m, x, 0)``: that is
``select(m, x, y)``. Nothing but the sign of a zero may change.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Expr, Op, Read, Rewriter
from sdfgad.ir.program import Block, Compute, Program, Statement, transform
from sdfgad.rules.algebra import add, is_const, select


def join_selects(program: Program) -> Program:
    """The program with such sums merged."""
    joined = Rewriter({}, _joined)

    def visit(statement: Statement) -> Block:
        if not isinstance(statement, Compute):
            return (statement,)
        made = replace(statement, value=joined(statement.value))
        return () if _changes_nothing(made) else (made,)

    return program.with_body(transform(program.body, visit))


def _joined(node: Expr) -> Expr | None:
    """A sum of two selects as one, if at most one of them is nonzero on one of the sides."""
    if not (isinstance(node, Op) and node.name == "add" and all(_is_choice(term) for term in node.args)):
        return None
    (condition, *first), (other, *second) = (term.children for term in node.args)
    sides = list(zip(first, second, strict=True))
    if condition is not other or not any(is_const(x, 0) or is_const(y, 0) for x, y in sides):
        return None
    yes, no = (_sum(x, y) for x, y in sides)
    return select(condition, yes, no)


def _changes_nothing(statement: Compute) -> bool:
    """Whether a statement assigns each element to itself."""
    value, target = statement.value, statement.target
    is_same = isinstance(value, Read) and (value.buffer, value.index) == (target.buffer, target.index)
    return is_same and statement.accumulate is None


def _sum(x: Expr, y: Expr) -> Expr:
    return y if is_const(x, 0) else x if is_const(y, 0) else add(x, y)


def _is_choice(term: Expr) -> bool:
    return isinstance(term, Op) and term.name == "select" and term.dtype.kind in "fc"
