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


def _wrapped(index: int, extent: int) -> int:
    return min(max(index + extent if index < 0 else index, 0), extent - 1)


def _power(base: int, exponent: int) -> int:
    if exponent < 0 or (abs(base) > 1 and exponent >= BITS):
        raise OverflowError(exponent)
    return int(base**exponent)


def _shifted(number: int, by: int) -> int:
    if not 0 <= by < BITS:
        raise OverflowError(by)
    return number << by


KINDS = {"i": int, "b": bool, "f": float}
BITS = 64
LEAST, MOST = -(2 ** (BITS - 1)), 2 ** (BITS - 1) - 1
# What these do to Python's numbers NumPy does to integers of 64 bits that do not wrap around, doubles and booleans.
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
    "logical_not": operator.not_,
    "wrap": _wrapped,
}
# These do so to integers only: doubles may be NaN.
OF_INTEGERS: dict[str, Callable[..., Any]] = {
    "absolute": abs,
    "minimum": min,
    "maximum": max,
    "square": lambda number: number * number,
    "power": _power,
    "left_shift": _shifted,
}


class _NoFunction(Exception):
    """Raised for an expression with an operation, or a dtype, that Python's numbers do not have."""


def function_of(value: Expr) -> Function | None:
    """A function of symbols and arrays that computes a value, in Python's numbers; None if there is none.

    The function raises IndexError where an index is out of range, ArithmeticError where a divisor is zero or an integer
    leaves 64 bits (NumPy's wrap around, Python's do not), and ValueError where NaN becomes an integer.

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
    args = [_function(argument) for argument in node.args]
    if node.name in CHOICES:
        return CHOICES[node.name](*args)
    found = _applied(_operator(node), args)
    return _in_range(found) if dtype == INT and node.name not in ("remainder", "wrap") else found


def _in_range(function: Function) -> Function:
    """The same, but OverflowError where a result has more than 64 bits."""

    def checked(symbols: Mapping[str, int], arrays: Mapping[str, Array]) -> Any:
        found = function(symbols, arrays)
        if not LEAST <= found <= MOST:
            raise OverflowError(found)
        return found

    return checked


# What evaluates no operand that does not count: a divisor may be zero there.


def _chosen(condition: Function, left: Function, right: Function) -> Function:
    return lambda symbols, arrays: (left if condition(symbols, arrays) else right)(symbols, arrays)


def _both(left: Function, right: Function) -> Function:
    return lambda symbols, arrays: bool(left(symbols, arrays) and right(symbols, arrays))


def _either(left: Function, right: Function) -> Function:
    return lambda symbols, arrays: bool(left(symbols, arrays) or right(symbols, arrays))


CHOICES: dict[str, Callable[..., Function]] = {"select": _chosen, "logical_and": _both, "logical_or": _either}


def _form(form: Lin) -> Function:
    constant = form.const
    parts = [(_symbol(atom) if isinstance(atom, str) else _function(atom), factor) for atom, factor in form.terms]
    found = _scaled(constant, *parts[0]) if len(parts) == 1 else _summed(constant, parts)
    # Counters are small.
    return found if form.is_affine else _in_range(found)


def _scaled(constant: int, only: Function, by: int) -> Function:
    return lambda symbols, arrays: constant + by * only(symbols, arrays)


def _summed(constant: int, parts: list[tuple[Function, int]]) -> Function:
    return lambda symbols, arrays: constant + sum(by * part(symbols, arrays) for part, by in parts)


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
