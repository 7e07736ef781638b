"""Descriptors: objects in a class that compute its attributes, such as `functools.cached_property`, or of a class with
``__get__`` of the user's.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from sdfgad.errors import UnboundVariable
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import MaybeBound, Record

# What Python's own classes do is known without them, as is what ours do.
KNOWN = (types.FunctionType, property, classmethod, staticmethod, type)
MODULES = frozenset({"builtins", "enum", "sdfgad", "types"})
OF_FUNCTOOLS = (functools.cached_property, functools.partialmethod, functools.singledispatchmethod)


def descriptor_of(cls: type[Any], name: str) -> Any:
    """The descriptor that computes an attribute of a class's objects; None for functions, properties and others."""
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, OF_FUNCTOOLS):
        return found
    is_known = isinstance(found, KNOWN) or type(found).__module__.partition(".")[0] in MODULES
    return None if is_known or not isinstance(_method(found, "__get__"), types.FunctionType) else found


def _method(descriptor: Any, name: str) -> Any:
    return getattr(type(descriptor), name, None)


def is_of_data(descriptor: Any) -> bool:
    """Whether it computes an attribute even where an object has one of that name."""
    return descriptor is not None and isinstance(_method(descriptor, "__set__"), types.FunctionType)


def setter(descriptor: Any, record: Record) -> tuple[Any, list[Any]]:
    """The function that assigns to the attribute, with its arguments but the value."""
    return _method(descriptor, "__set__"), [descriptor, record]


def is_missing(b: Builder, descriptor: Any, found: Any) -> bool:
    """Whether an object has no attribute yet that a `cached_property` gives it where it is read first.

    Args:
        found: what it has under the name, which loops and branches may have set.

    Raises:
        UnboundVariable: whether it has is known only at run time.
    """
    if not isinstance(descriptor, functools.cached_property) or not isinstance(found, MaybeBound):
        return False
    if isinstance(found.bound, bool):
        return not found.bound
    what = f"`.{descriptor.attrname}` is a cached_property that is read first in a loop or branch"
    error = UnboundVariable(what, b.where, f"Read it before: value = one.{descriptor.attrname}.")
    error.is_set_here = True
    raise error


def value(b: Builder, record: Record, descriptor: Any, inline: Callable[..., Any], keep: Callable[[Any], None]) -> Any:
    """The attribute that a descriptor computes.

    Args:
        keep: gives the object an attribute of that name.
    """
    if isinstance(descriptor, functools.cached_property):
        found = inline(descriptor.func, [record], {})
        keep(found)
        return found
    if isinstance(descriptor, functools.partialmethod) and isinstance(descriptor.func, types.FunctionType):
        return partial(descriptor.func, record, *descriptor.args, **descriptor.keywords)
    if isinstance(descriptor, OF_FUNCTOOLS):
        what = f"`functools.{type(descriptor).__name__}` is not supported"
        raise b.unsupported(what, "Write a method that tests the class of its argument, by isinstance.")
    return inline(_method(descriptor, "__get__"), [descriptor, record, record.cls], {})
