"""Objects, lists and dicts as items of logs (`sdfgad.parse.logs`), which hold copies of what these are made of.

In Python such a list has the objects themselves. A copy is as good as long as no object changes behind the place where
it is appended, by whatever name, and nobody asks whether it is the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.logs import Kept
from sdfgad.parse.values import Record


def hold(b: Builder, value: Any, kept: Kept) -> None:
    """Hold all that an item that is appended may be in Python, unless none is read: it must not change from here on."""
    if kept.first or kept.latest or kept.items or kept.is_stack:
        for container in _referents(b, value):
            b.contents.hold(container, kept.failure, b.loops)


def hold_read(b: Builder, value: Any, kept: Kept) -> Any:
    """An item as it is read back, which must not change either."""
    for container in _containers(value):
        b.contents.hold_read(container, kept.failure)
    return value


def _referents(b: Builder, value: Any) -> Iterator[Any]:
    """The lists and dicts that those of a value may be in Python, and those of the objects."""
    for one in trees.sequences(value):
        member = b.objects.member(one) if isinstance(one, Record) else None
        yield from () if member is None else (other.fields for other in member.objects)
    for container in _containers(value):
        yield from b.contents.aliased_by(container)


def _containers(value: Any) -> Iterator[Any]:
    for one in trees.sequences(value):
        if isinstance(one, Record):
            yield one.fields
        elif isinstance(one, (list, dict)):
            yield one
