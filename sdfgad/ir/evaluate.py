"""Evaluation of integer expressions by NumPy, at all points of a box at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, Read, postorder

Array = np.ndarray[Any, Any]
KINDS = "iub"
# Python's `max` and `min`, which keep the first of equal numbers.
LATER = {"later_if_greater": np.greater, "later_if_less": np.less}


@dataclass(frozen=True)
class Varying:
    """What a buffer holds at each of several points, its first axis; `point` broadcasts to the points of the box."""

    array: Array
    point: Array


def evaluated(root: Expr, symbols: Mapping[str, Any], arrays: Mapping[str, Any], kinds: str = KINDS) -> Any:
    """The values of an integer or boolean expression, which broadcast like those of `symbols`.

    Args:
        symbols: their values, integers or arrays that broadcast.
        arrays: what buffers hold, by name: arrays, or `Varying`.
        kinds: those of the dtypes that its parts may have.

    Returns:
        None where it depends on other symbols or buffers, or on other types.

    Example:
        ``evaluated(Int(Lin.symbol("i").scaled(2)), {"i": np.arange(3)}, {})`` is ``[0, 2, 4]``.
    """
    done: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in postorder(root):
            value = None if node.dtype.kind not in kinds else _value(node, done, symbols, arrays)
            if value is None:
                return None
            done[node] = value
    return done[root]


def _value(node: Expr, done: Mapping[Expr, Any], symbols: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    if isinstance(node, Const):
        return node.dtype.type(node.value)
    if isinstance(node, Int):
        return _form(node.value, done, symbols)
    if isinstance(node, Read):
        array: Any = arrays.get(node.buffer)
        index = [_form(form, done, symbols) for form in node.index]
        if isinstance(array, Varying):
            index, array = [array.point, *index], array.array
        return None if array is None or any(i is None for i in index) else _element(array, index)
    assert isinstance(node, Op)
    return _operation(node, [done[argument] for argument in node.args])


def _form(form: Lin, done: Mapping[Expr, Any], symbols: Mapping[str, Any]) -> Any:
    total: Any = np.int64(form.const)
    for atom, coefficient in form.terms:
        value = symbols.get(atom) if isinstance(atom, str) else done[atom]
        if value is None:
            return None
        total = total + coefficient * np.asarray(value, np.int64)
    return total


def _element(array: Array, index: list[Any]) -> Any:
    is_inside = all(contains(extent, i) for i, extent in zip(index, array.shape, strict=True))
    return array[tuple(index)] if is_inside else None


def contains(extent: int, index: Any) -> bool:
    """Whether all of these indices are in range for an axis."""
    return bool(np.all((index >= 0) & (index < extent)))


def _operation(node: Op, args: list[Any]) -> Any:
    if node.name == "cast":
        return args[0].astype(node.dtype)
    if node.name == "select":
        return np.where(*args)
    if node.name in LATER:
        first, later = args
        return np.where(LATER[node.name](later, first), later, first)
    if node.name == "wrap":
        index, extent = args
        return np.clip(np.where(index < 0, index + extent, index), 0, extent - 1)
    ufunc = getattr(np, node.name, None)
    return ufunc(*args).astype(node.dtype) if isinstance(ufunc, np.ufunc) else None
