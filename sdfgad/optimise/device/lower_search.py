"""Lowering of binary search: each value is a thread, which halves the sorted array step by step."""

from __future__ import annotations

from collections.abc import Iterator

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear
from sdfgad.ir.program import Block, Loop, Statement, Whole
from sdfgad.optimise.device.call_steps import CallSteps, at, choose


def lower_search(steps: CallSteps) -> Iterator[Statement]:
    """``np.searchsorted``: the place is a sum of powers of two, the largest of which is found first."""
    (table, values), (found,) = steps.call.inputs, steps.call.outputs
    count, _, right = steps.call.sizes
    params = steps.params(values.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    place = steps.new("place", (), INT)
    here, value = at(place, ()), at(values, index)
    body: list[Statement] = [steps.one(place, (), Const(0, INT))]
    for power in reversed(range(count.bit_length())):
        last = as_linear(here) + ((1 << power) - 1)
        is_there = Op("less", (Int(last), Int(Lin(count))), BOOL)
        is_before = _is_before(table, last, value, right=bool(right))
        step = choose(is_there, choose(is_before, Const(1 << power, INT), Const(0, INT)), Const(0, INT))
        body.append(steps.one(place, (), Op("add", (here, step), INT)))
    block: Block = (*body, steps.one(found, index, here))
    for name, extent in reversed(params):
        block = (Loop.over(name, extent, block, steps.call.where, is_parallel=True),)
    yield from block


def _is_before(table: Whole, last: Lin, value: Expr, *, right: bool) -> Expr:
    """Whether an element is before the place of a value, which is after equal ones if it is on their right."""
    element = at(table, (last,))
    return Op("logical_not", (is_less(value, element),), BOOL) if right else is_less(element, value)


def is_less(a: Expr, b: Expr) -> Expr:
    """NumPy's order: what is not a number comes last."""
    is_less = Op("less", (a, b), BOOL)
    if a.dtype.kind != "f":
        return is_less
    a_is, b_is = (Op("isnan", (one,), BOOL) for one in (a, b))
    is_last = Op("logical_and", (b_is, Op("logical_not", (a_is,), BOOL)), BOOL)
    return Op("logical_or", (is_less, is_last), BOOL)
