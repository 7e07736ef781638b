"""Strength reduction of divisions: of two divisions of each term by one number, one is done once, on the sum of terms.

The adjoint of a divisor that many quotients share is ``d_bar += select(g[p] == 0, 0, -((g[p] / d) * (y[p] / d)))``. One
of the two divisions moves from the terms to the sum: ``r += select(…, -((g[p] / d) * y[p]))``, and then
``d_bar += r / d``. The other one stays, so that a divisor of 0 still makes the sum infinite or NaN. A sum that is 0 is
not divided: if the divisor is 0, all terms were excluded by their condition, and the result must be 0, not 0 / 0.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import BOOL, Const, Expr, Int, Op, Read, postorder, symbols_in, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    reads_of,
    transform,
    written,
)
from sdfgad.optimise.names import names_of

# Of fewer terms there is nothing to gain.
LEAST = 8


def divide_late(program: Program) -> Program:
    """The program with such divisions after the loops."""
    dividing = _Dividing(dict(program.buffers), names_of(program))
    body = transform(program.body, dividing.statement)
    return replace(program, buffers=dividing.buffers, body=body)


class _Dividing:
    def __init__(self, buffers: dict[str, Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or not statement.is_parallel or not _is_long(statement):
            return (statement,)
        before, body, after = list[Statement](), list[Statement](), list[Statement]()
        for one in statement.body:
            found = _divided(one, statement) if isinstance(one, Compute) else None
            if found is None:
                body.append(one)
                continue
            assert isinstance(one, Compute)
            clear, add, divide = self.apart(one, *found)
            before.append(clear)
            body.append(add)
            after.append(divide)
        return (*before, replace(statement, body=tuple(body)) if before else statement, *after)

    def apart(self, statement: Compute, value: Expr, divisor: Read) -> tuple[Compute, Compute, Compute]:
        """The clear of a new sum, the addition to it in the loop, and the division after the loop."""
        dtype, name = value.dtype, self.names.fresh("dividend")
        self.buffers[name] = Buffer(name, (), dtype)
        total, zero = Access(name), Const(0, dtype)
        read = total.read(dtype)
        quotient = Op("divide", (read, divisor), dtype)
        # Nothing but zeros has been added: that is to stay so, whatever the divisor.
        quotient = Op("select", (Op("equal", (read, zero), BOOL), zero, quotient), dtype)
        return (
            Compute((), total, zero, where=statement.where),
            replace(statement, target=total, value=value),
            replace(statement, value=quotient),
        )


def _is_long(loop: Loop) -> bool:
    return loop.trips.is_const and loop.trips.const >= LEAST


def _divided(statement: Compute, loop: Loop) -> tuple[Expr, Read] | None:
    """The terms of a sum without the division that moves, and the divisor; None if there is no such division."""
    target, dtype = statement.target, statement.value.dtype
    is_sum = not statement.params and statement.accumulate == "add" and not statement.fresh and dtype.kind == "f"
    if not is_sum or loop.var in symbols_in(target.index) or reads_of(replace(statement, value=Int(0))):
        return None
    others = [one for one in loop.body if one is not statement]
    if any(target.buffer in one.mentioned for one in others) or target.buffer in {
        r.buffer for r in reads_of(statement)
    }:
        return None
    found = _without(statement.value)
    return found if found is not None and _stays(found[1], loop) else None


def _stays(divisor: Read, loop: Loop) -> bool:
    """Whether a divisor is the same in all trips."""
    moves = loop.var in symbols_of(divisor) or {r.buffer for r in _reads(divisor)} & written(loop.body)
    return not moves


def _reads(value: Expr) -> list[Read]:
    return [node for node in postorder(value) if isinstance(node, Read)]


def _without(value: Expr, guards: tuple[Expr, ...] = ()) -> tuple[Expr, Read] | None:
    """A masked value that is divided twice by the same element, with one division removed, and that element.

    Args:
        guards: the conditions of the masks around it, under which it is 0.
    """
    if not isinstance(value, Op):
        return None
    if value.name == "multiply":
        return _of_product(value, guards) if guards else None
    if value.name != "negative" and not _is_guard(value):
        return None
    found = _without(value.args[-1], (*guards, value.args[0]) if _is_guard(value) else guards)
    return None if found is None else (Op(value.name, (*value.args[:-1], found[0]), value.dtype), found[1])


def _of_product(value: Op, guards: tuple[Expr, ...]) -> tuple[Expr, Read] | None:
    for one, other in (value.args, value.args[::-1]):
        if isinstance(one, Op) and one.name == "divide":
            dividend, divisor = one.args
            if isinstance(divisor, Read) and _is_quotient(other, divisor, guards):
                return Op("multiply", (dividend, other), value.dtype), divisor
    return None


def _is_quotient(value: Expr, divisor: Read, guards: tuple[Expr, ...]) -> bool:
    """Whether a value is divided by an element, and masked at most by the conditions that mask the whole product."""
    if not isinstance(value, Op):
        return False
    if _is_guard(value):
        return value.args[0] in guards and _is_quotient(value.args[2], divisor, guards)
    return value.name == "divide" and value.args[1] is divisor


def _is_guard(value: Op) -> bool:
    """Whether a select is 0 where its condition holds."""
    return value.name == "select" and isinstance(value.args[1], Const) and value.args[1].value == 0
