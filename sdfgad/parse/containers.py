"""Lists and dicts that a program makes: Python's own while it is parsed, so they cannot change at run time."""

from __future__ import annotations

from typing import Any

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder

READ_ONLY = ("get", "items", "keys", "values", "copy", "index", "count")


def made(b: Builder, container: Any) -> Any:
    """Note where a list or dict is made."""
    b.containers[id(container)] = (container, len(b.blocks))
    return container


def require_current(b: Builder, container: Any) -> None:
    """A list or dict may change only in the block where it was made: loops in between must be unrolled."""
    depth = b.containers.get(id(container), (None, 1))[1]
    if depth == len(b.blocks):
        return
    what = f"a {type(container).__name__} is changed in a loop or branch that runs at run time"
    around = [(var, trips) for body, var, trips in b.loops if body > depth]
    if len(around) < len(b.blocks) - depth:
        raise b.unsupported(what, "Use an array, or names, for values that change.")
    var, trips = around[0]
    raise NeedsConstant({var} | trips.symbols, b.where, what)


def method(b: Builder, function: Any, positional: list[Any]) -> Any:
    """A call of a method of a list or dict."""
    if function.__name__ not in READ_ONLY:
        require_current(b, function.__self__)
    return b.python(function, *map(b.settle, positional))
