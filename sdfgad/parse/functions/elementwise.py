"""NumPy's element-wise functions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL
from sdfgad.ir.ops import OPERATIONS
from sdfgad.parse import selecting
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, power, to_bool, where
from sdfgad.parse.functions.output import into, require_cast
from sdfgad.parse.layout import converted, in_new_order, in_order
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.truth_values import require_known
from sdfgad.parse.values import Selection, Tensor, as_tensor, astype


def _ufunc_handler(name: str) -> Any:
    inputs = getattr(np, name).nin

    def handler(b: Builder, *operands: Any, out: Any = None, dtype: Any = None, where: Any = True) -> Any:
        if len(operands) == inputs + 1:
            *operands, out = operands  # type: ignore[assignment]
        operands = tuple(_operand(b, one) for one in operands)
        if name == "power" and dtype is None:
            result = power(b, *operands)
        elif name == "conjugate" and as_tensor(operands[0]).dtype.kind != "c":
            # The conjugate of real numbers may still be converted.
            dtype = np.dtype(np.int8) if dtype is None and as_tensor(operands[0]).dtype.kind == "b" else dtype
            result = elementwise(b, "positive", *operands, dtype=dtype) if dtype is not None else as_tensor(operands[0])
            result = result.as_value(settled=False)
        else:
            result = elementwise(b, name, *operands, dtype=dtype)
        (out,) = out if isinstance(out, tuple) else (out,)
        if where is not True:
            result = _chosen(b, name, where, result, out)
        if out is not None:
            if isinstance(out, Selection):
                selecting.assign(b, out, (Ellipsis,), result)
                return out
            return into(b, out, result, "same_kind")
        return result if isinstance(result, Selection) or not result.weak else strong(result)

    return handler


def _operand(b: Builder, value: Any) -> Any:
    """A list as the array that NumPy makes of it; anything else as it is."""
    return strong(stacked(b, value)) if isinstance(value, (list, tuple)) else value


def _chosen(b: Builder, name: str, condition: Any, result: Any, out: Any) -> Any:
    """A ufunc's result where the condition holds, and elsewhere what `out` has already, in `out`'s dtype."""
    if out is None:
        what = f"np.{name} with `where` and without `out` leaves the other elements undefined"
        raise b.unsupported(what, "Pass `out=np.zeros_like(x)`, or choose the elements by np.where.")
    require_cast(b, as_tensor(result), as_tensor(out).dtype, "same_kind")
    return astype(as_tensor(where(b, condition, result, out)), as_tensor(out).dtype)


def strong(value: Any) -> Any:
    """A tensor or selection as a NumPy value: ufuncs of Python numbers give NumPy scalars."""
    return value if isinstance(value, Selection) else replace(value, weak=False)


for _name in OPERATIONS:
    if isinstance(getattr(np, _name, None), np.ufunc):
        function(getattr(np, _name), static=True)(_ufunc_handler(_name))


NOT_GIVEN = object()


@function(np.where)
def where_(b: Builder, condition: Any, x: Any = NOT_GIVEN, y: Any = NOT_GIVEN) -> Any:
    """``np.where`` makes an array, of Python numbers, too; of a condition alone, the positions where it holds."""
    if x is NOT_GIVEN:
        mask = as_tensor(condition)
        return tuple(selecting.positions(b, Tensor(mask.shape, BOOL, lambda p: to_bool(mask.element(p)))))
    condition, x, y = (_operand(b, one) for one in (condition, x, y))
    require_known(
        b, [as_tensor(one) for one in (x, y) if not isinstance(one, Selection)], "so is the dtype of np.where"
    )
    result = where(b, condition, x, y)
    return result if isinstance(result, Selection) else strong(result)


@function(np.clip, method="clip")
def clip(
    b: Builder, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """``np.clip``: on a bound the value is kept, and so is its cotangent."""
    low, high = _operand(b, a_min if min is None else min), _operand(b, a_max if max is None else max)
    a = _operand(b, a)
    bounds = [bound for bound in (low, high) if bound is not None]
    dtype = reduce(partial(elementwise, b, "add"), bounds, as_tensor(a)).dtype
    result = a
    for outside, extremum, bound in (("less", "maximum", low), ("greater", "minimum", high)):
        if bound is None:
            continue
        if dtype.kind in "iu":
            # Extrema tell value-range analysis the range; there are no derivatives that would differ.
            result = elementwise(b, extremum, result, bound)
        else:
            result = where(b, _is_beyond(b, outside, result, bound), bound, result)
    clipped = astype(as_tensor(result), dtype)
    return into(b, out, clipped if bounds else clipped.as_value(settled=False), "same_kind")


def _is_beyond(b: Builder, outside: str, x: Any, bound: Any) -> Any:
    """Whether `x` is outside of a bound; it is outside of one that is NaN."""
    beyond = elementwise(b, outside, x, bound)
    limit = bound if isinstance(bound, Selection) else as_tensor(bound)
    is_number = isinstance(bound, (float, np.floating)) and not np.isnan(bound)
    if limit.dtype.kind != "f" or is_number:
        return beyond
    return elementwise(b, "logical_or", beyond, elementwise(b, "isnan", bound))


@function(method="astype")
def astype_method(
    b: Builder, x: Any, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    require_cast(b, x.dense if isinstance(x, Selection) else x, np.dtype(dtype), casting)
    if isinstance(x, Selection):
        return replace(x, dense=astype(x.dense, np.dtype(dtype)))
    if not copy and x.is_shared:
        x = converted(b, x, np.dtype(dtype))
        if x.is_shared:
            return in_order(b, x, order)
    value = astype(x, np.dtype(dtype))
    return in_new_order(b, value, order) if x.ndim else b.materialise(value)
