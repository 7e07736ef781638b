"""Array creation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.integers import as_int
from sdfgad.parse.layout import converted, in_new_order, in_order
from sdfgad.parse.object_arrays import ObjectArray, Placeholder, is_nothing
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import FLOAT, stacked
from sdfgad.parse.values import Index, Selection, Tensor, as_tensor, astype, cast, is_integer, is_static, is_whole


def shape_of(b: Builder, shape: Any) -> Index:
    """A shape argument as extents; run-time integers in it become constants of the specialisation.

    The number of elements that a mask selects stays what it is.
    """
    if isinstance(shape, (tuple, list)) and any(_is_count(b, size) for size in shape):
        return tuple(size if _is_count(b, size) else shape_of(b, size)[0] for size in shape)
    if _is_count(b, shape):
        return (shape,)
    sizes = b.known(shape)
    if any(size < 0 for size in sizes):
        raise b.unsupported(
            f"negative dimension in shape {tuple(sizes)}", "Use sizes of at least 0; NumPy raises here, too."
        )
    result = tuple(Lin(size) for size in sizes)
    b.check_size(result)
    return result


def _is_count(b: Builder, size: Any) -> bool:
    return isinstance(size, Lin) and size in b.counts


def filled(b: Builder, shape: Index, value: Any, dtype: Any, order: Any = "C") -> Tensor:
    view = _empty(b, shape, dtype, order)
    b.assign(view, value)
    return view


def _objects(b: Builder, shape: Any, value: Any) -> ObjectArray:
    """An array of objects with one axis."""
    sizes = b.known(shape)
    if len(sizes) != 1:
        what = f"arrays of objects with {len(sizes)} axes are not supported"
        raise b.unsupported(what, "Use a list of lists: values[i][j].")
    return ObjectArray([value] * sizes[0])


def _is_object(dtype: Any) -> bool:
    return dtype is object or dtype in ("object", "O")


def _empty(b: Builder, shape: Index, dtype: Any, order: Any) -> Tensor:
    view = b.new_view("", shape, np.dtype(dtype))
    b.unset.add(str(view.buffer))
    return b.ordered(view, None) if order == "F" else view


@function(np.zeros)
def zeros(b: Builder, shape: Any, dtype: Any = None, order: Any = "C") -> Tensor | ObjectArray:
    if _is_object(dtype):
        return _objects(b, shape, 0)
    return filled(b, shape_of(b, shape), 0, dtype or FLOAT, order)


@function(np.ones)
def ones(b: Builder, shape: Any, dtype: Any = None, order: Any = "C") -> Tensor:
    return filled(b, shape_of(b, shape), 1, dtype or FLOAT, order)


@function(np.empty)
def empty(b: Builder, shape: Any, dtype: Any = None, order: Any = "C") -> Tensor | ObjectArray:
    if _is_object(dtype):
        return _objects(b, shape, None)
    return _empty(b, shape_of(b, shape), dtype or FLOAT, order)


@function(np.ndarray)
def ndarray(b: Builder, shape: Any, dtype: Any = FLOAT) -> Tensor:
    return _empty(b, shape_of(b, shape), dtype, "C")


@function(np.full)
def full(b: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Tensor | ObjectArray:
    if _is_object(dtype) or fill_value is None:
        return _objects(b, shape, fill_value)
    return filled(b, shape_of(b, shape), fill_value, dtype or as_tensor(fill_value).dtype, order)


@function(np.zeros_like)
def zeros_like(
    b: Builder, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    return _filled_like(b, a, 0, dtype, order, shape)


@function(np.ones_like)
def ones_like(b: Builder, a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Tensor:
    return _filled_like(b, a, 1, dtype, order, shape)


@function(np.full_like)
def full_like(
    b: Builder, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    return _filled_like(b, a, fill_value, dtype, order, shape)


@function(np.empty_like)
def empty_like(
    b: Builder, prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    like = stacked(b, prototype)
    view = _empty(b, like.shape if shape is None else shape_of(b, shape), dtype or like.dtype, order)
    return view if order in ("C", "F") else b.ordered(view, like)


def _filled_like(b: Builder, a: Any, value: Any, dtype: Any, order: Any, shape: Any) -> Tensor:
    view = empty_like(b, a, dtype, order, shape=shape)
    b.assign(view, value)
    return view


@function(np.copy)
def copy(b: Builder, a: Any, order: Any = "K", subok: bool = False) -> Tensor | Selection:
    return _copied(b, a) if isinstance(a, Selection) else in_new_order(b, stacked(b, a), order)


@function(method="copy")
def copy_method(b: Builder, a: Tensor | Selection, order: Any = "C") -> Tensor | Selection:
    return _copied(b, a) if isinstance(a, Selection) else in_new_order(b, a, order)


def _copied(b: Builder, a: Selection) -> Selection:
    """A selection with its dense array copied to new storage."""
    copied: Selection = b.settle(replace(a, dense=a.dense.as_value(settled=False)))
    return copied


@function(np.asarray, np.asanyarray)
def asarray(b: Builder, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    """The array itself where no conversion is needed, else as ``np.array``."""
    if isinstance(a, Selection) and dtype in (None, a.dtype) and not copy:
        return a
    return array(b, a, dtype, copy=copy, order="K" if order is None else order)


def _nan_for_none(values: Any) -> Any:
    """Nested lists with NaN for each None in them, as NumPy converts that to floats."""
    if values is None:
        return np.nan
    if type(values) in (list, tuple) and any(value is None or type(value) in (list, tuple) for value in values):
        return [_nan_for_none(value) for value in values]
    return values


def _of_strings(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return bool(values) and all(map(_of_strings, values))
    return isinstance(values, str)


def read_only(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array that is known while parsing, of strings, say; the program cannot change it."""
    values.flags.writeable = False
    return values


@function(np.array)
def array(
    b: Builder,
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    """``np.array`` of an array, a number, or nested lists of them; of a list of None, an array of objects."""
    if dtype is not None and np.dtype(dtype).kind in "fc":
        object = _nan_for_none(object)
    if isinstance(object, (list, tuple)) and object and all(item is None for item in object):
        return ObjectArray(object)
    if isinstance(object, (list, tuple)) and dtype is None and is_nothing(object):
        return Placeholder(b.python(np.array, object).shape)
    if is_static(object) and dtype is None and _of_strings(object):
        return read_only(b.python(np.array, object))
    if isinstance(copy, np._CopyMode):
        copy = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False}.get(copy)
    is_same = isinstance(object, Tensor) and dtype in (None, object.dtype)
    if is_same and object.is_shared and not copy:
        value = in_order(b, object, order)
    elif not copy and isinstance(object, Tensor) and object.copy is not None:
        value = converted(b, object, np.dtype(dtype))
    else:
        value = stacked(b, object)
        value = in_new_order(b, value if dtype is None else astype(value, np.dtype(dtype)), order)
    if copy is False and not (is_same and (value is object or not object.is_shared)):
        raise b.unsupported("an array cannot be made here without a copy; NumPy raises here, too", "Leave out `copy`.")
    extra = b.constant(ndmin) - value.ndim
    return value.reindexed((*(Lin(1),) * extra, *value.shape), lambda p: p[extra:]) if extra > 0 else value


@function(np.identity)
def identity(b: Builder, n: Any, dtype: Any = None) -> Tensor:
    return eye(b, n, dtype=dtype)


@function(np.eye)
def eye(b: Builder, N: Any, M: Any = None, k: Any = 0, dtype: Any = None, order: Any = "C") -> Tensor:
    shape = shape_of(b, (N, N if M is None else M))
    dtype, offset = np.dtype(dtype or FLOAT), b.constant(k)

    def element(p: Index) -> Expr:
        on = Op("equal", (Int(p[1]), Int(p[0] + offset)), BOOL)
        return Op("select", (on, Const(1, dtype), Const(0, dtype)), dtype)

    return b.stored(Tensor(shape, dtype, element))


@function(np.arange)
def arange(b: Builder, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """``np.arange`` of integers, and of floats that are known while parsing."""
    if stop is None:
        start, stop = 0, start
    moving = _moving_range(b, start, stop, step, dtype)
    if moving is not None:
        return moving
    start, stop, step = (_integer(b, v) for v in (start, stop, step))
    if not all(is_integer(v) for v in (start, stop, step)):
        if not all(isinstance(v, (int, float)) for v in (start, stop, step)):
            return _range_of_data(b, as_tensor(start), as_tensor(stop), as_tensor(step), dtype)
        values: np.ndarray[Any, Any] = np.arange(start, stop, step=step, dtype=dtype)
        count = len(values)
        first, second = (float(values[0]), float(values[1] - values[0])) if count > 1 else (float(start), 0.0)
        # Of integers, NumPy rounds the first two, and goes on in steps of their difference.
        whole = values.dtype.kind in "iu"
        ramp = _integer_ramp(count, int(first), int(second)) if whole else _ramp(count, first, second)
        return filled(b, (Lin(count),), ramp, values.dtype)
    begin, end, stride = b.constant(start), b.constant(stop), b.constant(step)
    count = len(range(begin, end, stride))
    return filled(b, (Lin(count),), _integer_ramp(count, begin, stride), dtype or INT)


def _moving_range(b: Builder, start: Any, stop: Any, step: Any, dtype: Any) -> Tensor | None:
    """A range whose length is known though its bounds are not: ``np.arange(k - 1, k + 2)``; None for others."""
    if isinstance(start, int) or not all(map(is_whole, (start, stop))) or type(step) is not int or not step:
        return None
    first = Lin.of(as_int(b, start))
    width = Lin.of(as_int(b, stop)) - first
    if first.is_const or not width.is_const:
        return None
    count = len(range(0, width.const, step))
    return filled(b, (Lin(count),), _integer_ramp(count, first, step), dtype or INT)


def _range_of_data(b: Builder, start: Tensor, stop: Tensor, step: Tensor, dtype: Any) -> Tensor:
    """``np.arange`` whose bounds or step are data: NumPy fills it by the difference of its first two elements."""
    width = elementwise(b, "divide", elementwise(b, "subtract", stop, start), step)
    number = elementwise(b, "maximum", astype(elementwise(b, "ceil", width), INT), 0)
    what = "np.arange of floats that are known only at run time has no fixed length"
    count = b.constant(number, what, "Write np.linspace(start, stop, n), or start + step * np.arange(n).")
    kind = np.dtype(dtype or np.result_type(start.dtype, stop.dtype, step.dtype))
    # NumPy rounds both to the type, and computes in it: integers in steps of 0.7 are all the same.
    first, second = (astype(value, kind) for value in (start, elementwise(b, "add", start, step)))
    ramp = astype(_integer_ramp(count, 0, 1), kind)
    steps = elementwise(b, "multiply", ramp, elementwise(b, "subtract", second, first))
    return b.stored(astype(elementwise(b, "add", steps, first), kind))


def _integer(b: Builder, value: Any) -> Any:
    """A bound of a range: an element of an array of integers, which must be known, as a number."""
    is_element = isinstance(value, Tensor) and not value.ndim and value.dtype.kind in "iu"
    return b.constant(value) if is_element else value


def _integer_ramp(count: int, first: int | Lin, step: int) -> Tensor:
    return Tensor((Lin(count),), INT, lambda p: Int(p[0].scaled(step) + first))


def _ramp(count: int, first: float, step: float) -> Tensor:
    def element(p: Index) -> Expr:
        scaled = Op("multiply", (cast(Int(p[0]), FLOAT), Const(step, FLOAT)), FLOAT)
        return Op("add", (Const(first, FLOAT), scaled), FLOAT)

    return Tensor((Lin(count),), FLOAT, element)
