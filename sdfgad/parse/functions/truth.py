"""Truth values of arrays, and whether arrays are equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.ir.expr import BOOL, INT
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, to_bool
from sdfgad.parse.functions.output import into
from sdfgad.parse.functions.reduction import normalise_axes, reduce_over
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor, cast


@function(np.any)
def any_(b: Builder, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Tensor:
    a = a if where is True else elementwise(b, "logical_and", stacked(b, a), where)
    return into(b, out, _reduced(b, a, axis, keepdims, "maximum", False))


@function(np.all)
def all_(b: Builder, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Tensor:
    if where is not True:
        a = elementwise(b, "logical_or", stacked(b, a), elementwise(b, "logical_not", where))
    return into(b, out, _reduced(b, a, axis, keepdims, "minimum", True))


def must_hold(condition: Any, what: str, todo: str) -> None:
    """For definitions in `library`: a check at run time, which raises an error where a condition is false anywhere."""


@function(must_hold)
def _must_hold(b: Builder, condition: Any, what: str, todo: str) -> None:
    b.check(all_(b, condition).at(), (), what, ArgumentError, todo)


# The methods of arrays take another second positional argument than their documentation says.


@function(method="any")
def any_method(b: Builder, a: Any, axis: Any = None, *, out: Any = None, keepdims: bool = False) -> Tensor:
    return any_(b, a, axis, out, keepdims)


@function(method="all")
def all_method(b: Builder, a: Any, axis: Any = None, *, out: Any = None, keepdims: bool = False) -> Tensor:
    return all_(b, a, axis, out, keepdims)


def _reduced(b: Builder, a: Any, axis: Any, keepdims: bool, how: str, start: bool) -> Tensor:
    x = stacked(b, a)
    truth = Tensor(x.shape, BOOL, lambda index: to_bool(x.element(index)))
    return reduce_over(b, truth, normalise_axes(b, axis, truth.ndim), keepdims, how, start)


@function(np.count_nonzero, static=True)
def count_nonzero(b: Builder, a: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    x = stacked(b, a)
    ones = Tensor(x.shape, INT, lambda index: cast(to_bool(x.element(index)), INT))
    return reduce_over(b, ones, normalise_axes(b, axis, x.ndim), keepdims, "add", 0)


@function(np.isclose, static=True)
def isclose(b: Builder, a: Any, b_: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements differ by little, unevaluated."""
    x, y = stacked(b, a), elementwise(b, "multiply", stacked(b, b_), 1.0)
    distance = elementwise(b, "absolute", elementwise(b, "subtract", x, y))
    bound = elementwise(b, "add", atol, elementwise(b, "multiply", rtol, elementwise(b, "absolute", y)))
    near = elementwise(b, "logical_and", elementwise(b, "less_equal", distance, bound), elementwise(b, "isfinite", y))
    result = elementwise(b, "logical_or", near, elementwise(b, "equal", x, y))
    return elementwise(b, "logical_or", result, _both_nan(b, x, y)) if equal_nan else result


@function(np.allclose, static=True)
def allclose(b: Builder, a: Any, b_: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Tensor:
    return replace(all_(b, isclose(b, a, b_, rtol, atol, equal_nan)), weak=True)


def _both_nan(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    return elementwise(b, "logical_and", elementwise(b, "isnan", x), elementwise(b, "isnan", y))
