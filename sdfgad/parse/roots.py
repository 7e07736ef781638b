"""Lengths of vectors: square roots of sums of squares, such as ``np.sqrt(u**2 + v**2)`` of a flow that starts at rest.

The derivative of a square root at 0 is infinite, and that of the squares is 0: their product is NaN. But the length of
a vector has a smallest subgradient there, 0, as `np.linalg.norm` and `np.hypot` have it: so have these roots.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Expr, Op, Rewriter
from sdfgad.ir.program import Block, Program, Statement, rewrite_statement, transform
from sdfgad.ir.squares import is_positive, is_sum_of_squares, sums_of_squares


def lengths_of_vectors(program: Program) -> Program:
    """The program with its square roots of sums of squares as such, unless a constant keeps them from being 0."""
    squares = sums_of_squares(program)

    def length(node: Expr) -> Expr | None:
        if not (isinstance(node, Op) and node.name == "sqrt" and is_sum_of_squares(node.args[0], squares)):
            return None
        return None if is_positive(node.args[0]) else Op("root_of_squares", node.args, node.dtype)

    rewriter = Rewriter({}, length)

    def each(statement: Statement) -> Block:
        return (rewrite_statement(statement, rewriter=rewriter),)

    return replace(program, body=transform(program.body, each))
