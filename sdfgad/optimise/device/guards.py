"""Predication: values that count only at some points of a box, which is larger than what they are of."""

from __future__ import annotations

import numpy as np

from sdfgad.ir.expr import Const, Expr, Int, IntLike, Lin, Op, as_linear
from sdfgad.ir.ops import identity

BOOL = np.dtype(bool)


def where_below(place: Lin, extent: IntLike, value: Expr, accumulate: str | None) -> Expr:
    """A value where ``place < extent``, elsewhere the neutral element of an accumulation; reads elsewhere are none."""
    is_inside = Op("less", (Int(place), Int(Lin.of(extent))), BOOL)
    otherwise = Const(identity(accumulate or "add", value.dtype), value.dtype)
    return Op("select", (is_inside, value, otherwise), value.dtype)


def chosen(guard: Expr, form: Lin) -> Lin:
    """An index where a condition holds, elsewhere 0, which is one of an element that there is."""
    return as_linear(Op("select", (guard, Int(form), Int(Lin(0))), Int(form).dtype))
