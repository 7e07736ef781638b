"""Arithmetic on expressions for rules; products with 1 and 0 are simplified away."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, Const, Expr, Op


def const(value: Any, like: Expr) -> Const:
    return Const(value, like.dtype)


def is_const(x: Expr, value: float) -> bool:
    return isinstance(x, Const) and x.value == value


def add(x: Expr, y: Expr) -> Expr:
    return Op("add", (x, y), x.dtype)


def sub(x: Expr, y: Expr) -> Expr:
    return Op("subtract", (x, y), x.dtype)


def mul(x: Expr, y: Expr) -> Expr:
    if is_const(x, 1) or is_const(y, 1):
        return y if is_const(x, 1) else x
    if is_const(x, -1) or is_const(y, -1):
        return neg(y if is_const(x, -1) else x)
    return Op("multiply", (x, y), x.dtype)


def div(x: Expr, y: Expr) -> Expr:
    return x if is_const(y, 1) else Op("divide", (x, y), x.dtype)


def neg(x: Expr) -> Expr:
    if isinstance(x, Op) and x.name == "negative":
        return x.args[0]
    return Op("negative", (x,), x.dtype)


def call(name: str, *args: Expr) -> Expr:
    return Op(name, args, args[0].dtype)


DISTRIBUTED = ("add", "subtract", "multiply", "negative", "divide", "square")


def conjugate(x: Expr) -> Expr:
    """The complex conjugate; inside of products and sums, so that those stay what they are."""
    if x.dtype.kind != "c":
        return x
    if isinstance(x, Const):
        return Const(x.value.conjugate(), x.dtype)
    if isinstance(x, Op) and x.name == "conjugate":
        return x.args[0]
    if isinstance(x, Op) and x.name in DISTRIBUTED:
        return Op(x.name, tuple(map(conjugate, x.args)), x.dtype)
    if isinstance(x, Op) and x.name == "select":
        return Op("select", (x.args[0], conjugate(x.args[1]), conjugate(x.args[2])), x.dtype)
    return Op("conjugate", (x,), x.dtype)


def part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a complex number's parts; a real dtype itself."""
    return np.empty(0, dtype).real.dtype


def real(x: Expr) -> Expr:
    return Op("real", (x,), part_dtype(x.dtype)) if x.dtype.kind == "c" else x


def imag(x: Expr) -> Expr:
    return Op("imag", (x,), part_dtype(x.dtype))


def complex_of(x: Expr, y: Expr) -> Expr:
    """``x + iy``."""
    return Op("complex", (x, y), np.result_type(x.dtype, np.complex64))


def select(condition: Expr, x: Expr, y: Expr) -> Expr:
    """`x` where the condition holds, else `y`; of a choice by the same condition in `y` only its other side counts."""
    if isinstance(y, Op) and y.name == "select" and y.args[0] is condition:
        return select(condition, x, y.args[2])
    return x if x is y else Op("select", (condition, x, y), x.dtype)


def compare(name: str, x: Expr, y: Expr) -> Expr:
    return Op(name, (x, y), BOOL)


def strong(t: Expr, value: Expr) -> Expr:
    """A value that is linear in a cotangent `t`, and exactly 0 where that is, whatever its factors are."""
    return value if value is t else select(_vanishing(t), const(0, value), value)


def _vanishing(t: Expr) -> Expr:
    # What follows negates or conjugates `t` again, and two of these are none.
    while isinstance(t, Op) and t.name in ("negative", "conjugate"):
        t = t.args[0]
    return compare("vanishes", t, const(0, t))


def is_vanishing(condition: Expr, t: Expr) -> bool:
    """Whether a condition is that of a strong zero, `strong(t, …)`."""
    return isinstance(condition, Op) and condition.name == "vanishes" and condition.args[0] is t


def cast(x: Expr, dtype: np.dtype[Any]) -> Expr:
    if isinstance(x, Const):
        return Const(x.value, dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = real(x)
    return x if x.dtype == dtype else Op("cast", (x,), dtype)
