"""Element-wise operations, with NumPy's broadcasting and dtype promotion."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.frontend.builder import Builder
from sdfgad.frontend.registry import FUNCTIONS, Known, function
from sdfgad.frontend.values import Index, Tensor, as_tensor, astype, cast
from sdfgad.ir.expr import Const, Expr, Op
from sdfgad.ir.ops import CPP

_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


def elementwise(b: Builder, name: str, *operands: Any) -> Tensor:
    """The ufunc `name` of numbers and tensors, unevaluated."""
    tensors = [as_tensor(operand) for operand in operands]
    ufunc = getattr(np, name)
    try:
        types = operand_types(tensors)
        *inputs, output = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))[: len(tensors) + 1]
    except TypeError as error:
        raise b.unsupported(f"np.{name} does not take {', '.join(str(t.dtype) for t in tensors)}") from error
    shape = b.broadcast_shapes(*(t.shape for t in tensors))
    wide = [b.broadcast_to(t, shape) for t in tensors]

    def element(index: Index) -> Expr:
        args = tuple(cast(t.element(index), d) for t, d in zip(wide, inputs, strict=True))
        return Op(name, args, output)

    return Tensor(shape, output, element, weak=all(t.weak for t in tensors))


def operand_types(tensors: list[Tensor]) -> list[Any]:
    """What NumPy's promotion is told of each operand: Python numbers give way to arrays and NumPy scalars."""
    if all(tensor.weak for tensor in tensors):
        return [tensor.dtype for tensor in tensors]
    return [_PYTHON_TYPES.get(t.dtype.kind, t.dtype) if t.weak else t.dtype for t in tensors]


def power(b: Builder, base: Any, exponent: Any) -> Tensor:
    """``base ** exponent``; small constant exponents become products and roots, as in NumPy."""
    base = as_tensor(base)
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool) and base.dtype.kind == "f":
        short = _SHORT_POWERS.get(float(exponent))
        if short is not None:
            return short(b, base)
    return elementwise(b, "power", base, exponent)


_SHORT_POWERS = {
    1.0: lambda b, x: elementwise(b, "positive", x),
    2.0: lambda b, x: elementwise(b, "square", x),
    3.0: lambda b, x: elementwise(b, "multiply", elementwise(b, "square", x), x),
    4.0: lambda b, x: elementwise(b, "square", elementwise(b, "square", x)),
    0.5: lambda b, x: elementwise(b, "sqrt", x),
    -1.0: lambda b, x: elementwise(b, "reciprocal", x),
}


def _ufunc_handler(name: str) -> Any:
    inputs = getattr(np, name).nin

    def handler(b: Builder, *operands: Any, out: Any = None, dtype: Any = None) -> Any:
        if len(operands) == inputs + 1:
            *operands, out = operands  # type: ignore[assignment]
        if name == "power":
            result = power(b, *operands)
        else:
            result = elementwise(b, name, *operands)
        if dtype is not None:
            result = astype(result, np.dtype(dtype))
        if out is not None:
            (out,) = out if isinstance(out, tuple) else (out,)
            b.assign(out, result)
            return out
        return result if not result.weak else strong(result)

    return handler


def strong(tensor: Tensor) -> Tensor:
    """The tensor as a NumPy value: ufuncs of Python numbers give NumPy scalars."""
    return replace(tensor, weak=False)


for _name in CPP:
    _ufunc = getattr(np, _name, None)
    if isinstance(_ufunc, np.ufunc):
        FUNCTIONS[_ufunc] = Known(_ufunc_handler(_name), static=True)

for _name, _numpy_name in {
    **{
        n: n
        for n in (
            "sqrt",
            "exp",
            "expm1",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
        )
    },
    **{
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "atan2": "arctan2",
        "fabs": "fabs",
        "hypot": "hypot",
    },
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "copysign": "copysign", "pow": "power"},
    **{"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"},
}.items():
    FUNCTIONS[getattr(math, _name)] = Known(_ufunc_handler(_numpy_name), static=True)


@function(math.log, static=True)
def log(b: Builder, x: Any, base: Any = None) -> Tensor:
    value = elementwise(b, "log", x)
    return value if base is None else elementwise(b, "divide", value, elementwise(b, "log", base))


@function(np.where)
def where(b: Builder, condition: Any, x: Any, y: Any) -> Tensor:
    """``np.where`` with three arguments."""
    condition, x, y = as_tensor(condition), as_tensor(x), as_tensor(y)
    dtype = elementwise(b, "add", x, y).dtype
    shape = b.broadcast_shapes(condition.shape, x.shape, y.shape)
    c, u, v = (b.broadcast_to(t, shape) for t in (condition, x, y))

    def element(index: Index) -> Expr:
        return Op(
            "select",
            (to_bool(c.element(index)), cast(u.element(index), dtype), cast(v.element(index), dtype)),
            dtype,
        )

    return Tensor(shape, dtype, element, weak=x.weak and y.weak)


def to_bool(expr: Expr) -> Expr:
    """Python's truth value of a scalar."""
    if expr.dtype.kind == "b":
        return expr
    return Op("not_equal", (expr, Const(0, expr.dtype)), np.dtype(np.bool_))


@function(np.clip, method="clip")
def clip(b: Builder, x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """``np.clip``: on a bound the value is kept, and so is its cotangent."""
    low, high = a_min if min is None else min, a_max if max is None else max
    dtype = elementwise(b, "add", x, low).dtype if low is not None else as_tensor(x).dtype
    result = x
    for outside, bound in (("less", low), ("greater", high)):
        if bound is not None:
            result = where(b, elementwise(b, outside, result, bound), bound, result)
    return astype(as_tensor(result), dtype)


@function(method="astype")
def astype_method(b: Builder, x: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    if not copy and x.dtype == np.dtype(dtype):
        return x
    return b.materialise(astype(x, np.dtype(dtype)))
