"""Vector-Jacobian products of the elementary operations.

A rule takes the cotangent ``t``, the operation's result ``y`` and its operands, and returns one cotangent for each
operand; None where the derivative is zero everywhere it exists. A rule that uses neither the result nor an operand
keeps nothing alive. The same rule serves complex numbers where the operation is holomorphic.

Kinks: a tie of maximum or minimum splits the cotangent evenly; the derivatives of the absolute value, and of the length
of a vector, are 0 at 0.

A derivative may be infinite, or no number, where the operation itself has a value: of the square root at 0, say. What
depends on it there has no gradient, but a cotangent of exactly 0 stays 0: `pulled` sees to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op
from sdfgad.rules.algebra import (
    add,
    call,
    cast,
    compare,
    complex_of,
    conjugate,
    const,
    div,
    imag,
    mul,
    neg,
    real,
    select,
    strong,
    sub,
)

Cotangents = tuple[Expr | None, ...]
ElementaryRule = Callable[..., Cotangents]

ELEMENTARY: dict[str, ElementaryRule] = {}

# Operations with a derivative that is not finite somewhere.
SINGULAR = {
    *(
        "divide",
        "reciprocal",
        "power",
        "float_power",
        "sqrt",
        "root_of_squares",
        "cbrt",
        "hypot",
        "remainder",
        "fmod",
        "ieee_remainder",
    ),
    *("exp", "exp2", "expm1", "sinh", "cosh", "log", "log2", "log10", "log1p"),
    *("arcsin", "arccos", "arccosh", "arctanh", "arctan2"),
    *("gamma", "gammaln", "digamma", "trigamma", "polygamma_of", "erfinv", "logit", "xlogy", "xlog1py", "i0", "i1"),
    *("erfcx", "erfcinv", "beta", "betaln", "gammainc", "gammaincc", "gamma_density"),
    *("betainc", "betaincc", "beta_density", "stdtr", "bessel_jv", "bessel_y", "bessel_i", "bessel_k", "bessel_ie"),
    *("bessel_ke", "spherical_y", "spherical_i", "spherical_k", "exp1", "expi", "expn_of", "erfi", "hurwitz_zeta"),
    *("lambert_w", "airy_bi", "airy_bi_slope", "gammaincinv", "gammainccinv", "betaincinv", "betainccinv"),
    *("airy_ai_slope", "hyp0f1", "hyp1f1"),
}


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
        "root_of_squares": lambda t, y, a: (_unless_zero(y, div(mul(t, const(0.5, a)), y)),),
        "hypot": lambda t, y, a, b: (_unless_zero(y, div(mul(t, a), y)), _unless_zero(y, div(mul(t, b), y))),
        # exponentials and logarithms
        "exp": lambda t, y, a: (mul(t, y),),
        "exp2": lambda t, y, a: (mul(t, mul(const(math.log(2), a), y)),),
        "expm1": lambda t, y, a: (mul(t, add(y, const(1, a))),),
        "log": lambda t, y, a: (div(t, a),),
        "log2": lambda t, y, a: (div(t, mul(const(math.log(2), a), a)),),
        "log10": lambda t, y, a: (div(t, mul(const(math.log(10), a), a)),),
        "log1p": lambda t, y, a: (div(t, add(const(1, a), a)),),
        "logaddexp": lambda t, y, a, b: (mul(t, _share(1.0, a, b)), mul(t, _share(1.0, b, a))),
        "logaddexp2": lambda t, y, a, b: (mul(t, _share(math.log(2), a, b)), mul(t, _share(math.log(2), b, a))),
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
        **dict.fromkeys(("deg2rad", "radians"), lambda t, y, a: (mul(t, const(math.pi / 180, a)),)),
        **dict.fromkeys(("rad2deg", "degrees"), lambda t, y, a: (mul(t, const(180 / math.pi, a)),)),
        "sinc": lambda t, y, a: (mul(t, call("sinc_derivative", a, Const(1, INT))),),
        "sinc_derivative": lambda t, y, a, n: (mul(t, call("sinc_derivative", a, add(n, const(1, n)))), None),
        # special functions
        "erf": lambda t, y, a: (mul(t, _bell(a)),),
        "erfc": lambda t, y, a: (neg(mul(t, _bell(a))),),
        "erfinv": lambda t, y, a: (div(t, _bell(y)),),
        "gamma": lambda t, y, a: (mul(t, mul(y, call("digamma", a))),),
        "gammaln": lambda t, y, a: (mul(t, call("digamma", a)),),
        "digamma": lambda t, y, a: (mul(t, call("trigamma", a)),),
        "expit": lambda t, y, a: (mul(t, mul(y, call("expit", neg(a)))),),
        "log_expit": lambda t, y, a: (mul(t, call("expit", neg(a))),),
        "logit": lambda t, y, a: (div(t, mul(a, sub(const(1, a), a))),),
        "xlogy": lambda t, y, a, b: (mul(t, call("log", b)), _ratio(t, a, b)),
        "xlog1py": lambda t, y, a, b: (mul(t, call("log1p", b)), _ratio(t, a, add(const(1, b), b))),
        # kinks
        "fabs": lambda t, y, a: (mul(t, call("sign", a)),),
        "maximum": lambda t, y, a, b: _split(t, "greater", a, b),
        "minimum": lambda t, y, a, b: _split(t, "less", a, b),
        "fmax": lambda t, y, a, b: _split_of_numbers(t, "greater", a, b),
        "fmin": lambda t, y, a, b: _split_of_numbers(t, "less", a, b),
        "later_if_greater": lambda t, y, a, b: _split_first(t, "greater", a, b),
        "later_if_less": lambda t, y, a, b: _split_first(t, "less", a, b),
        # the same but for whole numbers, the last bit or a scale
        **dict.fromkeys(("fractional", "conjugate"), lambda t, y, a: (t,)),
        "nextafter": lambda t, y, a, b: (t, None),
        "round_decimals": lambda t, y, a, b: (None, None),
        "ldexp": lambda t, y, a, b: (call("ldexp", t, b), None),
        # the derivative is zero wherever it exists
        **dict.fromkeys(("floor", "ceil", "trunc", "rint", "sign", "spacing"), lambda t, y, a: (None,)),
        "floor_divide": lambda t, y, a, b: (None, None),
        "held": lambda t, y, a: (None,),
        "heaviside": lambda t, y, a, b: (None, select(compare("equal", a, const(0, a)), t, const(0, a))),
    }
)


def _sqrt_one_minus_square(a: Expr) -> Expr:
    return call("sqrt", mul(sub(const(1, a), a), add(const(1, a), a)))


def _bell(a: Expr) -> Expr:
    """The derivative of erf."""
    return mul(const(2 / math.sqrt(math.pi), a), call("exp", neg(call("square", a))))


def _share(log: float, a: Expr, b: Expr) -> Expr:
    """``c**a / (c**a + c**b)`` for a `c` of the given logarithm, also of infinite operands."""
    share = call("expit", mul(const(log, a), sub(a, b)))
    # Only the tie of infinite operands is a number: that of others has a derivative.
    infinite = select(Op("isinf", (a,), BOOL), const(0.5, a), share)
    return select(compare("equal", a, b), infinite, share)


def _unless_zero(a: Expr, value: Expr) -> Expr:
    return select(compare("equal", a, const(0, a)), const(0, a), value)


def _ratio(t: Expr, a: Expr, b: Expr) -> Expr:
    """``t a / b``, and 0 where both are 0; it may have a derivative where `a` alone is 0."""
    return select(compare("equal", b, const(0, b)), _unless_zero(a, div(mul(t, a), b)), div(mul(t, a), b))


def _split_first(t: Expr, wins: str, a: Expr, b: Expr) -> Cotangents:
    """All to the second operand where it wins, half to each on a tie, else all to the first."""
    half, zero, tie = mul(t, const(0.5, t)), const(0, t), compare("equal", a, b)
    is_second = compare(wins, b, a)
    return select(is_second, zero, select(tie, half, t)), select(is_second, t, select(tie, half, zero))


def _split(t: Expr, wins: str, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """All to the operand that wins, half to each on a tie."""
    half, zero = mul(t, const(0.5, t)), const(0, t)
    tie = compare("equal", a, b)
    left = select(compare(wins, a, b), t, select(tie, half, zero))
    right = select(compare(wins, b, a), t, select(tie, half, zero))
    return left, right


def _split_of_numbers(t: Expr, wins: str, a: Expr, b: Expr) -> Cotangents:
    """The same, but all to an operand where the other one is NaN."""
    left, right = _split(t, wins, a, b)
    zero = const(0, t)
    left, right = _unless_nan(b, left, t), _unless_nan(a, right, t)
    return _unless_nan(a, left, zero), _unless_nan(b, right, zero)


def _unless_nan(operand: Expr, value: Expr, otherwise: Expr) -> Expr:
    is_number = isinstance(operand, Const) and operand.value == operand.value
    return value if is_number else select(Op("isnan", (operand,), BOOL), otherwise, value)


@elementary("power", "float_power")
def power(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    """``a ** b``; the derivative by the exponent at base 0 is 0, where ``0 * log(0)`` would be NaN."""
    zero, one = const(0, a), const(1, a)
    base = mul(t, mul(b, call("power", a, sub(b, one))))
    is_zero = compare("equal", a, zero)
    # A product with an exponent of 0 has a derivative by the exponent, where it is one of numbers.
    by_base = select(compare("equal", b, zero), select(_is_number(a), base, zero), base)
    by_exponent = select(is_zero, zero, mul(t, mul(y, call("log", select(is_zero, one, a)))))
    return by_base, by_exponent


def _is_number(a: Expr) -> Expr:
    """Whether `a` is neither 0 nor NaN."""
    if a.dtype.kind == "c":
        return compare("not_equal", a, const(0, a))
    return compare("greater", call("absolute", a), const(0, a))


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
    return t, neg(mul(t, call("floor_divide", a, b)))


@elementary("fmod", "ieee_remainder")
def fmod(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    """``a - n * b``, the whole number n being locally constant: a / b itself may round to another."""
    return t, neg(mul(t, call("rint", div(sub(a, y), b))))


@elementary("cast")
def cast_rule(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (cast(t, a.dtype),)


@elementary("absolute")
def absolute(t: Expr, y: Expr, a: Expr) -> Cotangents:
    """The derivative at 0 is 0; of a complex number's, ``z / |z|``."""
    if a.dtype.kind != "c":
        return (mul(t, call("sign", a)),)
    zero = const(0, y)
    is_zero = compare("equal", y, zero)
    scale = select(is_zero, zero, div(t, select(is_zero, const(1, y), y)))
    return (complex_of(mul(scale, real(a)), mul(scale, imag(a))),)


@elementary("conjugate")
def conjugate_rule(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (conjugate(t),)


@elementary("real")
def real_rule(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (complex_of(t, const(0, t)),)


@elementary("imag")
def imag_rule(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (complex_of(const(0, t), t),)


@elementary("complex")
def complex_rule(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    return real(t), imag(t)


NOT_HOLOMORPHIC = frozenset({"absolute", "conjugate", "real", "imag", "complex", "cast"})


def is_holomorphic(node: Op) -> bool:
    """Whether an operation is one of complex numbers with a complex derivative."""
    return node.dtype.kind == "c" and node.name not in NOT_HOLOMORPHIC


def pulled(node: Op, t: Expr) -> Cotangents:
    """The cotangents of an operation's operands; where `t` is exactly 0 they are, too, whatever the derivative."""
    cotangents = _complex(node, t) if is_holomorphic(node) else ELEMENTARY[node.name](t, node, *node.args)
    if node.name not in SINGULAR or is_regular(node):
        return cotangents
    if node.name == "divide" and node.dtype.kind == "f":
        # The same guarded quotient in both, so that it is computed once, for all neighbours that need it.
        cotangents = cotangents[0], neg(mul(strong(t, div(t, node.args[1])), node))
    return tuple(None if c is None else strong(t, c) for c in cotangents)


def _complex(node: Op, t: Expr) -> Cotangents:
    """The cotangents of a holomorphic operation: ``t * conj(f'(z))``, by the rule that gives ``t * f'(x)``."""
    cotangents = ELEMENTARY[node.name](conjugate(t), node, *node.args)
    return tuple(None if c is None else conjugate(c) for c in cotangents)


def is_regular(node: Op) -> bool:
    """Whether a constant operand keeps the derivatives finite."""
    known = [arg.value if isinstance(arg, Const) else None for arg in node.args]
    if node.name in ("divide", "remainder", "fmod", "ieee_remainder"):
        return bool(known[1])
    if node.name in ("power", "float_power"):
        exponent = known[1]
        return exponent is not None and exponent.imag == 0 and (exponent.real >= 1 or exponent == 0)
    return node.name in ("hypot", "arctan2") and any(known)


def rule_of(name: str) -> Any:
    """The rule of an operation, or None."""
    return ELEMENTARY.get(name)
