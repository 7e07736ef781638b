"""Functions that make arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.frontend.builder import Builder
from sdfgad.frontend.registry import function
from sdfgad.frontend.values import Index, Tensor, as_tensor, astype, cast, is_integer, scalar
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Op
from sdfgad.ir.linear import Lin

FLOAT = np.dtype(np.float64)


def shape_of(b: Builder, shape: Any) -> Index:
    """A shape argument as extents; run-time integers in it become constants of the specialisation."""
    entries = shape if isinstance(shape, (tuple, list)) else (shape,)
    if not all(is_integer(e) for e in entries):
        raise b.unsupported("a shape must be made of integers")
    sizes = [b.constant(e) for e in entries]
    if any(size < 0 for size in sizes):
        raise b.unsupported(f"negative dimension in shape {tuple(sizes)}")
    return tuple(Lin(size) for size in sizes)


def filled(b: Builder, shape: Index, value: Any, dtype: Any) -> Tensor:
    view = b.new_view("t", shape, np.dtype(dtype))
    b.assign(view, value)
    return view


@function(np.zeros)
def zeros(b: Builder, shape: Any, dtype: Any = FLOAT) -> Tensor:
    return filled(b, shape_of(b, shape), 0, dtype)


@function(np.ones)
def ones(b: Builder, shape: Any, dtype: Any = FLOAT) -> Tensor:
    return filled(b, shape_of(b, shape), 1, dtype)


@function(np.empty, np.ndarray)
def empty(b: Builder, shape: Any, dtype: Any = FLOAT) -> Tensor:
    return b.new_view("t", shape_of(b, shape), np.dtype(dtype))


@function(np.full)
def full(b: Builder, shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    return filled(b, shape_of(b, shape), fill_value, dtype or as_tensor(fill_value).dtype)


@function(np.zeros_like)
def zeros_like(b: Builder, x: Any, dtype: Any = None) -> Tensor:
    x = as_tensor(x)
    return filled(b, x.shape, 0, dtype or x.dtype)


@function(np.ones_like)
def ones_like(b: Builder, x: Any, dtype: Any = None) -> Tensor:
    x = as_tensor(x)
    return filled(b, x.shape, 1, dtype or x.dtype)


@function(np.full_like)
def full_like(b: Builder, x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    x = as_tensor(x)
    return filled(b, x.shape, fill_value, dtype or x.dtype)


@function(np.empty_like)
def empty_like(b: Builder, x: Any, dtype: Any = None) -> Tensor:
    x = as_tensor(x)
    return b.new_view("t", x.shape, np.dtype(dtype or x.dtype))


@function(np.copy, method="copy")
def copy(b: Builder, x: Any) -> Tensor:
    return b.stored(as_tensor(x))


@function(np.asarray, np.ascontiguousarray)
def asarray(b: Builder, x: Any, dtype: Any = None) -> Tensor:
    """An array itself where nothing has to be converted, else like ``np.array``."""
    if isinstance(x, Tensor) and x.place is not None and dtype in (None, x.dtype):
        return x
    return array(b, x, dtype)


@function(np.array)
def array(b: Builder, x: Any, dtype: Any = None) -> Tensor:
    """``np.array`` of an array, a number, or nested lists of them."""
    value = x if isinstance(x, Tensor) else stacked(b, x)
    value = value if dtype is None else astype(value, np.dtype(dtype))
    return b.stored(value, weak=False)


def stacked(b: Builder, x: Any) -> Tensor:
    """Nested sequences of equal shape as one array."""
    if not isinstance(x, (list, tuple)):
        return as_tensor(x)
    parts = [stacked(b, part) for part in x]
    if not parts:
        return Tensor((Lin(0),), FLOAT, lambda _: Const(0, FLOAT))
    dtype = np.result_type(*(part.dtype for part in parts))
    result = b.new_view("t", (Lin(len(parts)), *parts[0].shape), dtype)
    for position, part in enumerate(parts):
        b.assign(_row(result, position), part)
    return result


def _row(x: Tensor, position: int) -> Tensor:
    return x.reindexed(x.shape[1:], lambda p: (Lin(position), *p))


@function(np.eye, np.identity)
def eye(b: Builder, rows: Any, columns: Any = None, k: int = 0, dtype: Any = FLOAT) -> Tensor:
    shape = shape_of(b, (rows, rows if columns is None else columns))
    dtype, offset = np.dtype(dtype), b.constant(k)

    def element(p: Index) -> Expr:
        on = Op("equal", (Int(p[1]), Int(p[0] + offset)), BOOL)
        return Op("select", (on, Const(1, dtype), Const(0, dtype)), dtype)

    return b.stored(Tensor(shape, dtype, element))


@function(np.arange)
def arange(b: Builder, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """``np.arange`` of integers, and of floats that are known while parsing."""
    if stop is None:
        start, stop = 0, start
    if not all(is_integer(v) for v in (start, stop, step)):
        if not all(isinstance(v, (int, float)) for v in (start, stop, step)):
            raise b.unsupported("np.arange of run-time floats has no fixed length", "Use np.linspace.")
        values = np.arange(start, stop, step)
        count, dtype = len(values), dtype or values.dtype
        first, second = float(start), float(values[1] - values[0]) if count > 1 else 0.0
        return filled(b, (Lin(count),), _ramp(count, first, second), dtype)
    first, last, stride = b.constant(start), b.constant(stop), b.constant(step)
    count = len(range(first, last, stride))
    ramp = Tensor((Lin(count),), INT, lambda p: Int(p[0].scaled(stride) + first))
    return filled(b, (Lin(count),), ramp, dtype or INT)


def _ramp(count: int, first: float, step: float) -> Tensor:
    def element(p: Index) -> Expr:
        scaled = Op("multiply", (cast(Int(p[0]), FLOAT), Const(step, FLOAT)), FLOAT)
        return Op("add", (Const(first, FLOAT), scaled), FLOAT)

    return Tensor((Lin(count),), FLOAT, element)


__all__ = ["scalar"]
