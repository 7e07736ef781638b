"""Items of lists, dicts and objects as names: what a loop or branch binds anew in a container is carried like a name.

A container exists only while a program is parsed. Where a loop or branch assigns to an item of one, the item becomes a
name for the time of that statement, under which it is carried from trip to trip, or merged by a phi node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sdfgad.parse import containers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.values import UNDEFINED

Result = TypeVar("Result")

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
        new: those that the attempt under way has come upon; all that it parses afterwards is thrown away.
        barred: containers with such items which are carried as parts of the values of names instead.
    """

    found: list[_Item] = field(default_factory=list)
    new: list[_Item] = field(default_factory=list)
    barred: list[Any] = field(default_factory=list)
    _count: int = 0

    def may_have(self, container: Any) -> bool:
        return not any(one is container for one in self.barred)

    def add(self, container: Any, key: Any, before: Any) -> None:
        """Add an item that a statement in the body changes."""
        if any(one.container is container and one.key == key for one in (*self.found, *self.new)):
            return
        self._count += 1
        name = f"{PREFIX}{key!r}" + (f" ({self._count})" if self._count > 1 else "")
        self.new.append(_Item(container, key, name, before))

    def keep_current(self, b: Builder) -> None:
        """Forget the items of containers that an attempt has made which was given up since."""
        self.found = [one for one in self.found + self.new if b.contents.has(one.container) and one.is_there()]
        self.new = []

    def require_settled(self) -> None:
        """Give the attempt up if it has come upon new items."""
        if self.new:
            raise GivenUp

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
            NeedsConstant: a loop or branch around cannot carry an item.
        """
        for item in self.found:
            value = frame.env.pop(item.name)
            containers.require_current(frame.b, item.container, item.key, item.before)
            item.container[item.key] = value


@dataclass
class Nest:
    """The items of a loop or branch, and those of the loops and branches within it, in the order of the text.

    When it is parsed again, as items are found, those within it begin with the items that they have found before: else
    the number of attempts would be exponential in the depth.

    Attributes:
        depth: the number of blocks where its body is parsed.
    """

    around: Nest | None = None
    depth: int = 0
    items: Items = field(default_factory=Items)
    inside: list[Nest] = field(default_factory=list)
    position: int = 0

    def next(self, depth: int) -> Nest:
        """That of the next loop or branch within it."""
        if self.position == len(self.inside):
            self.inside.append(Nest(self))
        self.position += 1
        inner = self.inside[self.position - 1]
        inner.depth = depth
        return inner

    def collects(self, container: Any, key: Any, depths: range, before: Any) -> bool:
        """Have an item carried by the loops and branches at these depths of blocks; returns whether the inmost can.

        The attempt to parse them goes on, so that it comes upon other items, too, and is given up at its end.
        """
        around = {one.depth: one.items for one in self._outwards()}
        if depths[-1] not in around or not around[depths[-1]].may_have(container):
            return False
        for depth in reversed(depths):
            if depth not in around or not around[depth].may_have(container):
                break
            around[depth].add(container, key, before)
        return True

    def _outwards(self) -> Iterator[Nest]:
        one: Nest | None = self
        while one is not None:
            yield one
            one = one.around

    @property
    def is_given_up(self) -> bool:
        return any(one.items.new for one in self._outwards())


class GivenUp(Exception):
    """Raised where an attempt that has come upon new items need not go on."""


def settled(b: Builder, attempt: Callable[[Items], Result], backtrack: Callable[[], None]) -> Result:
    """Parse a loop or branch by `attempt`, again until its statements change no items but those that it carries."""
    around = b.nest or Nest()
    nest = b.nest = around.next(len(b.blocks) + 1)
    try:
        while True:
            nest.items.keep_current(b)
            nest.position, duplications = 0, b.tail_duplications
            try:
                result = attempt(nest.items)
                if not nest.items.new or around.is_given_up:
                    return result
            except Exception:
                # What follows a new item may fail for want of its value.
                if not nest.items.new or around.is_given_up:
                    raise
            b.tail_duplications = duplications
            backtrack()
    finally:
        b.nest = around


def begun(b: Builder) -> None:
    """A loop or branch is parsed once more for another reason than its items."""
    b.nest.position = 0
