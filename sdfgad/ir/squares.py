"""Sums of squares: values that are never negative, and whose square root is the length of a vector."""

from __future__ import annotations

from collections.abc import Set

from sdfgad.ir.expr import Const, Expr, Op, Read
from sdfgad.ir.program import Compute, Program, walk, writes_of


def is_sum_of_squares(node: Expr, buffers: Set[str] = frozenset()) -> bool:
    """Whether a real expression is a sum of squares and of non-negative constants.

    `buffers`: those that hold nothing but such sums.
    """
    if isinstance(node, Const):
        return isinstance(node.value, (int, float)) and node.value >= 0
    if isinstance(node, Read):
        return node.buffer in buffers
    if not isinstance(node, Op) or node.dtype.kind != "f":
        return False
    if node.name == "add":
        return all(is_sum_of_squares(term, buffers) for term in node.args)
    if node.name in ("multiply", "divide") and node.args[0] is not node.args[1]:
        return _is_scaled(node, buffers)
    is_even_power = node.name == "power" and isinstance(node.args[1], Const) and node.args[1].value == 2
    return node.name == "square" or is_even_power or node.name == "multiply"


def _is_scaled(node: Op, buffers: Set[str]) -> bool:
    """Whether a product or a quotient is a sum of squares times a non-negative constant."""
    factors = node.args if node.name == "multiply" else node.args[1:]
    others = [factor for factor in node.args if not isinstance(factor, Const)]
    scales = [factor for factor in factors if isinstance(factor, Const)]
    is_positive = all(isinstance(scale.value, (int, float)) and scale.value >= 0 for scale in scales)
    return len(scales) == len(others) == 1 and is_positive and is_sum_of_squares(others[0], buffers)


def is_positive(node: Expr) -> bool:
    """Whether a sum of squares has a positive constant among its terms."""
    if isinstance(node, Const):
        return bool(node.value > 0)
    return isinstance(node, Op) and node.name == "add" and any(map(is_positive, node.args))


def sums_of_squares(program: Program) -> frozenset[str]:
    """The buffers of a program that hold nothing but sums of squares, however often they are written."""
    found = {name for name, buffer in program.buffers.items() if buffer.dtype.kind == "f"} - set(program.inputs)
    while True:
        others = set[str]()
        for statement in walk(program.body):
            if not (isinstance(statement, Compute) and _keeps(statement, found)):
                others |= {access.buffer for access, _ in writes_of(statement)}
        if found.isdisjoint(others):
            return frozenset(found)
        found -= others


def _keeps(statement: Compute, buffers: Set[str]) -> bool:
    return statement.accumulate in (None, "add") and is_sum_of_squares(statement.value, buffers)
