"""Scalar expressions as functions of Python's numbers: some twenty times as fast as `evaluate` is at a single point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access

Array = np.ndarray[Any, Any]
Function = Callable[[Mapping[str, int], Mapping[str, Array]], Any]

KINDS = {"i": "int", "b": "bool", "f": "float"}
# Python's operators do to its numbers what these do to integers of 64 bits, doubles and booleans.
OTHERS = {
    "negative": "(-{0})",
    "floor_divide": "({0} // {1})",
    "remainder": "({0} % {1})",
    "logical_not": "(not {0})",
    "select": "({1} if {0} else {2})",
    "wrap": "wrap({0}, {1})",
}
# These do to integers only: doubles may be NaN.
OF_INTEGERS = {"absolute": "abs({0})", "minimum": "min({0}, {1})", "maximum": "max({0}, {1})"}


class NoCode(Exception):
    """Raised for an expression with an operation, or a dtype, that Python's numbers do not have."""


def function_of(value: Expr) -> Function | None:
    """A function of symbols and arrays that computes a value, in Python's numbers; None if there is none.

    The function raises IndexError where an index is out of range, and ArithmeticError where a divisor is zero.

    Example:
        ``function_of(Int(Lin.symbol("i").scaled(2)))({"i": 3}, {})`` is 6.
    """
    try:
        return eval(f"lambda s, a: {_text(value)}", NAMES)
    except NoCode:
        return None


def place_of(place: Access) -> Function | None:
    """A function of symbols and arrays that gives the index of an element."""
    try:
        return eval(f"lambda s, a: ({''.join(f'{_form(form)}, ' for form in place.index)})", NAMES)
    except NoCode:
        return None


def _at(array: Array, *index: int) -> Any:
    if any(not 0 <= i < extent for i, extent in zip(index, array.shape, strict=True)):
        raise IndexError(index)
    return array.item(*index)


def _wrapped(index: int, extent: int) -> int:
    return min(max(index + extent if index < 0 else index, 0), extent - 1)


NAMES = {"at": _at, "wrap": _wrapped, "np": np}


def _text(node: Expr) -> str:
    dtype = node.dtype
    if KINDS.get(dtype.kind) is None or (dtype.kind != "b" and dtype.itemsize != 8):
        raise NoCode(str(dtype))
    if isinstance(node, Const):
        return (
            f"({node.value!r})" if np.isfinite(node.value) and type(node.value) in (int, float, bool) else _none(node)
        )
    if isinstance(node, Int):
        return _form(node.value)
    if isinstance(node, Read):
        return f"at({', '.join([f'a[{node.buffer!r}]', *map(_form, node.index)])})"
    assert isinstance(node, Op)
    return _operation(node, [_text(argument) for argument in node.args])


def _none(node: Expr) -> str:
    raise NoCode(str(node))


def _form(form: Lin) -> str:
    atoms = (f"{factor} * {f's[{atom!r}]' if isinstance(atom, str) else _text(atom)}" for atom, factor in form.terms)
    return f"({' + '.join([str(form.const), *atoms])})"


def _operation(node: Op, args: list[str]) -> str:
    is_integer = all(argument.dtype == INT for argument in node.args)
    if node.name == "cast":
        return f"{KINDS[node.dtype.kind]}({args[0]})"
    if node.name in OTHERS:
        return OTHERS[node.name].format(*args)
    if node.name in OF_INTEGERS and is_integer:
        return OF_INTEGERS[node.name].format(*args)
    if OPERATIONS[node.name].infix:
        return f"({args[0]} {OPERATIONS[node.name].infix} {args[1]})"
    if isinstance(getattr(np, node.name, None), np.ufunc):
        return f"np.{node.name}({', '.join(args)}).item()"
    return _none(node)
