"""The functions of the module math, in double precision; the results are Python numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from sdfgad.ir.expr import INT, Int, Op, as_linear
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, where
from sdfgad.parse.functions.python import as_float, new_value, rows_of
from sdfgad.parse.integers import as_int, whole
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor, as_tensor, is_integer, is_whole, scalar

_NAMES = {
    **{name: name for name in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "erf", "erfc")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "degrees", "radians", "fabs", "copysign")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{name: name for name in ("fmod", "isnan", "isinf", "isfinite", "gamma", "nextafter")},
    **{"lgamma": "gammaln", "pow": "power", "remainder": "ieee_remainder"},
}


def _of_floats(name: str) -> Callable[..., Tensor]:
    def handler(b: Builder, *operands: Any) -> Tensor:
        return elementwise(b, name, *(as_float(b, operand) for operand in operands))

    return handler


for _name, _operation in _NAMES.items():
    function(getattr(math, _name), static=True)(_of_floats(_operation))

_log, _sqrt, _hypot, _multiply, _subtract = map(_of_floats, ("log", "sqrt", "hypot", "multiply", "subtract"))


@function(math.log, static=True)
def log(b: Builder, x: Any, base: Any = None) -> Tensor:
    return _log(b, x) if base is None else elementwise(b, "divide", _log(b, x), _log(b, base))


@function(math.hypot, static=True)
def hypot(b: Builder, *coordinates: Any) -> Tensor:
    if len(coordinates) == 1:
        return elementwise(b, "absolute", as_float(b, coordinates[0]))
    result = as_float(b, 0.0 if not coordinates else coordinates[0])
    for coordinate in coordinates[1:]:
        result = _hypot(b, result, coordinate)
    return result if len(coordinates) < 3 else _length(b, [as_float(b, one) for one in coordinates], result)


def _length(b: Builder, coordinates: list[Tensor], otherwise: Tensor) -> Tensor:
    """The length of a vector, scaled by its largest coordinate; `otherwise` where that is 0 or infinite.

    The length of two coordinates has a kink where both are 0, the length of all has none there.
    """
    op = partial(elementwise, b)
    largest = reduce(partial(op, "maximum"), [op("held", op("absolute", one)) for one in coordinates])
    is_scale = op("logical_and", op("greater", largest, 0.0), op("isfinite", largest))
    scale = where(b, is_scale, largest, 1.0)
    squares = [op("square", op("divide", one, scale)) for one in coordinates]
    length = op("multiply", scale, op("root_of_squares", reduce(partial(op, "add"), squares)))
    return as_tensor(where(b, is_scale, length, otherwise))


@function(math.dist, static=True)
def dist(b: Builder, p: Any, q: Any) -> Tensor:
    pairs = zip(rows_of(b, p), rows_of(b, q), strict=True)
    return hypot(b, *(_subtract(b, x, y) for x, y in pairs))


@function(math.fsum, static=True)
def fsum(b: Builder, values: Any) -> Tensor:
    """The sum from left to right, without compensation of rounding errors."""
    total = as_float(b, 0.0)
    for value in rows_of(b, values):
        total = elementwise(b, "add", total, as_float(b, value))
    return total


@function(math.prod, static=True)
def prod(b: Builder, values: Any, *, start: Any = 1) -> Any:
    total = start
    for value in rows_of(b, values):
        is_first = is_integer(total) and total == 1
        # The product of one array is another one.
        total = new_value(b, value) if is_first else elementwise(b, "multiply", total, value)
    return total


@function(math.ldexp, static=True)
def ldexp(b: Builder, x: Any, exponent: Any) -> Tensor:
    return elementwise(b, "ldexp", as_float(b, x), exponent)


@function(math.modf, static=True)
def modf(b: Builder, x: Any) -> tuple[Tensor, Tensor]:
    number = as_float(b, x)
    return elementwise(b, "fractional", number), elementwise(b, "trunc", number)


@function(math.ulp, static=True)
def ulp(b: Builder, x: Any) -> Tensor:
    """The unit in the last place; infinity for infinity."""
    size = elementwise(b, "absolute", as_float(b, x))
    is_infinite, spacing = elementwise(b, "isinf", size).at(), elementwise(b, "spacing", size).at()
    return scalar(Op("select", (is_infinite, size.at(), spacing), size.dtype), weak=True)


def _rounded(how: str) -> Callable[..., Any]:
    def handler(b: Builder, x: Any) -> Any:
        return x if is_integer(x) else whole(b, how, x)

    return handler


for _name in ("floor", "ceil", "trunc"):
    function(getattr(math, _name), static=True)(_rounded(_name))


@function(math.isclose, static=True)
def isclose(b: Builder, x: Any, y: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Tensor:
    x, y = as_float(b, x), as_float(b, y)
    size = elementwise(b, "fmax", elementwise(b, "absolute", x), elementwise(b, "absolute", y))
    distance = elementwise(b, "absolute", elementwise(b, "subtract", x, y))
    bound = elementwise(b, "fmax", elementwise(b, "multiply", rel_tol, size), abs_tol)
    near = elementwise(
        b, "logical_and", elementwise(b, "less_equal", distance, bound), elementwise(b, "isfinite", size)
    )
    return elementwise(b, "logical_or", near, elementwise(b, "equal", x, y))


def _of_integers(original: Callable[..., int]) -> Callable[..., int]:
    """A handler of a function of integers; run-time integers become constants."""

    def handler(b: Builder, *operands: Any) -> int:
        if not all(map(is_whole, operands)):
            raise b.unsupported(
                f"math.{original.__name__} of a number that is known only at run time, or a float, is not supported",
                "Pass the number as an integer argument, int(n), or pass the result as an argument.",
            )
        result: int = b.python(original, *map(b.constant, operands))
        return result

    return handler


for _original in (math.factorial, math.comb, math.perm, math.isqrt):
    function(_original, static=True)(_of_integers(_original))


@function(math.gcd, static=True)
def gcd(b: Builder, *values: Any) -> Any:
    return _folded(b, "gcd", 0, values)


@function(math.lcm, static=True)
def lcm(b: Builder, *values: Any) -> Any:
    return _folded(b, "lcm", 1, values)


def _folded(b: Builder, name: str, start: int, values: tuple[Any, ...]) -> Any:
    result: Any = start
    for value in (as_int(b, v) for v in values):
        result = value if result is start else as_linear(Op(name, (Int(result), Int(value)), INT))
    return result if len(values) != 1 else as_linear(Op("absolute", (Int(result),), INT))


@function(math.frexp, static=True)
def frexp(b: Builder, x: Any) -> Any:
    raise b.unsupported(
        "math.frexp of a number that is known only at run time is not supported",
        "Write e = np.floor(np.log2(abs(x))) + 1 and m = x / 2.0**e.",
    )


if hasattr(math, "sumprod"):

    @function(math.sumprod, static=True)
    def sumprod(b: Builder, p: Any, q: Any) -> Any:
        pairs = zip(rows_of(b, p), rows_of(b, q), strict=True)
        total: Any = 0
        for x, y in pairs:
            total = elementwise(b, "add", total, elementwise(b, "multiply", x, y))
        return total
