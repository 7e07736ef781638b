"""Tensor contractions: products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Const, Expr, Lin, Op
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.output import into
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Index, Tensor, cast, scalar


@function(np.matmul, method="__matmul__")
def matmul(b: Builder, x1: Any, x2: Any, out: Any = None) -> Tensor:
    """``x1 @ x2`` for vectors, matrices and stacks of matrices."""
    return into(b, out, _matmul(b, stacked(b, x1), stacked(b, x2)))


def _matmul(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    x, y = _stored(b, x), _stored(b, y)
    if not x.ndim or not y.ndim:
        raise b.unsupported("np.matmul and `@` do not take numbers; NumPy raises here, too", "Write `x * s`.")
    batch = broadcast_shapes(b, x.shape[:-2], y.shape[:-2])
    rows, columns = x.shape[-2:-1], y.shape[-1:] if y.ndim > 1 else ()
    inner = _inner_extent(b, x, y)
    wide_x = broadcast_to(b, x, (*batch, *x.shape[-2:]))
    wide_y = broadcast_to(b, y, (*batch, *y.shape[-2:]))
    n, m = len(batch), len(rows)

    def left(p: Index) -> Index:
        return (*p[:n], *p[n : n + m], p[-1]) if x.ndim > 1 else (p[-1],)

    def right(p: Index) -> Index:
        return (*p[:n], p[-1], *p[n + m : -1]) if y.ndim > 1 else (p[-1],)

    if x.ndim == 1:
        wide_x = x
    if y.ndim == 1:
        wide_y = y
    return contract(b, (*batch, *rows, *columns), inner, (wide_x, left), (wide_y, right))


@function(np.dot, method="dot")
def dot(b: Builder, x: Any, y: Any, out: Any = None) -> Tensor:
    """``np.dot``: like `matmul` up to two dimensions; a product where one operand is a scalar."""
    return into(b, out, _dot(b, stacked(b, x), stacked(b, y)))


def _dot(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    if not x.ndim or not y.ndim:
        return elementwise(b, "multiply", x, y)
    if x.ndim <= 2 and y.ndim <= 2:
        return _matmul(b, x, y)
    x, y = _stored(b, x), _stored(b, y)
    inner = _inner_extent(b, x, y)
    n = x.ndim - 1
    columns = (*y.shape[:-2], *y.shape[-1:]) if y.ndim > 1 else ()

    def right(p: Index) -> Index:
        rest = p[n:-1]
        return (*rest[:-1], p[-1], *rest[-1:]) if y.ndim > 1 else (p[-1],)

    return contract(b, (*x.shape[:-1], *columns), inner, (x, lambda p: (*p[:n], p[-1])), (y, right))


@function(np.outer)
def outer(b: Builder, x: Any, y: Any, out: Any = None) -> Tensor:
    """The outer product of two vectors, unevaluated; other arrays are taken as vectors."""
    x, y = (v if v.ndim == 1 else reshape(b, v, -1) for v in (stacked(b, x), stacked(b, y)))
    return into(b, out, pairs(b, x, y))


@function(np.linalg.outer)
def linalg_outer(b: Builder, x1: Any, x2: Any, /) -> Tensor:
    x, y = stacked(b, x1), stacked(b, x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeMismatch(
            "np.linalg.outer takes vectors; NumPy raises here, too",
            b.where,
            "Write np.multiply.outer(x, y), or np.outer(x, y), which flattens them.",
        )
    return pairs(b, x, y)


@function(np.multiply.outer)
def pairs(b: Builder, x: Any, y: Any) -> Tensor:
    """The products of all pairs of elements, unevaluated."""
    x, y = stacked(b, x), stacked(b, y)
    column = x.reindexed((*x.shape, *(Lin(1),) * y.ndim), lambda p: p[: x.ndim])
    return elementwise(b, "multiply", column, y)


def _inner_extent(b: Builder, x: Tensor, y: Tensor) -> Lin:
    left, right = x.shape[-1], y.shape[-2] if y.ndim > 1 else y.shape[-1]
    if not b.is_zero(left - right):
        raise ShapeMismatch(
            f"inner extents {left} and {right} of a matrix product differ",
            b.where,
            "Transpose or slice one of them: A of shape (m, k) @ B of shape (k, n).",
        )
    return left


def _stored(b: Builder, x: Tensor) -> Tensor:
    """`x` as a stored array, as a product reads each element many times."""
    return x if x.is_stored else b.materialise(x)


def contract(b: Builder, shape: Index, inner: Lin, left: Any, right: Any) -> Tensor:
    """``result[p] = sum over q of left[p, q] * right[p, q]``; `left` and `right` are pairs (tensor, index map)."""
    (x, x_index), (y, y_index) = left, right
    dtype = np.result_type(x.dtype, y.dtype)
    total = b.new_view("", shape, dtype)
    b.assign(total, scalar(Const(0, dtype)))

    def product(p: Index) -> Expr:
        return Op("multiply", (cast(x.element(x_index(p)), dtype), cast(y.element(y_index(p)), dtype)), dtype)

    box = (*shape, inner)
    b.compute(box, total, lambda p: p[:-1], Tensor(box, dtype, product), "add")
    return total if shape else total.as_value(settled=True)
