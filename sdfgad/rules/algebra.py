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


def select(condition: Expr, x: Expr, y: Expr) -> Expr:
    return x if x is y else Op("select", (condition, x, y), x.dtype)


def compare(name: str, x: Expr, y: Expr) -> Expr:
    return Op(name, (x, y), BOOL)


def cast(x: Expr, dtype: np.dtype[Any]) -> Expr:
    if isinstance(x, Const):
        return Const(x.value, dtype)
    return x if x.dtype == dtype else Op("cast", (x,), dtype)
