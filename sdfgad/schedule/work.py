"""Work estimates: the elementary operations of statements, and how many of them are worth threads."""

from __future__ import annotations

import math

from sdfgad.ir.expr import Const, Expr, Op, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop

# What finds an extremum looks for NaN, too: elementary operations for each point.
EXTREMUM = {"maximum": 3, "minimum": 3}
# In elementary operations: from so many on, threads share a loop.
PARALLEL_WORK = 1 << 20


def work_of(block: Block) -> int:
    """Elementary operations, as far as sizes are known; an unknown extent or number of trips counts as 1."""
    total = 0
    for statement in block:
        if isinstance(statement, Compute):
            size = sum(map(_weight, postorder(statement.value))) + EXTREMUM.get(statement.accumulate or "", 0)
            for _, extent in statement.params:
                size *= max(extent.const, 0) if extent.is_const else 1
            total += size
        elif isinstance(statement, Loop):
            total += work_of(statement.body) * (max(statement.trips.const, 0) if statement.trips.is_const else 1)
        elif isinstance(statement, Call):
            total += _work_of_call(statement)
        elif isinstance(statement, Branch):
            total += work_of(statement.then) + work_of(statement.orelse)
    return total


def is_much(block: Block, speed: int = 1) -> bool:
    """Whether a block has enough work for threads, if its operations are faster than usual by the factor `speed`."""
    return work_of(block) >= speed * PARALLEL_WORK


def _weight(node: Expr) -> int:
    """Operations on real numbers: those on complex ones are several, and reading such a number is two."""
    if node.dtype.kind != "c":
        return 1
    return OPERATIONS[node.name].complex_work if isinstance(node, Op) else 2


def _work_of_call(call: Call) -> int:
    """As of a product of matrices: for each element of the largest buffer one more for each column."""
    sizes = [math.prod(extent.const for extent in whole.shape) for whole in (*call.inputs, *call.outputs)]
    return max(sizes) * max((whole.shape[-1].const for whole in call.inputs if whole.shape), default=1)


def is_small_power(node: Op) -> bool:
    return node.name == "power" and small_integer(node.args[1]) is not None


def small_integer(exponent: Expr) -> int | None:
    """The value of a constant complex exponent if it is a small integer: NumPy computes such powers by products."""
    if exponent.dtype.kind != "c":
        return None
    parts = exponent.args if isinstance(exponent, Op) and exponent.name == "subtract" else (exponent,)
    if not all(isinstance(part, Const) for part in parts):
        return None
    first, *rest = (part.value for part in parts if isinstance(part, Const))
    value = first - rest[0] if rest else first
    is_small = value.imag == 0 and abs(value.real) < 100 and value.real == int(value.real)
    return int(value.real) if is_small else None
