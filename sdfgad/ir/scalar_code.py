"""Scalar expressions as closures over Python's numbers: many times as fast as `evaluate` is at a single point."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read
from sdfgad.ir.program import Access

Array = np.ndarray[Any, Any]
# Of the values of symbols, and what buffers hold.
Function = Callable[[Mapping[str, int], Mapping[str, Array]], Any]


def _chosen(condition: Any, left: Any, right: Any) -> Any:
    return left if condition else right


def _wrapped(index: int, extent: int) -> int:
    return min(max(index + extent if index < 0 else index, 0), extent - 1)


KINDS = {"i": int, "b": bool, "f": float}
# What these do to Python's numbers NumPy does to integers of 64 bits, doubles and booleans.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "logical_not": operator.not_,
    "select": _chosen,
    "wrap": _wrapped,
}
# These do so to integers only: doubles may be NaN.
OF_INTEGERS: dict[str, Callable[..., Any]] = {"absolute": abs, "minimum": min, "maximum": max}


class _NoFunction(Exception):
    """Raised for an expression with an operation, or a dtype, that Python's numbers do not have."""


def function_of(value: Expr) -> Function | None:
    """A function of symbols and arrays that computes a value, in Python's numbers; None if there is none.

    The function raises IndexError where an index is out of range, and ArithmeticError where a divisor is zero.

    Example:
        ``function_of(Int(Lin.symbol("i").scaled(2)))({"i": 3}, {})`` is 6.
    """
    try:
        return _function(value)
    except _NoFunction:
        return None


def place_of(place: Access) -> Function | None:
    """A function of symbols and arrays that gives the index of an element."""
    try:
        forms = [_form(form) for form in place.index]
    except _NoFunction:
        return None
    return lambda symbols, arrays: tuple(form(symbols, arrays) for form in forms)


def _function(node: Expr) -> Function:
    dtype = node.dtype
    if dtype.kind not in KINDS or (dtype.kind != "b" and dtype.itemsize != 8):
        raise _NoFunction(str(dtype))
    if isinstance(node, Const):
        constant = KINDS[dtype.kind](node.value)
        return lambda symbols, arrays: constant
    if isinstance(node, Int):
        return _form(node.value)
    if isinstance(node, Read):
        return _element(node)
    assert isinstance(node, Op)
    return _applied(_operator(node), [_function(argument) for argument in node.args])


def _form(form: Lin) -> Function:
    constant = form.const
    parts = [(_symbol(atom) if isinstance(atom, str) else _function(atom), factor) for atom, factor in form.terms]
    if len(parts) == 1:
        ((only, by),) = parts
        return lambda symbols, arrays: constant + by * only(symbols, arrays)
    return lambda symbols, arrays: constant + sum(factor * part(symbols, arrays) for part, factor in parts)


def _symbol(name: str) -> Function:
    return lambda symbols, arrays: symbols[name]


def _element(read: Read) -> Function:
    name, forms = read.buffer, [_form(form) for form in read.index]

    def element(symbols: Mapping[str, int], arrays: Mapping[str, Array]) -> Any:
        array, index = arrays[name], [form(symbols, arrays) for form in forms]
        if any(not 0 <= i < extent for i, extent in zip(index, array.shape, strict=True)):
            raise IndexError(index)
        return array.item(*index)

    return element


def _operator(node: Op) -> Callable[..., Any]:
    if node.name == "cast":
        return KINDS[node.dtype.kind]
    if node.name in OPERATORS:
        return OPERATORS[node.name]
    if node.name in OF_INTEGERS and all(argument.dtype == INT for argument in node.args):
        return OF_INTEGERS[node.name]
    ufunc = getattr(np, node.name, None)
    if not isinstance(ufunc, np.ufunc):
        raise _NoFunction(node.name)
    return lambda *args: ufunc(*args).item()


def _applied(function: Callable[..., Any], args: list[Function]) -> Function:
    if len(args) == 1:
        (only,) = args
        return lambda symbols, arrays: function(only(symbols, arrays))
    if len(args) == 2:
        left, right = args
        return lambda symbols, arrays: function(left(symbols, arrays), right(symbols, arrays))
    return lambda symbols, arrays: function(*(one(symbols, arrays) for one in args))
