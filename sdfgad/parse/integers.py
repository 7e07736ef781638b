"""Python's numbers: extrema of integers, and conversions of numbers and elements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Expr, Int, Lin, Op, as_linear, reads
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.values import Tensor, as_tensor, astype, cast, is_integer

DOUBLE, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


def integer_extremum(b: Builder, x: Any, y: Any, name: str) -> Any:
    """The larger or smaller of two integers, simplified where it is provable which one it is."""
    difference = (Lin.of(x) - y) if name == "maximum" else (Lin.of(y) - x)
    if b.domain.implies(difference):
        return x
    if b.domain.implies(-difference):
        return y
    return as_linear(Op(name, (Int(x), Int(y)), INT))


def as_int(b: Builder, x: Any) -> Any:
    """A number as a Python integer, truncated towards zero."""
    return x if is_integer(x) else whole(b, "trunc", x)


def whole(b: Builder, how: str, number: Any) -> Any:
    """A number rounded to a Python integer by the operation `how`: rint, floor, ceil or trunc."""
    x = single(b, number)
    if x.dtype.kind == "f":
        is_finite = Op("isfinite", (x.at(),), BOOL)
        is_number = Op("logical_not", (Op("isnan", (x.at(),), BOOL),), BOOL)
        b.may_raise("NaN is no integer", ValueError, unless=is_number)
        b.may_raise("infinity is no integer", OverflowError, unless=is_finite)
    value = cast(elementwise(b, how, x).at() if x.dtype.kind == "f" else x.at(), INT)
    return b.fixed(value) if reads(value) else affine(b, value)


def affine(b: Builder, value: Expr) -> Lin:
    """The linear form of an integer: of those of ``k - 3`` and ``k + 1`` the difference is known."""
    if isinstance(value, Op) and value.name in ("add", "subtract") and all(x.dtype == INT for x in value.args):
        x, y = (affine(b, part) for part in value.args)
        return x + y if value.name == "add" else x - y
    return b.fixed(value) if reads(value) else as_linear(value)


def python_number(b: Builder, element: Tensor) -> Tensor:
    """An element of an array as a number of Python, which is of double precision."""
    wide = {"f": DOUBLE, "c": COMPLEX, "i": INT, "u": INT}.get(element.dtype.kind, element.dtype)
    return replace(b.materialise(astype(element, wide)), weak=True)


def single(b: Builder, x: Any) -> Tensor:
    """A number as a scalar tensor; an array with axes is unsupported."""
    tensor = as_tensor(x)
    if tensor.ndim:
        raise b.unsupported(
            "only an array without axes is a Python number", "Choose one element, x[0], or sum them up, np.sum(x)."
        )
    return tensor
