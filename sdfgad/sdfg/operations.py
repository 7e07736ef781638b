"""Elementary operations on operands of any dtypes, as NumPy promotes them, and integer forms of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op
from sdfgad.ir.ops import OPERATIONS, Result
from sdfgad.sdfg.functions import ON_INTEGERS

FLOAT = np.dtype(np.float64)


def applied(name: str, args: list[Expr]) -> Expr:
    """An operation that a function of `math` or NumPy is: on operands of one dtype, floats where it has to be."""
    operands = alike(*args)
    if operands[0].dtype.kind in "biu" and name not in ON_INTEGERS:
        operands = tuple(converted(arg, FLOAT) for arg in operands)
    return operation(name, *operands)


def power(base: Expr, exponent: Expr) -> Expr:
    """``base ** exponent``; small constant exponents are products and roots, as NumPy has them.

    Raises:
        UnsupportedGraph: of integers, with an exponent that is not certainly positive.
    """
    is_number = isinstance(exponent, Const) and exponent.dtype.kind in "if"
    if base.dtype.kind in "fc" and is_number:
        short = SHORT_POWERS.get(float(exponent.value))  # type: ignore[attr-defined]
        if short is not None:
            return short(base)
    operands = alike(base, exponent)
    if operands[0].dtype.kind in "biu" and not (is_number and exponent.value >= 0):  # type: ignore[attr-defined]
        raise UnsupportedGraph("an integer to a power that may be negative", todo="Convert it to a float before.")
    return operation("power", *operands)


SHORT_POWERS: dict[float, Callable[[Expr], Expr]] = {
    1.0: lambda x: x,
    2.0: lambda x: operation("square", x),
    3.0: lambda x: operation("multiply", operation("square", x), x),
    4.0: lambda x: operation("square", operation("square", x)),
    0.5: lambda x: operation("sqrt", x),
    -1.0: lambda x: operation("reciprocal", x),
}


def truth(value: Expr) -> Expr:
    """A number as a condition."""
    if value.dtype == BOOL:
        return value
    return operation("not_equal", value, Const(0, value.dtype))


def operation(name: str, *args: Expr) -> Expr:
    """The expression for an operation; one on integers that is linear in symbols is an integer form."""
    if all(isinstance(arg, (Int, Const)) and arg.dtype == INT for arg in args):
        found = _linear_operation(name, [linear(arg) for arg in args])
        if found is not None:
            return Const(found.const, INT) if found.is_const else Int(found)
    return Op(name, args, result_dtype(name, args))


def result_dtype(name: str, args: Sequence[Expr]) -> np.dtype[Any]:
    """The dtype of an operation's result, for operands of the dtypes that its C++ takes."""
    result, dtype = OPERATIONS[name].result, args[0].dtype
    if result is Result.TRUTH:
        return BOOL
    if result is Result.CHOSEN:
        return args[1].dtype
    if result is Result.PART and dtype.kind == "c":
        return np.empty(0, dtype).real.dtype
    if result is Result.COMPLEX:
        return np.result_type(dtype, np.complex64)
    return dtype


def linear(value: Expr) -> Lin:
    """An expression as an integer form, with its nonlinear parts as atoms."""
    if isinstance(value, Int):
        return value.value
    if isinstance(value, Const):
        return Lin(int(value.value))
    if isinstance(value, Op) and value.dtype == INT:
        found = _linear_operation(value.name, [linear(arg) for arg in value.args])
        if found is not None:
            return found
    return Lin.symbol(value)


def _linear_operation(name: str, args: list[Lin]) -> Lin | None:
    if name == "negative":
        return -args[0]
    if name == "add":
        return args[0] + args[1]
    if name == "subtract":
        return args[0] - args[1]
    if name == "multiply" and any(arg.is_const for arg in args):
        factor, form = args if args[0].is_const else args[::-1]
        return form.scaled(factor.const)
    return None


def alike(*args: Expr) -> tuple[Expr, ...]:
    """Operands as NumPy converts them; the writer's agree already. Numbers in the text give way to other dtypes, if
    these hold them; symbols are of 64 bits."""
    if len({arg.dtype for arg in args}) == 1:
        return args
    kinds = [arg.dtype for arg in args if not (isinstance(arg, (Const, Int)) and arg.dtype == INT)]
    dtype = np.result_type(*kinds)
    if dtype.kind in "biu" and not all(_holds(dtype, arg) for arg in args):
        dtype = np.result_type(dtype, INT)
    return tuple(converted(arg, dtype) for arg in args)


def _holds(dtype: np.dtype[Any], arg: Expr) -> bool:
    """Whether an integer dtype holds what an operand may be."""
    if arg.dtype != INT or dtype == INT:
        return True
    is_number = isinstance(arg, Const) and dtype.kind != "b"
    return is_number and np.iinfo(dtype).min <= arg.value <= np.iinfo(dtype).max  # type: ignore[attr-defined]


def converted(arg: Expr, dtype: np.dtype[Any]) -> Expr:
    """An expression converted to a dtype; a constant stays a constant."""
    if arg.dtype == dtype:
        return arg
    if isinstance(arg, Const):
        # What the dtype cannot hold is converted where the program runs.
        with suppress(OverflowError, ValueError), np.errstate(all="ignore"):
            return Const(dtype.type(arg.value).item(), dtype)
    return Op("cast", (arg,), dtype)
