"""Vector-Jacobian products of the elementary operations.

A rule takes the cotangent ``t``, the operation's result ``y`` and its operands, and returns one cotangent for each
operand; None where the derivative is zero everywhere it exists. A rule that uses neither the result nor an operand
keeps nothing alive.

Kinks: a tie of maximum or minimum splits the cotangent evenly; the derivative of the absolute value at 0 is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sdfgad.ir.expr import Expr
from sdfgad.rules.algebra import add, call, cast, compare, const, div, mul, neg, select, sub

Cotangents = tuple[Expr | None, ...]
ElementaryRule = Callable[..., Cotangents]

ELEMENTARY: dict[str, ElementaryRule] = {}


def elementary(*names: str) -> Callable[[ElementaryRule], ElementaryRule]:
    """Register the rule of the operations `names`."""

    def register(rule: ElementaryRule) -> ElementaryRule:
        ELEMENTARY.update(dict.fromkeys(names, rule))
        return rule

    return register


def _table(rules: dict[str, ElementaryRule]) -> None:
    ELEMENTARY.update(rules)


_table(
    {
        # arithmetic
        "add": lambda t, y, a, b: (t, t),
        "subtract": lambda t, y, a, b: (t, neg(t)),
        "multiply": lambda t, y, a, b: (mul(t, b), mul(t, a)),
        "divide": lambda t, y, a, b: (div(t, b), neg(div(mul(t, y), b))),
        "negative": lambda t, y, a: (neg(t),),
        "positive": lambda t, y, a: (t,),
        "square": lambda t, y, a: (mul(t, mul(const(2, a), a)),),
        "reciprocal": lambda t, y, a: (neg(mul(t, call("square", y))),),
        "sqrt": lambda t, y, a: (div(mul(t, const(0.5, a)), y),),
        "cbrt": lambda t, y, a: (div(t, mul(const(3, a), call("square", y))),),
        "hypot": lambda t, y, a, b: (div(mul(t, a), y), div(mul(t, b), y)),
        # exponentials and logarithms
        "exp": lambda t, y, a: (mul(t, y),),
        "exp2": lambda t, y, a: (mul(t, mul(const(math.log(2), a), y)),),
        "expm1": lambda t, y, a: (mul(t, add(y, const(1, a))),),
        "log": lambda t, y, a: (div(t, a),),
        "log2": lambda t, y, a: (div(t, mul(const(math.log(2), a), a)),),
        "log10": lambda t, y, a: (div(t, mul(const(math.log(10), a), a)),),
        "log1p": lambda t, y, a: (div(t, add(const(1, a), a)),),
        "logaddexp": lambda t, y, a, b: (mul(t, call("exp", sub(a, y))), mul(t, call("exp", sub(b, y)))),
        # trigonometry
        "sin": lambda t, y, a: (mul(t, call("cos", a)),),
        "cos": lambda t, y, a: (neg(mul(t, call("sin", a))),),
        "tan": lambda t, y, a: (mul(t, add(const(1, a), call("square", y))),),
        "arcsin": lambda t, y, a: (div(t, _sqrt_one_minus_square(a)),),
        "arccos": lambda t, y, a: (neg(div(t, _sqrt_one_minus_square(a))),),
        "arctan": lambda t, y, a: (div(t, add(const(1, a), call("square", a))),),
        "sinh": lambda t, y, a: (mul(t, call("cosh", a)),),
        "cosh": lambda t, y, a: (mul(t, call("sinh", a)),),
        "tanh": lambda t, y, a: (mul(t, sub(const(1, a), call("square", y))),),
        "arcsinh": lambda t, y, a: (div(t, call("sqrt", add(call("square", a), const(1, a)))),),
        "arccosh": lambda t, y, a: (div(t, mul(call("sqrt", sub(a, const(1, a))), call("sqrt", add(a, const(1, a))))),),
        "arctanh": lambda t, y, a: (div(t, mul(sub(const(1, a), a), add(const(1, a), a))),),
        "deg2rad": lambda t, y, a: (mul(t, const(math.pi / 180, a)),),
        "rad2deg": lambda t, y, a: (mul(t, const(180 / math.pi, a)),),
        # kinks
        "absolute": lambda t, y, a: (mul(t, call("sign", a)),),
        "fabs": lambda t, y, a: (mul(t, call("sign", a)),),
        "maximum": lambda t, y, a, b: _split(t, "greater", a, b),
        "minimum": lambda t, y, a, b: _split(t, "less", a, b),
        "fmax": lambda t, y, a, b: _split(t, "greater", a, b),
        "fmin": lambda t, y, a, b: _split(t, "less", a, b),
        # the derivative is zero wherever it exists
        **dict.fromkeys(("floor", "ceil", "trunc", "rint", "sign"), lambda t, y, a: (None,)),
        "heaviside": lambda t, y, a, b: (None, select(compare("equal", a, const(0, a)), t, const(0, a))),
    }
)


def _sqrt_one_minus_square(a: Expr) -> Expr:
    return call("sqrt", mul(sub(const(1, a), a), add(const(1, a), a)))


def _split(t: Expr, wins: str, a: Expr, b: Expr) -> Cotangents:
    """All to the operand that wins (or is NaN while the other is not), half to each on a tie."""
    half, zero = mul(t, const(0.5, t)), const(0, t)
    tie = compare("equal", a, b)
    left = select(compare(wins, a, b), t, select(tie, half, zero))
    right = select(compare(wins, b, a), t, select(tie, half, zero))
    return left, right


@elementary("power")
def power(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    """``a ** b``; the derivative by the exponent at base 0 is 0, where ``0 * log(0)`` would be NaN."""
    zero, one = const(0, a), const(1, a)
    base = mul(t, mul(b, call("power", a, sub(b, one))))
    by_base = select(compare("equal", b, zero), zero, base)
    is_zero = compare("equal", a, zero)
    by_exponent = select(is_zero, zero, mul(t, mul(y, call("log", select(is_zero, one, a)))))
    return by_base, by_exponent


@elementary("arctan2")
def arctan2(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    scaled = div(t, add(call("square", a), call("square", b)))
    return mul(scaled, b), neg(mul(scaled, a))


@elementary("copysign")
def copysign(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    one = const(1, a)
    return mul(t, mul(call("copysign", one, a), call("copysign", one, b))), None


@elementary("remainder")
def remainder(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    """``a - floor(a / b) * b``, the quotient being locally constant."""
    return t, neg(mul(t, call("floor", div(a, b))))


@elementary("fmod")
def fmod(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    return t, neg(mul(t, call("trunc", div(a, b))))


@elementary("floor_divide")
def floor_divide(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    return None, None


@elementary("cast")
def cast_rule(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (cast(t, a.dtype),)


def rule_of(name: str) -> Any:
    """The rule of an operation, or None."""
    return ELEMENTARY.get(name)
