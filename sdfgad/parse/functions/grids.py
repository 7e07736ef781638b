"""Coordinate grids, triangular matrices, and objects that create arrays by a subscript, such as ``np.mgrid``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, where
from sdfgad.parse.functions.assembly import column_stack, common_dtype, concatenate
from sdfgad.parse.functions.creation import arange, shape_of
from sdfgad.parse.functions.facts import result_type, tensor_of
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.functions.views import moveaxis, stretched
from sdfgad.parse.integers import whole
from sdfgad.parse.layout import in_new_order
from sdfgad.parse.registry import function, subscript
from sdfgad.parse.stacking import FLOAT
from sdfgad.parse.values import Index, Tensor, as_tensor, astype, cast, is_integer


def iota(length: Lin, dtype: np.dtype[Any]) -> Tensor:
    """Iota: the vector 0, 1, 2, …, unevaluated."""
    return Tensor((length,), dtype, lambda p: cast(Int(p[0]), dtype))


@function(np.linspace)
def linspace(
    b: Builder,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """``np.linspace`` between numbers or arrays, with NumPy's rounding."""
    count = b.constant(num)
    first, last = (b.settle(tensor_of(b, end)) for end in (start, stop))
    float_dtype = elementwise(b, "divide", elementwise(b, "add", first, last), 1.0).dtype
    first, last = astype(first, float_dtype), astype(last, float_dtype)
    steps = count - 1 if endpoint else count
    span = elementwise(b, "subtract", last, first)
    step = b.settle(elementwise(b, "divide", span, float(steps))) if steps > 0 else as_tensor(np.nan)
    whole = (Lin(count), *broadcast_shapes(b, first.shape, last.shape))
    ticks = Tensor(whole, float_dtype, lambda p: cast(Int(p[0]), float_dtype))
    if steps > 0:
        tiny = elementwise(b, "multiply", elementwise(b, "divide", ticks, float(steps)), span)
        offset = where(b, elementwise(b, "equal", step, 0), tiny, elementwise(b, "multiply", ticks, step))
    else:
        offset = elementwise(b, "multiply", ticks, span)
    values = elementwise(b, "add", offset, first)
    if endpoint and count > 1:
        values = _with_last(values, broadcast_to(b, last, whole), count)
    result = b.stored(_converted(b, values, dtype), weak=False)
    ends: list[Any] = [end.plain if isinstance(end, Lin) else end for end in (start, stop)]
    if all(isinstance(end, (int, float)) for end in ends) and result.buffer is not None:
        b.constants.note(result.buffer, np.linspace(ends[0], ends[1], count, endpoint, dtype=result.dtype))
    result = moveaxis(b, result, 0, axis) if result.ndim > 1 else result
    return (result, step) if retstep else result


def _with_last(values: Tensor, last: Tensor, count: int) -> Tensor:
    def element(p: Index) -> Expr:
        is_last = Op("equal", (Int(p[0]), Const(count - 1, INT)), BOOL)
        return Op("select", (is_last, last.element(p), values.element(p)), values.dtype)

    return Tensor(values.shape, values.dtype, element)


def _converted(b: Builder, values: Tensor, dtype: Any) -> Tensor:
    if dtype is None:
        return values
    wide = np.dtype(dtype)
    return astype(elementwise(b, "floor", values) if wide.kind in "iu" else values, wide)


@function(np.meshgrid)
def meshgrid(b: Builder, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Tensor, ...]:
    """``np.meshgrid``; without `copy`, the results are views, which cannot be updated where they repeat elements."""
    vectors = [v if v.ndim == 1 else reshape(b, v, -1) for v in (tensor_of(b, x) for x in xi)]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    elif indexing not in ("xy", "ij"):
        raise b.unsupported(f"the indexing {indexing!r} of np.meshgrid is not known", "Use 'xy' or 'ij'.")
    shape = tuple(vectors[k].shape[0] for k in order)
    narrow = [_along(v, order.index(k), len(shape)) for k, v in enumerate(vectors)]
    wide = narrow if sparse else [stretched(b, v, shape) for v in narrow]
    return tuple(in_new_order(b, v, "C") if copy else v for v in wide)


def _along(vector: Tensor, axis: int, ndim: int) -> Tensor:
    """A vector as an array with extents of 1 for all axes but one."""
    shape = tuple(vector.shape[0] if k == axis else Lin(1) for k in range(ndim))
    return vector.reindexed(shape, lambda p: (p[axis],))


@function(np.indices)
def indices(b: Builder, dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    shape = shape_of(b, dimensions)
    vectors = [iota(extent, np.dtype(dtype)) for extent in shape]
    return _grid(b, vectors, sparse)


def _grid(b: Builder, vectors: list[Tensor], sparse: bool) -> Any:
    """Coordinate arrays of a grid: one array with a leading axis, or a tuple of narrow ones."""
    shape = tuple(v.shape[0] for v in vectors)
    narrow = [_along(vector, k, len(shape)) for k, vector in enumerate(vectors)]
    if sparse:
        return tuple(map(b.stored, narrow))
    result = b.new_view("", (Lin(len(vectors)), *shape), common_dtype(vectors))
    for k, vector in enumerate(narrow):
        b.assign(result.reindexed(shape, lambda p, k=k: (Lin(k), *p)), vector)  # type: ignore[misc]
    return result


# --- triangles


@function(np.tri)
def tri(b: Builder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Tensor:
    shape, offset = shape_of(b, (N, N if M is None else M)), b.constant(k)
    return b.stored(astype(_is_below(shape, offset), np.dtype(dtype)))


@function(np.tril)
def tril(b: Builder, m: Any, k: Any = 0) -> Tensor:
    m = _matrix(b, m)
    return _triangle(m, _is_below(m.shape, b.constant(k)), keep=True)


@function(np.triu)
def triu(b: Builder, m: Any, k: Any = 0) -> Tensor:
    m = _matrix(b, m)
    return _triangle(m, _is_below(m.shape, b.constant(k) - 1), keep=False)


def _matrix(b: Builder, m: Any) -> Tensor:
    m = tensor_of(b, m)
    return m if m.ndim > 1 else m.reindexed((m.shape[0], m.shape[0]), lambda p: p[1:])


def _is_below(shape: Index, k: int) -> Tensor:
    """Whether an element lies on or below the k-th diagonal."""
    return Tensor(shape, BOOL, lambda p: Op("less_equal", (Int(p[-1]), Int(p[-2] + k)), BOOL))


def _triangle(m: Tensor, below: Tensor, keep: bool) -> Tensor:
    zero = Const(0, m.dtype)

    def element(p: Index) -> Expr:
        here = m.element(p)
        return Op("select", (below.element(p), *((here, zero) if keep else (zero, here))), m.dtype)

    return Tensor(m.shape, m.dtype, element)


# --- subscripts


@subscript(np.mgrid)
def mgrid(b: Builder, index: Any) -> Tensor:
    vectors = _axes(b, index)
    return _grid(b, vectors, sparse=False) if isinstance(index, tuple) else b.stored(vectors[0])


@subscript(np.ogrid)
def ogrid(b: Builder, index: Any) -> Any:
    vectors = _axes(b, index)
    return _grid(b, vectors, sparse=True) if isinstance(index, tuple) else b.stored(vectors[0])


def _axes(b: Builder, index: Any) -> list[Tensor]:
    vectors = [_vector(b, entry) for entry in (index if isinstance(index, tuple) else (index,))]
    dtype = common_dtype(vectors)
    return [astype(vector, dtype) for vector in vectors]


def _vector(b: Builder, entry: Any) -> Tensor:
    """The vector start, start + step, … for a slice; an imaginary step is the number of points, ends included."""
    if not isinstance(entry, slice):
        raise b.unsupported("np.mgrid and np.ogrid take slices", "Write slices: np.mgrid[0:3, 0:4].")
    start = 0 if entry.start is None else entry.start
    step = 1 if entry.step is None else entry.step
    if as_tensor(step).dtype.kind == "c":
        known = isinstance(step, complex)
        count = int(abs(step)) if known else whole(b, "trunc", elementwise(b, "absolute", step))
        points: Tensor = linspace(b, start, entry.stop, count)
        return points
    if all(is_integer(v) for v in (start, entry.stop, step)):
        return arange(b, start, entry.stop, step)
    return astype(arange(b, start, entry.stop, step), FLOAT)


@subscript(np.r_)
def rows(b: Builder, index: Any) -> Tensor:
    parts = [_joinable(b, entry) for entry in (index if isinstance(index, tuple) else (index,))]
    # Numbers of Python take the precision of the others, unlike those in lists.
    dtype = result_type(b, *parts)
    parts = [part if part.ndim else astype(part, dtype) for part in parts]
    return concatenate(b, [p if p.ndim else p.reindexed((Lin(1),), lambda _: ()) for p in parts], 0)


@subscript(np.c_)
def columns(b: Builder, index: Any) -> Tensor:
    parts = [_joinable(b, entry) for entry in (index if isinstance(index, tuple) else (index,))]
    if any(p.ndim > 2 for p in parts):
        return concatenate(b, parts, -1)
    return column_stack(b, parts)


def _joinable(b: Builder, entry: Any) -> Tensor:
    if isinstance(entry, str):
        raise b.unsupported(
            "strings in np.r_ and np.c_ are not supported",
            "Write np.concatenate((x, y), axis=0), np.stack or np.column_stack.",
        )
    return _vector(b, entry) if isinstance(entry, slice) else tensor_of(b, entry)
