"""Lists and dicts of a program: they exist only while it is parsed, so they cannot change at run time."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import AmbiguousArray, Location
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import appending
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Taken

READ_ONLY = ("get", "items", "keys", "values", "copy", "index", "count")


def tracked(b: Builder, container: Any) -> Any:
    """Record the block that creates a list or dict, and return the container."""
    b.contents.add(container, len(b.blocks))
    return container


def require_current(b: Builder, container: Any) -> None:
    """Refuse changes of a list or dict outside the block that created it; loops in between may be unrolled.

    Raises:
        Taken: a loop goes over the list as the rows of an array, or has done so.
        AmbiguousArray: it may be one of several, to which other names refer, too.
        NeedsConstant: the change is in a loop; unrolled, it may decide the branches in it.
        UnsupportedProgram: it is in a branch, and in no loop.
    """
    if id(container) in b.taken:
        raise Taken
    if b.contents.is_copy(container):
        what = f"a {type(container).__name__} that may be one of several, chosen at run time, is changed"
        raise AmbiguousArray(what, b.where, "Change it by a name that is bound once, or copy it.", "")
    b.contents.add(container, 1)
    b.contents.count_change(container)
    depth = b.contents.depth(container)
    if depth == len(b.blocks):
        return
    what = f"a {type(container).__name__} is changed in a loop or branch that runs at run time"
    around = [(var, trips) for body, var, trips in b.loops if body > depth]
    if not around:
        raise b.unsupported(what, "Use an array, or names, for values that change.")
    var, trips = around[0]
    raise NeedsConstant({var} | trips.symbols, b.where, what)


def require_latest(b: Builder, value: Any, what: str, where: Location | None = None) -> None:
    """Refuse a list or dict that stands for one of several, chosen at run time, if one of these has changed since.

    Raises:
        AmbiguousArray: one has.
    """
    if b.contents.has_stale(value):
        what = f"{what} may be one of several lists or dicts, chosen at run time, and one of them has changed since"
        raise AmbiguousArray(what, where or b.where, "Copy it where it is chosen, or change it afterwards.", "")


def method(b: Builder, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """A call of a method of a list or dict."""
    if function.__name__ == "append" and appending.append(b, function.__self__, positional[0]):
        return None
    if function.__name__ not in READ_ONLY:
        require_current(b, function.__self__)
    return b.python(function, *map(b.settle, positional), **{name: b.settle(v) for name, v in keywords.items()})
