"""Vector-Jacobian products of special functions that are integrals, inverses or solutions of differential equations."""

from __future__ import annotations

import math

from sdfgad.ir.expr import Const, Expr, Op
from sdfgad.rules.algebra import add, call, compare, const, div, mul, neg, select, sub
from sdfgad.rules.elementary import Cotangents, elementary

# --- integrals


@elementary("exp1")
def exp1(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (neg(mul(t, div(call("exp", neg(a)), a))),)


@elementary("expi")
def expi(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, div(call("exp", a), a)),)


@elementary("expn_of")
def expn(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    """The negative one of the order before, whose exponent is ``-1`` for order 0."""
    assert isinstance(order, Const)
    if order.value > 0:
        return neg(mul(t, call("expn_of", a, Const(order.value - 1, order.dtype)))), None
    return neg(mul(t, add(y, div(y, a)))), None


@elementary("erfi")
def erfi(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, mul(const(2 / math.sqrt(math.pi), a), call("exp", call("square", a)))),)


@elementary("dawsn")
def dawsn(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, call("dawsn_slope", a)),)


@elementary("dawsn_slope")
def dawsn_slope(t: Expr, y: Expr, a: Expr) -> Cotangents:
    return (mul(t, mul(const(-2, a), add(call("dawsn", a), mul(a, y)))),)


@elementary("owens_t")
def owens_t(t: Expr, y: Expr, h: Expr, a: Expr) -> Cotangents:
    squared, root = call("square", h), math.sqrt(0.5)
    bell = mul(const(-0.5 / math.sqrt(2 * math.pi), h), call("exp", mul(const(-0.5, h), squared)))
    rest = add(const(1, a), call("square", a))
    by_a = div(call("exp", mul(const(-0.5, h), mul(squared, rest))), mul(const(2 * math.pi, a), rest))
    return mul(t, mul(bell, call("erf", mul(const(root, h), mul(h, a))))), mul(t, by_a)


@elementary("hurwitz_zeta")
def hurwitz_zeta(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    assert isinstance(order, Const)
    return neg(mul(t, mul(order, call("hurwitz_zeta", a, Const(order.value + 1, order.dtype))))), None


# --- inverses


@elementary("lambert_w")
def lambert_w(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    return mul(t, div(call("exp", neg(y)), add(const(1, a), y))), None


@elementary("gammaincinv", "gammainccinv")
def gammaincinv(t: Expr, y: Expr, a: Expr, p: Expr) -> Cotangents:
    """By the implicit function theorem: ``gammainc(a, y) = p``."""
    assert isinstance(y, Op)
    scaled = div(t, call("gamma_density", a, y))
    by_shape = neg(mul(scaled, call("gammainc_by_shape", a, y)))
    return by_shape, scaled if y.name == "gammaincinv" else neg(scaled)


@elementary("betaincinv", "betainccinv")
def betaincinv(t: Expr, y: Expr, a: Expr, b: Expr, p: Expr) -> Cotangents:
    assert isinstance(y, Op)
    scaled = div(t, call("beta_density", a, b, y))
    by_a = neg(mul(scaled, call("betainc_by_shape", a, b, y)))
    by_b = mul(scaled, call("betainc_by_shape", b, a, sub(const(1, y), y)))
    return by_a, by_b, scaled if y.name == "betaincinv" else neg(scaled)


# --- solutions of differential equations


@elementary("airy_ai", "airy_bi")
def airy(t: Expr, y: Expr, a: Expr) -> Cotangents:
    assert isinstance(y, Op)
    return (mul(t, call(f"{y.name}_slope", a)),)


@elementary("airy_ai_slope", "airy_bi_slope")
def airy_slope(t: Expr, y: Expr, a: Expr) -> Cotangents:
    assert isinstance(y, Op)
    return (mul(t, mul(a, call(y.name.removesuffix("_slope"), a))),)


@elementary("spherical_j", "spherical_y", "spherical_i", "spherical_k")
def spherical(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    """``(2n + 1) f(n)' = n f(n - 1) - (n + 1) f(n + 1)``, with other signs for i and k (NIST DLMF 10.51)."""
    assert isinstance(y, Op)
    assert isinstance(order, Const)
    n = order.value
    low, high = {"spherical_i": (1, 1), "spherical_k": (-1, -1)}.get(y.name, (1, -1))
    slope = mul(const(high * (n + 1) / (2 * n + 1), a), call(y.name, a, Const(n + 1, order.dtype)))
    if n > 0:
        before = mul(const(low * n / (2 * n + 1), a), call(y.name, a, Const(n - 1, order.dtype)))
        slope = add(before, slope)
    if y.name in ("spherical_y", "spherical_k"):
        # both terms are infinite at 0, of opposite signs
        at_zero = const(math.inf if y.name == "spherical_y" else -math.inf, a)
        slope = select(compare("equal", a, const(0, a)), at_zero, slope)
    return mul(t, slope), None


@elementary("hyp0f1")
def hyp0f1(t: Expr, y: Expr, a: Expr, order: Expr) -> Cotangents:
    assert isinstance(order, Const)
    return mul(t, mul(const(1 / order.value, a), call("hyp0f1", a, Const(order.value + 1, order.dtype)))), None


@elementary("hyp1f1")
def hyp1f1(t: Expr, y: Expr, x: Expr, a: Expr, b: Expr) -> Cotangents:
    assert isinstance(a, Const)
    assert isinstance(b, Const)
    following = call("hyp1f1", x, Const(a.value + 1, a.dtype), Const(b.value + 1, b.dtype))
    return mul(t, mul(const(a.value / b.value, x), following)), None, None
