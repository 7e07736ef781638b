"""``==`` of objects whose classes do not define it: they are one object, or dataclasses with equal fields."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from sdfgad.parse import attributes, conditions, containers
from sdfgad.parse.builder import Builder
from sdfgad.parse.identity import is_same
from sdfgad.parse.values import Polymorphic, Record

Compare = Callable[[Any, Any], Any]


def defines(cls: type, name: str) -> bool:
    """Whether a class has a method of the user's, or one that a decorator has made."""
    return isinstance(inspect.getattr_static(cls, name, None), types.FunctionType)


def are_compared(left: Any, right: Any) -> bool:
    """Whether one of two values is an object, and no method of the user's compares it."""
    classes = [one.cls for value in (left, right) for one in _objects_of(value)]
    return bool(classes) and all(_is_plain(cls) or is_generated(cls, "__eq__") for cls in classes)


def _objects_of(value: Any) -> Sequence[Record]:
    """The objects of which a value is one; none of another value."""
    if isinstance(value, Polymorphic):
        return value.objects
    return (value,) if isinstance(value, Record) else ()


def _is_plain(cls: type) -> bool:
    """Whether objects of a class of the user's are equal if they are one."""
    return inspect.getattr_static(cls, "__eq__", None) is object.__eq__ and not cls.__module__.startswith("sdfgad.")


def equal(b: Builder, left: Any, right: Any, compare: Compare) -> Any:
    """``left == right`` of values of which one is an object.

    Args:
        compare: ``==`` of two fields.
    """
    if isinstance(left, Polymorphic) or isinstance(right, Polymorphic):
        if any(is_generated(one.cls, "__eq__") for value in (left, right) for one in _objects_of(value)):
            raise b.unsupported("objects of several classes are compared by their fields", "Compare the fields.")
        return is_same(b, left, right)
    if not isinstance(left, Record) or not isinstance(right, Record):
        return False
    if left.cls is not right.cls or not is_generated(left.cls, "__eq__"):
        return is_same(b, left, right)
    if left is right:
        return True
    found: Any = True
    for one in dataclasses.fields(left.cls):
        if one.compare:
            parts = (field_of(b, record, one.name) for record in (left, right))
            found = conditions.logical(b, "logical_and", found, compare(*parts))
    return found


def field_of(b: Builder, record: Record, name: str) -> Any:
    row = attributes.read(b, record, name)
    return containers.read(b, attributes.other(record, name) if row is None else row, f"`.{name}`")


def is_generated(cls: type, name: str) -> bool:
    """Whether a dataclass has got a method, its ``==`` or ``<``, which has no source."""
    function = inspect.getattr_static(cls, name, None)
    if not dataclasses.is_dataclass(cls) or not isinstance(function, types.FunctionType):
        return False
    return function.__code__.co_filename == "<string>"
