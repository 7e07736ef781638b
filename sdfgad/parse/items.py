"""Items of lists, dicts and objects as names: what a loop or branch binds anew in a container is carried like a name.

A container exists only while a program is parsed. Where a loop or branch assigns to an item of one, the item becomes a
name for the time of that statement, under which it is carried from trip to trip, or merged by a phi node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sdfgad.parse import containers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import ItemChanged
from sdfgad.parse.frame import Frame
from sdfgad.parse.values import UNDEFINED

# No name of a program begins so.
PREFIX = "item "


@dataclass(frozen=True)
class _Item:
    container: Any
    key: Any
    name: str
    before: Any

    def is_there(self) -> bool:
        return self.before is not containers.NO_ITEM or containers.has(self.container, self.key)


@dataclass
class Items:
    """The items that one loop or branch binds anew, as far as they are known.

    Attributes:
        barred: containers with such items which are carried as parts of the values of names instead.
    """

    found: list[_Item] = field(default_factory=list)
    barred: list[Any] = field(default_factory=list)
    _count: int = 0

    def add(self, b: Builder, change: ItemChanged) -> bool:
        """Add an item that a statement in the body has changed; returns whether it is one of this loop or branch."""
        is_own = change.depth == len(b.blocks) + 1 and not any(one is change.container for one in self.barred)
        if is_own:
            self._count += 1
            name = f"{PREFIX}{change.key!r}" + (f" ({self._count})" if self._count > 1 else "")
            self.found.append(_Item(change.container, change.key, name, change.before))
        return is_own

    def keep_current(self, b: Builder) -> None:
        """Forget the items of containers that an attempt has made which was given up since."""
        self.found = [one for one in self.found if b.contents.has(one.container) and one.is_there()]

    def held_by(self, frame: Frame, values: Iterable[Any]) -> list[Any]:
        """The containers of the items that some values hold."""
        references = trees.references(values, frame)
        return [item.container for item in self.found if references[id(item.container)]]

    def bar(self, frame: Frame, held: Iterable[Any]) -> frozenset[str]:
        """Move the items of some containers back for good; returns the names that they had."""
        self.barred += held
        back = [item for item in self.found if any(item.container is one for one in self.barred)]
        for item in back:
            item.container[item.key] = frame.env.pop(item.name)
        names = frozenset(item.name for item in back)
        self.found = [item for item in self.found if item.name not in names]
        return names

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
            if isinstance(item.container, dict):
                item.container.setdefault(item.key, item.before)
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
            containers.require_current(frame.b, item.container, item.key, item.before)
            item.container[item.key] = value


@dataclass
class Nest:
    """The items of a loop or branch, and those of the loops and branches within it, in the order of the text.

    When it is parsed again, as an item is found, those within it begin with the items that they have found before: else
    the number of attempts would be exponential in the depth.
    """

    items: Items = field(default_factory=Items)
    inside: list[Nest] = field(default_factory=list)
    position: int = 0

    def next(self) -> Nest:
        """That of the next loop or branch within it."""
        if self.position == len(self.inside):
            self.inside.append(Nest())
        self.position += 1
        return self.inside[self.position - 1]


@contextmanager
def nested(b: Builder) -> Iterator[Items]:
    """Within it a loop or branch is parsed, with these items at first; each attempt calls `begun`."""
    around: Nest = b.nest or Nest()
    b.nest = around.next()
    b.nest.items.keep_current(b)
    try:
        yield b.nest.items
    finally:
        b.nest = around


def begun(b: Builder) -> None:
    """An attempt begins."""
    b.nest.position = 0
