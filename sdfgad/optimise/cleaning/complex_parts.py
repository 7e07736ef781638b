"""Strength reduction of complex functions to real ones: phases, and squares of absolute values.

``exp(-0.5j * dt * x)`` of a real `x`, as propagators and Fourier sums have it, would compute the exponential of a zero,
too, and its adjoint would multiply complex numbers. As ``complex(cos(y), sin(y))`` it takes two functions of real
numbers, and so does its adjoint. ``abs(z) ** 2`` is the sum of two squares, without a root by which the adjoint would
divide. Where such a value is compared, it stays as it is: rounded otherwise, it might be on another side.
"""

from __future__ import annotations

import numpy as np

from sdfgad.ir.expr import Const, Expr, Op, cast, postorder, reads
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Branch, Compute, Program, Statement, computes, rewrite_statement, transform, walk
from sdfgad.rules.algebra import add, call, mul, neg

# Of two operands that both lie on one axis, the result lies on it, too.
LINEAR = ("add", "subtract")


def split_complex(program: Program) -> Program:
    """The program with functions of real numbers in place of such functions."""
    compared = _compared(program)

    def split(statement: Statement) -> Block:
        statement = rewrite_statement(statement, replace_node=_phase)
        if (
            isinstance(statement, Compute)
            and statement.target.buffer not in compared
            and not _compares(statement.value)
        ):
            statement = rewrite_statement(statement, replace_node=_squared_length)
        return (statement,)

    return program.with_body(transform(program.body, split))


def _phase(node: Expr) -> Expr | None:
    if not isinstance(node, Op) or node.name != "exp" or node.dtype.kind != "c":
        return None
    y = _imaginary(node.args[0])
    return None if y is None else Op("complex", (call("cos", y), call("sin", y)), node.dtype)


def _squared_length(node: Expr) -> Expr | None:
    if not isinstance(node, Op) or node.name != "square":
        return None
    (length,) = node.args
    if not isinstance(length, Op) or length.name != "absolute" or length.args[0].dtype.kind != "c":
        return None
    (z,) = length.args
    return add(*(call("square", Op(part, (z,), node.dtype)) for part in ("real", "imag")))


def _compared(program: Program) -> set[str]:
    """The buffers whose elements decide something."""
    values = [s.value for s in computes(program.body) if _compares(s.value)]
    conditions = [s.condition for s in walk(program.body) if isinstance(s, Branch)]
    return {read.buffer for one in (*values, *conditions) for read in reads(one)}


def _compares(value: Expr) -> bool:
    return any(isinstance(node, Op) and OPERATIONS[node.name].is_comparison for node in postorder(value))


def _imaginary(node: Expr) -> Expr | None:
    """The imaginary part of a complex value whose real part is zero wherever it is finite; None if it need not be."""
    if isinstance(node, Const):
        return Const(node.value.imag, _part(node)) if node.value.real == 0 else None
    if not isinstance(node, Op):
        return None
    if node.name in ("negative", "conjugate"):
        y = _imaginary(node.args[0])
        return None if y is None else neg(y)
    if node.name in LINEAR:
        return _of_both(node, _imaginary(node.args[0]), _imaginary(node.args[1]))
    if node.name not in ("multiply", "divide"):
        return None
    a, b = node.args
    y = _of_both(node, _imaginary(a), _real(b))
    return y if y is not None or node.name == "divide" else _of_both(node, _real(a), _imaginary(b))


def _real(node: Expr) -> Expr | None:
    """The real part of a complex value whose imaginary part is zero wherever it is finite; None if it need not be."""
    if isinstance(node, Const):
        return Const(node.value.real, _part(node)) if node.value.imag == 0 else None
    if not isinstance(node, Op):
        return None
    if node.name == "cast":
        return cast(node.args[0], _part(node)) if node.args[0].dtype.kind in "biuf" else None
    if node.name in ("negative", "conjugate"):
        x = _real(node.args[0])
        return x if x is None or node.name == "conjugate" else neg(x)
    if node.name not in (*LINEAR, "multiply", "divide"):
        return None
    x = _of_both(node, _real(node.args[0]), _real(node.args[1]))
    if x is not None or node.name != "multiply":
        return x
    a, b = map(_imaginary, node.args)
    return None if a is None or b is None else neg(mul(a, b))


def _of_both(node: Op, a: Expr | None, b: Expr | None) -> Expr | None:
    """The same operation on two real numbers, if there are both."""
    if a is None or b is None:
        return None
    return mul(a, b) if node.name == "multiply" else Op(node.name, (a, b), a.dtype)


def _part(node: Expr) -> np.dtype[np.generic]:
    """The dtype of a complex value's parts."""
    return np.empty(0, node.dtype).real.dtype
