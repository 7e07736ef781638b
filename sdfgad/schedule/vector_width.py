"""Vector width: which loop nests are faster with the processor's longest vectors than with GCC's preferred ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Expr, Lin, Op, postorder
from sdfgad.ir.ops import OPERATIONS, Cost
from sdfgad.ir.program import Block, Compute, Loop, computes, walk
from sdfgad.schedule.loop_order import order_of
from sdfgad.schedule.target import cpu

# Operations per point: with fewer the loop is memory-bound (roofline model).
MUCH = 3


def is_wide(block: Block) -> bool:
    """Whether a block consists of long loops of additions and multiplications, without reductions over points."""
    found = [trips.const if trips.is_const else -1 for trips in _innermost(block)]
    if not any(trips >= cpu().long_trips for trips in found) or not all(
        trips >= cpu().long_trips or 0 <= trips < cpu().short_trips for trips in found
    ):
        return False
    statements = [s for s in walk(block) if isinstance(s, Compute)]
    return all(map(_is_plain, statements)) and any(len(_operations(s.value)) >= MUCH for s in statements)


def calls_vector_functions(block: Block) -> bool:
    """Whether a block calls vectorised functions such as exp: they support all vector lengths and dominate the time."""
    return any(_has_vector_function(statement.value) for statement in computes(block))


@lru_cache(maxsize=4096)
def _has_vector_function(value: Expr) -> bool:
    return any(isinstance(node, Op) and OPERATIONS[node.name].is_vectorised for node in postorder(value))


def is_plain_arithmetic(value: Expr) -> bool:
    """Whether all operations of a value are of cost `PLAIN`: two vector instructions per cycle, of any length."""
    return all(OPERATIONS[node.name].cost is Cost.PLAIN for node in _operations(value))


def _innermost(block: Block) -> Iterator[Lin]:
    """The trip counts of the innermost loops."""
    for statement in walk(block):
        if isinstance(statement, Compute) and statement.params:
            order = order_of(statement)
            yield dict(statement.params)[(*order.outer, *order.inner)[-1]]
        elif isinstance(statement, Loop) and any(isinstance(s, Compute) and not s.params for s in statement.body):
            yield statement.trips


def _operations(value: Expr) -> list[Op]:
    """The operations of a value, without those in indices: loops are split so that these go (`splitting`)."""
    return [node for node in postorder(value, without=value.reads) if isinstance(node, Op)]


def _is_plain(statement: Compute) -> bool:
    is_sum = len(own_params(statement)) < len(statement.params)
    is_real = statement.value.dtype.kind == "f"
    return is_real and not is_sum and is_plain_arithmetic(statement.value)
