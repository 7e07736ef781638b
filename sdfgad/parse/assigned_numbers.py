"""Numbers of Python that are written into arrays of integers: NumPy raises where one does not fit."""

from __future__ import annotations

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.ir.expr import BOOL, Const, Expr, Int, Op
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor

TODO = "NumPy raises OverflowError here, too. Convert the array first, as in `x.astype(np.int64)`."


def require_fits(b: Builder, x: Tensor, value: Tensor) -> None:
    """Require that a number of Python, of which NumPy takes the whole part, fits into an array's dtype."""
    is_float = value.dtype.kind == "f"
    # Numbers that leave 32 bits are large in Python as well.
    is_narrow = x.dtype.kind == "u" or x.dtype.itemsize < 4
    if not value.weak or value.ndim or x.dtype.kind not in "iu" or not (is_float or is_narrow):
        return
    number, limits = value.at(), np.iinfo(x.dtype)
    what = f"a number of Python is out of bounds for {x.dtype}"
    if isinstance(number, Const) and is_float:
        if not float(limits.min) - 1 < number.value < float(limits.max) + 1:
            raise b.unsupported(what, TODO)
        return
    if isinstance(number, Int) and b.holds(number.value - int(limits.min)) and b.holds(-number.value + int(limits.max)):
        return
    b.may_raise(what, OverflowError, ValueError, symbols=number.symbols)
    b.check(_is_between(number, int(limits.min), int(limits.max), is_float), (), what, ArgumentError, TODO)


def _is_between(number: Expr, least: int, most: int, is_float: bool) -> Expr:
    """Whether the whole part of a number is in a range; not that of NaN."""
    if is_float:
        ends = (
            Op("greater", (number, Const(float(least) - 1, number.dtype)), BOOL),
            Op("less", (number, Const(float(most) + 1, number.dtype)), BOOL),
        )
    else:
        most = min(most, np.iinfo(number.dtype).max)
        ends = (
            Op("greater_equal", (number, Const(least, number.dtype)), BOOL),
            Op("less_equal", (number, Const(most, number.dtype)), BOOL),
        )
    return Op("logical_and", ends, BOOL)
