"""Python's own functions on numbers and arrays."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from sdfgad.frontend.builder import Builder
from sdfgad.frontend.functions.elementwise import elementwise, power
from sdfgad.frontend.registry import FUNCTIONS, Known, function
from sdfgad.frontend.values import Index, Tensor, as_tensor, astype, cast, is_integer, is_number
from sdfgad.ir.expr import INT, Int, Op
from sdfgad.ir.linear import Lin, as_linear


@function(builtins.len)
def len_(b: Builder, x: Any) -> Any:
    if not isinstance(x, Tensor):
        return len(x)
    return x.shape[0].const if x.shape[0].is_const else x.shape[0]


@function(builtins.abs, static=True)
def abs_(b: Builder, x: Any) -> Any:
    return elementwise(b, "absolute", x)


@function(builtins.sum, static=True)
def sum_(b: Builder, values: Any, start: Any = 0) -> Any:
    """Python's ``sum`` of a sequence, from left to right."""
    rows = values if isinstance(values, (tuple, list)) else _rows(b, values)
    total = start
    for value in rows:
        total = value if is_number(total) and total == 0 else elementwise(b, "add", total, value)
    return total


def _rows(b: Builder, x: Tensor) -> list[Any]:
    return [x.reindexed(x.shape[1:], partial(_at, k)) for k in range(b.constant(x.shape[0]))]


def _at(position: int, index: Index) -> Index:
    return (Lin(position), *index)


@function(builtins.divmod, static=True)
def divmod_(b: Builder, x: Any, y: Any) -> Any:
    if is_integer(x) and is_integer(y):
        return tuple(as_linear(Op(name, (Int(x), Int(y)), INT)) for name in ("floor_divide", "remainder"))
    return elementwise(b, "floor_divide", x, y), elementwise(b, "remainder", x, y)


@function(builtins.pow, static=True)
def pow_(b: Builder, base: Any, exponent: Any) -> Any:
    return power(b, base, exponent)


@function(builtins.max, static=True)
def max_(b: Builder, *values: Any) -> Any:
    return _extremum(b, values, "maximum")


@function(builtins.min, static=True)
def min_(b: Builder, *values: Any) -> Any:
    return _extremum(b, values, "minimum")


def _extremum(b: Builder, values: Any, name: str) -> Any:
    """Python's ``max`` or ``min`` of several scalars."""
    values = values[0] if len(values) == 1 and isinstance(values[0], (tuple, list)) else values
    result = values[0]
    for value in values[1:]:
        if is_integer(result) and is_integer(value):
            result = integer_extremum(b, result, value, name)
        else:
            result = elementwise(b, name, result, value)
    return result


def integer_extremum(b: Builder, x: Any, y: Any, name: str) -> Any:
    """The larger or smaller of two integers, simplified where it is provable which one it is."""
    difference = (Lin.of(x) - y) if name == "maximum" else (Lin.of(y) - x)
    if b.domain.implies(difference):
        return x
    if b.domain.implies(-difference):
        return y
    return as_linear(Op(name, (Int(x), Int(y)), INT))


@function(builtins.float, np.float64, np.float32, static=True)
def float_(b: Builder, x: Any) -> Any:
    return astype(as_tensor(x), np.dtype(np.float64))


FUNCTIONS[np.float32] = Known(lambda b, x: astype(as_tensor(x), np.dtype(np.float32)), static=True)


@function(builtins.int, np.int64, np.int32, static=True)
def int_(b: Builder, x: Any) -> Any:
    if is_integer(x):
        return x
    x = as_tensor(x)
    if x.ndim:
        return astype(x, INT)
    return b.fixed(cast(x.at(), INT))


@function(builtins.bool, static=True)
def bool_(b: Builder, x: Any) -> Any:
    return elementwise(b, "not_equal", x, 0)
