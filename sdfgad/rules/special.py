"""Vector-Jacobian products of special functions; see `sdfgad.rules.elementary`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op
from sdfgad.rules.algebra import add, call, compare, const, div, mul, neg, select, sub
from sdfgad.rules.elementary import Cotangents, elementary


@elementary("erfcx")
def erfcx(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, sub(mul(mul(const(2, a), a), y), const(2 / math.sqrt(math.pi), a))),)


@elementary("erfcinv")
def erfcinv(t: Expr, y: Expr, a: Expr) -> Cotangents:
    bell = mul(const(2 / math.sqrt(math.pi), y), call("exp", neg(call("square", y))))
    return (neg(div(t, bell)),)


@elementary("log_ndtr")
def log_ndtr(t: Expr, y: Expr, a: Expr) -> Cotangents:
    """The density over the distribution function, which do not underflow where both do."""
    scaled = call("erfcx", mul(const(-math.sqrt(0.5), a), a))
    return (mul(t, div(const(math.sqrt(2 / math.pi), a), scaled)),)


# --- Bessel functions


@elementary("i0")
def i0(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, call("i1", a)),)


@elementary("i1")
def i1(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, sub(call("i0", a), call("bessel_i_quotient", a, Const(1, INT)))),)


@elementary("i0e")
def i0e(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, sub(call("i1e", a), mul(call("sign", a), y))),)


@elementary("i1e")
def i1e(t: Expr, y: Expr, a: Expr) -> Cotangents:
    slope = sub(call("i0e", a), call("bessel_ie_quotient", a, Const(1, INT)))
    return (mul(t, sub(slope, mul(call("sign", a), y))),)


@elementary("j0")
def j0(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (neg(mul(t, call("j1", a))),)


@elementary("j1")
def j1(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, sub(call("j0", a), call("bessel_j_quotient", a, Const(1, INT)))),)


@elementary("bessel_j_quotient", "bessel_i_quotient", "bessel_ie_quotient")
def bessel_quotient(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    """``f(n, a) / a**n``: its derivative is a times that of the next order, minus that for J (DLMF 10.6.6, 10.29.4)."""
    assert isinstance(y, Op)
    slope = mul(a, call(y.name, a, add(order, const(1, order))))
    if y.name == "bessel_ie_quotient":
        slope = sub(slope, mul(call("sign", a), y))
    return mul(t, neg(slope) if y.name == "bessel_j_quotient" else slope), None


@elementary("bessel_j")
def bessel_j(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    one = const(1, order)
    neighbours = sub(call("bessel_j", a, sub(order, one)), call("bessel_j", a, add(order, one)))
    return mul(t, mul(const(0.5, a), neighbours)), None


@elementary("bessel_jv", "bessel_y", "bessel_i", "bessel_k")
def bessel_of_real_order(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    """``f(v, a)' = v / a f(v, a) - f(v + 1, a)``, with a plus for I (NIST DLMF 10.6.2 and 10.29.2).

    Of what is 0 / 0 at 0, and has derivatives there, ``f(v, a)' = (f(v - 1, a) - f(v + 1, a)) / 2`` (10.6.1, 10.29.1).
    """
    assert isinstance(y, Op)
    assert isinstance(order, Const)
    next_one = call(y.name, a, Const(order.value + 1, order.dtype))
    is_first_kind = y.name in ("bessel_jv", "bessel_i", "bessel_ie")
    next_one = next_one if y.name in ("bessel_i", "bessel_ie") else neg(next_one)
    if order.value == 0:
        return mul(t, next_one), None
    if is_first_kind and order.value >= 1:
        before = call(y.name, a, Const(order.value - 1, order.dtype))
        return mul(t, mul(const(0.5, a), add(before, next_one))), None
    quotient = div(y, a)
    if is_first_kind:
        is_zero = compare("equal", a, const(0, a))
        quotient = select(is_zero, const(math.inf, a), div(y, select(is_zero, const(1, a), a)))
    return mul(t, add(mul(order, quotient), next_one)), None


@elementary("bessel_ie", "bessel_ke")
def scaled_bessel(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    """``exp(-|a|) I(v, a)`` and ``exp(a) K(v, a)``."""
    assert isinstance(y, Op)
    slope, _ = bessel_of_real_order(const(1, a), y, a, order)
    assert slope is not None
    by_scale = neg(mul(call("sign", a), y)) if y.name == "bessel_ie" else y
    return mul(t, add(slope, by_scale)), None


# --- gamma and beta functions


@elementary("trigamma")
def trigamma(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, call("polygamma_of", a, Const(2, INT))),)


@elementary("polygamma_of")
def polygamma(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    return mul(t, call("polygamma_of", a, add(order, const(1, order)))), None


@elementary("betaln")
def betaln(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    both = call("digamma", add(a, b))
    return mul(t, sub(call("digamma", a), both)), mul(t, sub(call("digamma", b), both))


@elementary("beta")
def beta(t: Expr, y: Expr, a: Expr, b: Expr) -> Cotangents:
    return betaln(mul(t, y), y, a, b)


@elementary("gammainc")
def gammainc(t: Expr, y: Expr, a: Expr, x: Expr) -> Cotangents:
    return mul(t, call("gammainc_by_shape", a, x)), mul(t, call("gamma_density", a, x))


@elementary("gammaincc")
def gammaincc(t: Expr, y: Expr, a: Expr, x: Expr) -> Cotangents:
    return gammainc(neg(t), y, a, x)


@elementary("gamma_density")
def gamma_density(t: Expr, y: Expr, a: Expr, x: Expr) -> Cotangents:
    by_a = sub(_log_beside(a, x), call("digamma", a))
    by_x = sub(_falling(a, x, y, lambda less: call("gamma_density", less, x)), y)
    return mul(t, mul(y, by_a)), mul(t, by_x)


def _log_beside(a: Expr, x: Expr) -> Expr:
    """``log(x)``, but finite at 0 beside ``x**(a - 1)`` with ``a > 1``, which vanishes faster than it grows."""
    vanishes = Op("logical_and", (compare("equal", x, const(0, x)), compare("greater", a, const(1, a))), BOOL)
    return call("log", select(vanishes, _least(x), x))


def _falling(a: Expr, x: Expr, y: Expr, lower: Callable[[Expr], Expr]) -> Expr:
    """``y (a - 1) / x`` of a density y with the factor ``x**(a - 1)``.

    Args:
        lower: a -> that quotient by the density of a power less, which has no division where both are 0.
    """
    less, is_zero = sub(a, const(1, a)), compare("equal", x, const(0, x))
    is_above = compare("greater", a, const(1, a))
    quotient = div(mul(less, y), select(is_zero, _least(x), x))
    return select(is_above, lower(select(is_above, less, a)), quotient)


def _least(x: Expr) -> Expr:
    return const(np.finfo(x.dtype).tiny, x)


@elementary("betainc")
def betainc(t: Expr, y: Expr, a: Expr, b: Expr, x: Expr) -> Cotangents:
    by_b = neg(call("betainc_by_shape", b, a, sub(const(1, x), x)))
    return mul(t, call("betainc_by_shape", a, b, x)), mul(t, by_b), mul(t, call("beta_density", a, b, x))


@elementary("betaincc")
def betaincc(t: Expr, y: Expr, a: Expr, b: Expr, x: Expr) -> Cotangents:
    return betainc(neg(t), y, a, b, x)


@elementary("beta_density")
def beta_density(t: Expr, y: Expr, a: Expr, b: Expr, x: Expr) -> Cotangents:
    both, slope, rest = call("digamma", add(a, b)), mul(t, y), sub(const(1, x), x)
    by_a = add(_log_beside(a, x), sub(both, call("digamma", a)))
    by_b = add(select(_is_one(x), _log_beside(b, rest), call("log1p", neg(x))), sub(both, call("digamma", b)))
    scale = sub(add(a, b), const(1, x))
    first = _falling(a, x, y, lambda less: mul(scale, call("beta_density", less, b, x)))
    second = _falling(b, rest, y, lambda less: mul(scale, call("beta_density", a, less, x)))
    # Where the density is infinite at an end, the term of that end grows faster.
    at_end = select(compare("equal", x, const(0, x)), first, neg(second))
    by_x = select(compare("equal", y, const(math.inf, y)), at_end, sub(first, second))
    return mul(slope, by_a), mul(slope, by_b), mul(t, by_x)


def _is_one(x: Expr) -> Expr:
    return compare("equal", x, const(1, x))


@elementary("stdtr")
def stdtr(t: Expr, y: Expr, df: Expr, x: Expr) -> Cotangents:
    """By its argument, the density of Student's t distribution."""
    half = const(0.5, df)
    tail = mul(mul(half, add(df, const(1, df))), call("log1p", div(call("square", x), df)))
    log_density = sub(neg(add(call("betaln", half, mul(half, df)), mul(half, call("log", df)))), tail)
    return mul(t, call("stdtr_by_shape", df, x)), mul(t, call("exp", log_density))
