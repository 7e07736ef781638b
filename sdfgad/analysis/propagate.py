"""Replaces scalars that only name a cheap expression of values that never change.

An index ``idx[i]`` or a condition ``s[0] > 1`` is fixed in a scalar when it is evaluated, because its array might
change before it is used. Where the array never changes, the scalar is not needed, and neither is its residual.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sdfgad.ir.expr import Const, Expr, Int, Op, Read, postorder, reads
from sdfgad.ir.program import (
    Block,
    Branch,
    Compute,
    Loop,
    Program,
    Statement,
    reads_of,
    rewrite_statement,
    transform,
    walk,
    writes_of,
)

ARITHMETIC = ("add", "subtract", "multiply", "negative", "floor_divide", "remainder", "maximum", "minimum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
CHEAP = {*ARITHMETIC, *COMPARISONS, "cast", "wrap", "select", "logical_and", "logical_or", "logical_not"}


def propagate_scalars(program: Program) -> Program:
    """The program without such scalars."""
    written = Counter(access.buffer for statement in walk(program.body) for access, _ in writes_of(statement))
    kept = {*program.inputs, *program.outputs.values(), "status"}
    constant = {name for name in program.inputs if name not in written}
    once = {name for name, count in written.items() if count == 1} - kept
    return program.with_body(_block(program.body, constant, once, _uses(program.body)))


def _uses(block: Block) -> Counter[str]:
    return Counter(name for s in walk(block) for name in {r.buffer for r in reads_of(s)})


def _block(block: Block, constant: set[str], once: set[str], total: Counter[str]) -> Block:
    rest, result = list(block), list[Statement]()
    while rest:
        statement = rest.pop(0)
        if _is_name(statement, constant, once):
            assert isinstance(statement, Compute)
            buffer = statement.target.buffer
            if _uses(tuple(rest))[buffer] == total[buffer]:
                rest = list(_replaced(tuple(rest), buffer, statement.value))
                continue
        result.append(_nested(statement, constant, once, total))
    return tuple(result)


def _nested(statement: Statement, constant: set[str], once: set[str], total: Counter[str]) -> Statement:
    if isinstance(statement, Loop):
        return replace(statement, body=_block(statement.body, constant, once, total))
    if isinstance(statement, Branch):
        then = _block(statement.then, constant, once, total)
        return replace(statement, then=then, orelse=_block(statement.orelse, constant, once, total))
    return statement


def _is_name(statement: Statement, constant: set[str], once: set[str]) -> bool:
    """Whether a statement gives a scalar, once, a cheap value that never changes."""
    if not isinstance(statement, Compute) or statement.params or statement.accumulate:
        return False
    if statement.target.index or statement.target.buffer not in once or statement.value.dtype.kind in "fc":
        return False
    is_cheap = all(
        isinstance(node, (Const, Int, Read)) or (isinstance(node, Op) and node.name in CHEAP)
        for node in postorder(statement.value)
    )
    return is_cheap and all(read.buffer in constant for read in reads(statement.value))


def _replaced(block: Block, buffer: str, value: Expr) -> Block:
    def named(node: Expr) -> Expr | None:
        return value if isinstance(node, Read) and node.buffer == buffer else None

    return transform(block, lambda s: (rewrite_statement(s, replace_node=named),))
