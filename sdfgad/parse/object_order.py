"""``<``, ``<=``, ``>`` and ``>=`` of objects: by the method of either, or as tuples of the fields of dataclasses."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.object_equality import defines, field_of, is_generated
from sdfgad.parse.values import Record

# The methods of the left operand, and of the right one.
ORDER: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
# Of an object, the name of its method, and its argument.
Call = Callable[[Record, str, Any], Any]


def compared(b: Builder, op: type[ast.cmpop], left: Any, right: Any, call: Call) -> Any:
    """The two values to compare instead, of dataclasses their fields, or the result of a method that compares them;
    NotImplemented where neither has one.
    """
    own, other = ORDER[op]
    if _is_ordered(left, right, own):
        return tuple(_fields(b, one) for one in (left, right))
    for record, name, argument in _by_precedence((left, own, right), (right, other, left)):
        if isinstance(record, Record) and defines(record.cls, name):
            result = call(record, name, argument)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _by_precedence(left: tuple[Any, str, Any], right: tuple[Any, str, Any]) -> tuple[tuple[Any, str, Any], ...]:
    """The operand whose method Python calls first: the right one if its class derives from that of the left one."""
    are_objects = isinstance(left[0], Record) and isinstance(right[0], Record)
    is_derived = are_objects and left[0].cls is not right[0].cls and issubclass(right[0].cls, left[0].cls)
    return (right, left) if is_derived else (left, right)


def _is_ordered(left: Any, right: Any, name: str) -> bool:
    """Whether two objects are of one dataclass with ``order=True``."""
    are_objects = isinstance(left, Record) and isinstance(right, Record)
    return are_objects and left.cls is right.cls and is_generated(left.cls, name)


def _fields(b: Builder, record: Record) -> tuple[Any, ...]:
    return tuple(field_of(b, record, one.name) for one in dataclasses.fields(record.cls) if one.compare)
