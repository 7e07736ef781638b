"""Named tuples whose classes define operators and what builtin functions call: ``Vec(1.0, y) + Vec(x, 2.0)``."""

from __future__ import annotations

import inspect
import types
from typing import Any

# What Python calls of the right one of two values that are compared, if the left one does not define it.
REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def own_method(value: Any, name: str) -> types.FunctionType | None:
    """The function that the class of a named tuple defines under a name; None for what it takes over from tuples."""
    if not isinstance(value, tuple) or type(value) is tuple:
        return None
    found = inspect.getattr_static(type(value), name, None)
    return found if isinstance(found, types.FunctionType) else None


def own_property(value: tuple[Any, ...], name: str) -> types.FunctionType | None:
    """The getter of a property that the class of a named tuple defines."""
    found = inspect.getattr_static(type(value), name, None)
    return found.fget if isinstance(found, property) and isinstance(found.fget, types.FunctionType) else None


def comparison(name: str, left: Any, right: Any) -> tuple[types.FunctionType, list[Any]] | None:
    """The function that compares two values of which one is such a tuple, and what it is called with."""
    if (function := own_method(left, f"__{name}__")) is not None:
        return function, [left, right]
    function = own_method(right, f"__{REFLECTED[name]}__") if name in REFLECTED else None
    return None if function is None else (function, [right, left])
