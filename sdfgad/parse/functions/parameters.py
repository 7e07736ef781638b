"""Special functions of one number with parameters that are constants: SciPy need not be installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Op
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.elementwise import strong
from sdfgad.parse.registry import optional
from sdfgad.parse.values import Tensor, as_tensor, astype, scalar

_DOUBLE = np.dtype(np.float64)


def _constant(b: Builder, name: str, value: Any, example: str) -> float | int:
    """A parameter that is known while parsing."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise b.unsupported(
            f"the parameter {name} of this special function must be a constant number: "
            "SciPy has no derivative by it, and neither has sdfgad",
            f"Write a number: {example}, say; loop over several.",
        )
    return value


def _order(b: Builder, value: Any, example: str) -> int:
    """An order that is a constant whole number >= 0."""
    order = _constant(b, "n", value, example)
    if order < 0 or order != int(order):
        raise b.unsupported("the order of this special function must be a whole number that is not negative", example)
    return int(order)


def _real(b: Builder, x: Any, name: str, is_double: bool = False) -> Tensor:
    x = as_tensor(x)
    if x.dtype.kind == "c":
        raise b.unsupported(
            f"{name} of complex numbers is not supported", "Pass real numbers: z.real and z.imag of complex ones."
        )
    return x if x.dtype.kind == "f" and not is_double else astype(x, _DOUBLE)


def _of_constant(b: Builder, operation: str, x: Tensor, value: float) -> Tensor:
    return strong(elementwise(b, operation, x, scalar(Const(value, x.dtype))))


def _of_whole(b: Builder, operation: str, x: Tensor, order: int) -> Tensor:
    return strong(elementwise(b, operation, x, scalar(Const(order, INT))))


@optional("scipy.special", "expn")
def expn(b: Builder, n: Any, x: Any) -> Tensor:
    return _of_whole(b, "expn_of", _real(b, x, "expn", is_double=True), _order(b, n, "scipy.special.expn(2, x)"))


@optional("scipy.special", "zeta")
def zeta(b: Builder, x: Any, q: Any = None) -> Tensor:
    example = "scipy.special.zeta(3, q)"
    exponent = _constant(b, "x", x, example)
    if exponent <= 1:
        raise b.unsupported("zeta(x, q) is only supported of constant exponents x > 1", f"Write {example}.")
    return _of_constant(b, "hurwitz_zeta", _real(b, q, "zeta"), exponent)


@optional("scipy.special", "lambertw")
def lambertw(b: Builder, z: Any, k: Any = 0, tol: Any = 1e-8) -> Tensor:
    """As complex numbers, as SciPy's; NaN where the branch is not real."""
    branch = _constant(b, "k", k, "scipy.special.lambertw(x, -1)")
    if branch not in (0, -1):
        raise b.unsupported("lambertw is only supported of its real branches", "Write k=0 or k=-1.")
    x = _real(b, z, "lambertw", is_double=True)
    return astype(_of_constant(b, "lambert_w", x, branch), np.dtype(np.complex128))


@optional("scipy.special", "airy")
def airy(b: Builder, z: Any) -> tuple[Tensor, ...]:
    x = _real(b, z, "airy")
    return tuple(strong(elementwise(b, f"airy_{name}", x)) for name in ("ai", "ai_slope", "bi", "bi_slope"))


def _spherical(kind: str) -> Any:
    def handler(b: Builder, n: Any, z: Any, derivative: Any = False) -> Tensor:
        order = _order(b, n, f"scipy.special.spherical_{kind}n(2, x)")
        # As in SciPy 1.17, where only one of the four takes single precision.
        x = _real(b, z, f"spherical_{kind}n", is_double=kind != "k")
        if not derivative:
            return _of_whole(b, f"spherical_{kind}", x, order)
        return _slope(b, kind, order, x)

    return handler


def _slope(b: Builder, kind: str, n: int, x: Tensor) -> Tensor:
    """The derivative, as in its rule."""
    low, high = {"i": (1, 1), "k": (-1, -1)}.get(kind, (1, -1))
    after = elementwise(b, "multiply", high * (n + 1) / (2 * n + 1), _of_whole(b, f"spherical_{kind}", x, n + 1))
    if n == 0:
        return after
    before = elementwise(b, "multiply", low * n / (2 * n + 1), _of_whole(b, f"spherical_{kind}", x, n - 1))
    return elementwise(b, "add", before, after)


for _kind in "jyik":
    optional("scipy.special", f"spherical_{_kind}n")(_spherical(_kind))


def _lower(b: Builder, value: Any, example: str) -> float:
    """A parameter of a hypergeometric function that divides."""
    found = _constant(b, "b", value, example)
    if found <= 0 and found == int(found):
        raise b.unsupported(f"this hypergeometric function has poles everywhere for b = {found}", f"Write {example}.")
    return float(found)


@optional("scipy.special", "hyp0f1")
def hyp0f1(b: Builder, v: Any, z: Any) -> Tensor:
    return _of_constant(b, "hyp0f1", _real(b, z, "hyp0f1"), _lower(b, v, "scipy.special.hyp0f1(1.5, x)"))


@optional("scipy.special", "hyp1f1")
def hyp1f1(builder: Builder, a: Any, b: Any, x: Any) -> Tensor:
    example = "scipy.special.hyp1f1(0.5, 1.5, x)"
    numerator, denominator = float(_constant(builder, "a", a, example)), _lower(builder, b, example)
    if denominator < 0 or numerator < -10 or numerator - denominator > 10:
        raise builder.unsupported(
            f"hyp1f1 of a = {numerator:g} and b = {denominator:g} is not supported: it would lose digits",
            f"Choose b > 0, and a from -10 to b + 10: {example}; or write polynomials by eval_genlaguerre.",
        )
    x = _real(builder, x, "hyp1f1")
    constants = Const(numerator, x.dtype), Const(denominator, x.dtype)
    return Tensor(x.shape, x.dtype, lambda p: Op("hyp1f1", (x.element(p), *constants), x.dtype))
