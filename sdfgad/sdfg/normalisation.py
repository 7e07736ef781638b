"""Loop normalisation: loops and maps of any step become loops of step 1 over the same body."""

from __future__ import annotations

from sdfgad.ir.expr import Int, Lin
from sdfgad.ir.program import Block, Loop, rewrite_statement, transform
from sdfgad.sdfg.operations import linear, operation


def downwards(var: str, least: Lin, span: Lin, step: int, first: Lin, body: Block) -> Loop:
    """A loop downwards from `first`."""
    if step == 1:
        return Loop(var, span, body, (), backward=True, start=least)
    return Loop(var, steps_in(span, step), with_symbols(body, {var: first - Lin.symbol(var).scaled(step)}), ())


def upwards(var: str, first: Lin, span: Lin, step: int, body: Block) -> Loop:
    """A loop upwards from `first`."""
    if step == 1:
        return Loop(var, span, body, (), start=first)
    return Loop(var, steps_in(span, step), with_symbols(body, {var: first + Lin.symbol(var).scaled(step)}), ())


def steps_in(span: Lin, step: int) -> Lin:
    """The number of steps in a span, rounded up."""
    if step == 1:
        return span
    if span.is_const:
        return Lin(-(-span.const // step))
    return linear(operation("floor_divide", Int(span + step - 1), Int(Lin(step))))


def with_symbols(body: Block, symbols: dict[str, Lin]) -> Block:
    """A block with forms for some symbols, in nested blocks, too."""
    return transform(body, lambda s: (rewrite_statement(s, symbols),))
