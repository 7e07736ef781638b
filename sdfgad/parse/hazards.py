"""Domain errors: where functions of Python's numbers raise, and NumPy's give infinity or NaN."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from sdfgad.ir.expr import BOOL, Expr, Op, conjunction
from sdfgad.parse.values import as_tensor

# What functions of `math` and `cmath` raise, where that is not ValueError alone.
KINDS: dict[Any, tuple[type[BaseException], ...]] = {
    **dict.fromkeys((math.exp, math.expm1, math.exp2, math.cosh, math.sinh), (OverflowError,)),
    **dict.fromkeys((math.pow, math.gamma, math.lgamma, math.ldexp), (ValueError, OverflowError)),
    **dict.fromkeys((cmath.exp, cmath.cosh, cmath.sinh, cmath.sin, cmath.cos), (ValueError, OverflowError)),
}


def is_regular(result: Any, arguments: Sequence[Any]) -> Expr | None:
    """Whether Python has this result of numbers, rather than an exception; None for complex numbers.

    NaN gives NaN, and infinity may give infinity; everything else that is not finite is an error.
    """
    value, given = as_tensor(result), [as_tensor(one) for one in arguments]
    if value.ndim or any(one.ndim or one.dtype.kind == "c" for one in (value, *given)):
        return None
    floats = [one.at() for one in given if one.dtype.kind == "f"]
    is_nan = [_test("isnan", x) for x in floats]
    if value.dtype.kind != "f":
        return _all([_test("isfinite", x) for x in floats]) if floats else None
    y = value.at()
    infinite = [conjunction(_test("isinf", x), Op("logical_not", (_test("isnan", y),), BOOL)) for x in floats]
    return reduce(_either, [*is_nan, *infinite], _test("isfinite", y))


def _test(name: str, x: Expr) -> Expr:
    return Op(name, (x,), BOOL)


def _all(tests: list[Expr]) -> Expr:
    return reduce(conjunction, tests)


def _either(x: Expr, y: Expr) -> Expr:
    return Op("logical_or", (x, y), BOOL)
