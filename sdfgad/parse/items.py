"""Items of lists, dicts and objects as names: what a loop or branch binds anew in a container is carried like a name.

A container exists only while a program is parsed. Where a loop or branch assigns to an item of one, the item becomes a
name for the time of that statement, under which it is carried from trip to trip, or merged by a phi node.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sdfgad.parse import containers
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import ItemChanged
from sdfgad.parse.frame import Frame
from sdfgad.parse.values import UNDEFINED

PREFIX = "_item_"


@dataclass(frozen=True)
class _Item:
    container: Any
    key: Any
    name: str


@dataclass
class Items:
    """The items that one loop or branch binds anew, as far as they are known."""

    found: list[_Item] = field(default_factory=list)

    def add(self, b: Builder, change: ItemChanged) -> bool:
        """Add an item that a statement in the body has changed; returns whether it is one of this loop or branch."""
        is_own = change.depth == len(b.blocks) + 1
        if is_own:
            name = f"{PREFIX}{change.key}_{len(self.found)}"
            self.found.append(_Item(change.container, change.key, name))
        return is_own

    @contextmanager
    def in_body(self, b: Builder) -> Iterator[None]:
        """Within it, statements of the body may assign to the items."""
        before = dict(b.items)
        b.items |= {(id(item.container), item.key): len(b.blocks) for item in self.found}
        try:
            yield
        finally:
            b.items = before

    def as_names(self, frame: Frame) -> None:
        """Move the items from their containers to names, so that nothing else refers to them."""
        for item in self.found:
            frame.b.contents.add(item.container, 1)
            frame.env[item.name] = item.container[item.key]
            item.container[item.key] = UNDEFINED

    def as_items(self, frame: Frame) -> None:
        """Move them back."""
        for item in self.found:
            item.container[item.key] = frame.env.pop(item.name)

    def assign(self, frame: Frame) -> None:
        """Assign the values of the names to the items, after the loop or branch.

        Raises:
            ItemChanged: a loop or branch around has to carry an item, too.
        """
        for item in self.found:
            value = frame.env.pop(item.name)
            containers.require_current(frame.b, item.container, item.key)
            item.container[item.key] = value
