"""Work estimates: the number of elementary operations of statements, and whether it is enough for threads."""

from __future__ import annotations

import math

from sdfgad.ir.expr import Const, Expr, Op, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop
from sdfgad.schedule.target import cpu

# Additional operations per point of a reduction by extremum, which checks for NaN.
EXTREMUM_WORK = {"maximum": 3, "minimum": 3}
# The trips of a sequential loop whose number is known at run time only, or is data: most are loops over time.
UNKNOWN_TRIPS = 16


def work_of(block: Block) -> int:
    """The number of elementary operations; an unknown extent counts as 1."""
    total = 0
    for statement in block:
        if isinstance(statement, Compute):
            size = sum(map(_weight, postorder(statement.value))) + EXTREMUM_WORK.get(statement.accumulate or "", 0)
            for _, extent in statement.params:
                size *= max(extent.const, 0) if extent.is_const else 1
            total += size
        elif isinstance(statement, Loop):
            total += work_of(statement.body) * _trips(statement)
        elif isinstance(statement, Call):
            total += _work_of_call(statement)
        elif isinstance(statement, Branch):
            total += work_of(statement.then) + work_of(statement.orelse)
    return total


def _trips(loop: Loop) -> int:
    if loop.trips.is_const:
        return max(loop.trips.const, 0)
    return 1 if loop.is_parallel else UNKNOWN_TRIPS


def is_worth_threads(block: Block, speed: int = 1) -> bool:
    """Whether a block has enough work for threads; `speed` is how many times faster than usual its operations are."""
    return work_of(block) >= speed * cpu().parallel_work


def _weight(node: Expr) -> int:
    """The number of real operations of a node: more for complex numbers, of which a load counts as two."""
    if node.dtype.kind != "c":
        return 1
    return OPERATIONS[node.name].complex_work if isinstance(node, Op) else 2


def _work_of_call(call: Call) -> int:
    """An estimate as for a matrix product: the elements of the largest buffer times the largest number of columns."""
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
