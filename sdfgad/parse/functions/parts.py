"""Integral and fractional, real and imaginary parts of numbers, and rounding to decimal places."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Op
from sdfgad.parse.builder import Builder
from sdfgad.parse.dtypes import SUPPORTED, instead_of
from sdfgad.parse.elementwise import elementwise, where
from sdfgad.parse.functions.elementwise import strong
from sdfgad.parse.functions.output import into
from sdfgad.parse.registry import attribute, function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.updating import updatable
from sdfgad.parse.values import Selection, Tensor, astype


@function(np.modf, static=True)
def modf(b: Builder, x: Any) -> tuple[Tensor, Tensor]:
    number = elementwise(b, "positive", _floating(b, x))
    return strong(elementwise(b, "fractional", number)), strong(elementwise(b, "trunc", number))


def _floating(b: Builder, x: Any) -> Tensor:
    """The operand in the dtype of its parts."""
    x = stacked(b, x)
    dtype = np.modf.resolve_dtypes((x.dtype, None, None))[1]
    if dtype not in SUPPORTED:
        raise b.unsupported(f"np.modf gives {dtype} here, which is not supported", instead_of(dtype))
    return astype(x, dtype)


@function(np.divmod, static=True)
def divmod_(b: Builder, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    return strong(elementwise(b, "floor_divide", x, y)), strong(elementwise(b, "remainder", x, y))


@function(np.fix, static=True)
def fix(b: Builder, x: Any) -> Tensor:
    return strong(elementwise(b, "trunc", x))


@function(np.round, np.around, static=True, method="round")
def round_(b: Builder, a: Any, decimals: Any = 0, out: Any = None) -> Tensor:
    """Rounded to decimal places by scaling, as NumPy does."""
    x, places = stacked(b, a), b.constant(decimals)
    if x.dtype.kind == "b":
        raise b.unsupported("np.round of booleans is not supported", "Convert them: x.astype(float).")
    if x.dtype.kind == "c":
        re, im = (round_(b, part(b, x), places).element for part in (real, imag))
        whole = Tensor(x.shape, x.dtype, lambda p: Op("complex", (re(p), im(p)), x.dtype))
        return into(b, out, whole.as_value(settled=False), "same_kind")
    if places >= 0 and x.dtype.kind in "iu":
        result = x.as_value(settled=False)
    elif places == 0:
        result = elementwise(b, "rint", x)
    else:
        there, back = ("multiply", "divide") if places > 0 else ("divide", "multiply")
        scaled = elementwise(b, there, x, 10.0 ** abs(places))
        result = astype(elementwise(b, back, elementwise(b, "rint", scaled), 10.0 ** abs(places)), x.dtype)
    return into(b, out, strong(result), "same_kind")


@function(np.nan_to_num, static=True)
def nan_to_num(b: Builder, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    number = stacked(b, x)
    if number.dtype.kind == "c":
        raise b.unsupported(
            "np.nan_to_num of complex numbers is not supported",
            "Write np.nan_to_num(z.real) + 1j * np.nan_to_num(z.imag).",
        )
    result = number
    if number.dtype.kind == "f":
        limits = np.finfo(number.dtype)
        high = float(limits.max) if posinf is None else posinf
        low = float(limits.min) if neginf is None else neginf
        for condition, instead in (
            (elementwise(b, "equal", number, -math.inf), low),
            (elementwise(b, "equal", number, math.inf), high),
            (elementwise(b, "isnan", number), nan),
        ):
            result = astype(where(b, condition, instead, result), number.dtype)
    if copy or not number.is_shared:
        return b.materialise(strong(result).as_value(settled=False))
    if result is not number:
        b.assign(updatable(b, number, "an array that cannot be updated in place", "Copy it first."), result)
    return number


@function(np.isposinf, static=True)
def isposinf(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "equal", stacked(b, x), math.inf)


@function(np.isneginf, static=True)
def isneginf(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "equal", stacked(b, x), -math.inf)


# --- complex numbers


@function(np.iscomplexobj, static=True)
def iscomplexobj(b: Builder, x: Any) -> bool:
    return (x if isinstance(x, Selection) else stacked(b, x)).dtype.kind == "c"


@function(np.isrealobj, static=True)
def isrealobj(b: Builder, x: Any) -> bool:
    return not iscomplexobj(b, x)


@function(np.isreal, static=True)
def isreal(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "equal", imag(b, x), 0)


@function(np.iscomplex, static=True)
def iscomplex(b: Builder, x: Any) -> Tensor:
    return elementwise(b, "not_equal", imag(b, x), 0)


@function(np.real, static=True)
def real(b: Builder, x: Any) -> Any:
    """The real part, a view of a complex array; a real array is its own."""
    if isinstance(x, Selection):
        return replace(x, dense=real(b, x.dense))
    x = stacked(b, x)
    return x if x.dtype.kind != "c" else _part("real", x)


@function(np.imag, static=True)
def imag(b: Builder, x: Any) -> Any:
    """The imaginary part, a view of a complex array; zeros for a real one."""
    if isinstance(x, Selection):
        return replace(x, dense=imag(b, x.dense))
    x = stacked(b, x)
    if x.dtype.kind != "c":
        return Tensor(x.shape, x.dtype, lambda _: Const(0, x.dtype), read_only=True)
    return _part("imag", x)


def _part(name: str, x: Tensor) -> Tensor:
    dtype = np.empty(0, x.dtype).real.dtype
    return replace(x, dtype=dtype, element=lambda index: Op(name, (x.element(index),), dtype), part=name)


@attribute("real")
def real_attribute(b: Builder, x: Any) -> Any:
    return real(b, x)


@attribute("imag")
def imag_attribute(b: Builder, x: Any) -> Any:
    return imag(b, x)


@function(method="conj")
def conj_method(b: Builder, x: Any) -> Any:
    return x if x.dtype.kind != "c" else elementwise(b, "conjugate", x)


@function(method="conjugate")
def conjugate_method(b: Builder, x: Any) -> Any:
    return conj_method(b, x)


@function(np.angle, static=True)
def angle(b: Builder, z: Any, deg: bool = False) -> Tensor:
    """The angle in the complex plane; 0 of a positive number, pi of a negative one."""
    z = stacked(b, z)
    result = elementwise(b, "arctan2", imag(b, z), real(b, z))
    return strong(elementwise(b, "rad2deg", result) if deg else result)
