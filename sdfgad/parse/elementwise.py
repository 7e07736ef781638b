"""Element-wise operations, with NumPy's broadcasting and dtype promotion.

All other computations are composed of them; `functions/elementwise.py` registers them as NumPy's ufuncs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Int, Lin, Op
from sdfgad.ir.ops import OPERATIONS
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.dtypes import SUPPORTED, instead_of
from sdfgad.parse.masks import common_mask
from sdfgad.parse.truth_values import result_types, with_types
from sdfgad.parse.values import Index, Selection, Tensor, as_tensor, cast

COMPARISONS = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))
_PYTHON_TYPES = {"i": int, "f": float, "c": complex}


def elementwise(b: Builder, name: str, *operands: Any, dtype: Any = None) -> Tensor:
    """The ufunc `name` of numbers and tensors, unevaluated; computed in `dtype` if one is given."""
    if any(isinstance(operand, Selection) for operand in operands):
        return of_selections(b, partial(elementwise, b, name, dtype=dtype), operands)
    tensors = [as_tensor(operand) for operand in operands]
    types = result_types(b, name, tensors) if any(tensor.types for tensor in tensors) else frozenset[str]()
    operation = OPERATIONS[name]
    ufunc = getattr(np, operation.like or name)
    results = (None,) * ufunc.nout
    wanted = {} if dtype is None else {"signature": (*(None,) * len(tensors), *(np.dtype(dtype),) * ufunc.nout)}
    try:
        resolved = ufunc.resolve_dtypes((*operand_types(tensors), *results), **wanted)
    except TypeError as error:
        raise b.unsupported(
            f"np.{name} does not take {', '.join(str(t.dtype) for t in tensors)}",
            "Convert them: x.astype(np.int64), say, or use z.real and z.imag of complex numbers.",
        ) from error
    *inputs, output = resolved[: len(tensors) + 1]
    if name in COMPARISONS and not all(map(_is_held, tensors, inputs)):
        inputs = [np.dtype(np.int64)] * 2
    other = next((d for d in (*inputs, output) if d not in SUPPORTED), None)
    if other is not None:
        raise b.unsupported(f"np.{name} gives {output} here, which is not supported", instead_of(other))
    if inputs[0].kind == "c" and not operation.takes_complex:
        raise b.unsupported(f"np.{name} of complex numbers is not supported", "Use z.real and z.imag.")
    shape = broadcast_shapes(b, *(t.shape for t in tensors))
    wide = [broadcast_to(b, t, shape) for t in tensors]

    def element(index: Index) -> Expr:
        args = tuple(cast(t.element(index), d) for t, d in zip(wide, inputs, strict=True))
        return Op(name, args, output)

    return with_types(b, Tensor(shape, output, element, weak=all(t.weak for t in tensors)), types)


def of_selections(b: Builder, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """An element-wise function of operands with selections among them."""
    if common_mask(operands) is None:
        return function(*map(as_tensor, operands))
    first = next(operand for operand in operands if isinstance(operand, Selection))
    dense = [o.dense if isinstance(o, Selection) else _single(as_tensor(o)) for o in operands]
    return replace(first, dense=function(*dense))


def _single(x: Tensor) -> Tensor:
    """A tensor with one element as a scalar."""
    return x.reindexed((), lambda _: (Lin(0),) * x.ndim) if x.ndim else x


def operand_types(tensors: list[Tensor]) -> list[Any]:
    """The operands' types for NumPy's promotion: Python types for weak operands, unless all operands are weak."""
    if all(tensor.weak for tensor in tensors):
        return [tensor.dtype for tensor in tensors]
    return [_PYTHON_TYPES.get(t.dtype.kind, t.dtype) if t.weak else t.dtype for t in tensors]


def _is_held(operand: Tensor, dtype: np.dtype[Any]) -> bool:
    """Whether a short dtype of integers surely holds a Python integer: NumPy compares others by their values."""
    if not operand.weak or operand.dtype.kind != "i" or dtype.kind not in "iu" or dtype.itemsize == 8:
        return True
    expr = operand.element((Lin(0),) * operand.ndim)
    if isinstance(expr, Int) and expr.value.is_const:
        return bool(np.iinfo(dtype).min <= expr.value.const <= np.iinfo(dtype).max)
    return isinstance(expr, Const) and bool(np.iinfo(dtype).min <= expr.value <= np.iinfo(dtype).max)


def power(b: Builder, base: Any, exponent: Any) -> Tensor:
    """``base ** exponent``; small constant exponents become products and roots, as in NumPy."""
    if isinstance(base, Selection) or isinstance(exponent, Selection):
        return of_selections(b, partial(power, b), (base, exponent))
    base = as_tensor(base)
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool) and base.dtype.kind in "fc":
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


def where(b: Builder, condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, else ``y``."""
    if any(isinstance(operand, Selection) for operand in (condition, x, y)):
        return of_selections(b, partial(where, b), (condition, x, y))
    condition, x, y = as_tensor(condition), as_tensor(x), as_tensor(y)
    dtype = elementwise(b, "add", *(replace(one, types=frozenset()) for one in (x, y))).dtype
    shape = broadcast_shapes(b, condition.shape, x.shape, y.shape)
    c, u, v = (broadcast_to(b, t, shape) for t in (condition, x, y))

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
