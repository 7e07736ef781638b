"""Items of lists, dicts and objects as names: what a loop or branch binds anew in a container is carried like a name.

A container exists only while a program is parsed. Where a loop or branch assigns to an item of one, the item becomes a
name for the time of that statement, under which it is carried from trip to trip, or merged by a phi node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import containers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import ItemsMoved
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
        lost: those that are not there where it begins, so that they cannot be carried.
        barred: containers with such items which are carried as parts of the values of names instead.
        whole: containers of which all items are carried, as their places change (`h.append(h.pop(0))`); and `uneven`:
            those of which that was tried in vain.
        may_remove: whether the body has statements that remove items.
    """

    found: list[_Item] = field(default_factory=list)
    new: list[_Item] = field(default_factory=list)
    lost: list[_Item] = field(default_factory=list)
    barred: list[Any] = field(default_factory=list)
    whole: list[Any] = field(default_factory=list)
    uneven: list[Any] = field(default_factory=list)
    may_remove: bool = False
    _count: int = 0
    # The keys that containers which are carried as a whole have before the loop or branch.
    _places: dict[int, list[Any]] = field(default_factory=dict)

    def may_have(self, container: Any) -> bool:
        return not _is_in(container, self.barred)

    def add(self, container: Any, key: Any, before: Any) -> bool:
        """Add an item that a statement in the body changes; returns whether the next attempt may carry it."""
        if self._has(self.found + self.lost, container, key):
            return False
        if not self._has(self.new, container, key):
            self.new.append(self._named(container, key, before))
        return True

    def moved(self, b: Builder, change: ItemsMoved) -> bool:
        """Carry a container as a whole, or no more, if a statement in the body moves its items; returns whether so."""
        is_own, is_whole = change.depth == len(b.blocks) + 1, _is_in(change.container, self.whole)
        if not is_own or is_whole == change.is_even:
            return False
        if change.is_even and self.may_have(change.container):
            self.whole.append(change.container)
        else:
            self._forget_all(change.container)
        return True

    @staticmethod
    def _has(items: list[_Item], container: Any, key: Any) -> bool:
        return any(one.container is container and one.key == key for one in items)

    def _named(self, container: Any, key: Any, before: Any) -> _Item:
        self._count += 1
        return _Item(container, key, f"{PREFIX}{key!r}" + (f" ({self._count})" if self._count > 1 else ""), before)

    def _forget_all(self, container: Any) -> None:
        """Carry the items of a container no more: it has others at the end of the body."""
        self.found = [one for one in self.found if one.container is not container]
        self.whole = [one for one in self.whole if one is not container]
        self.uneven.append(container)

    def give_up_whole(self) -> bool:
        """Carry no container as a whole; returns whether one was."""
        given_up = bool(self.whole)
        for container in self.whole:
            self._forget_all(container)
        return given_up

    def complete(self) -> None:
        """Add all items of the containers that are carried as a whole, as they are before the loop or branch."""
        for container in self.whole:
            self._places[id(container)] = _keys(container)
            missing = [key for key in _keys(container) if not self._has(self.found, container, key)]
            self.found += [self._named(container, key, containers.NO_ITEM) for key in missing]

    def keep_current(self, b: Builder) -> None:
        """Forget the items of containers that an attempt has made which was given up since, or that loops fill now."""
        filled = {id(one) for lists in b.to_fill.values() for one in lists if isinstance(one, dict)}
        found = [one for one in self.found + self.new if id(one.container) not in filled]
        known = [one for one in found if b.contents.has(one.container)]
        self.found = [one for one in known if one.is_there()]
        self.lost += [one for one in self.new if not self._has(self.found, one.container, one.key)]
        self.new = []
        self.whole = [one for one in self.whole if b.contents.has(one)]

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
        self.whole = [one for one in self.whole if not _is_in(one, self.barred)]
        back = [item for item in self.found if any(item.container is one for one in self.barred)]
        for item in back:
            item.container[item.key] = frame.env.pop(item.name)
        names = frozenset(item.name for item in back)
        self.found = [item for item in self.found if item.name not in names]
        return names

    @contextmanager
    def in_body(self, b: Builder) -> Iterator[None]:
        """Within it, statements of the body may assign to the items."""
        before, here = dict(b.items), len(b.blocks)
        b.items |= {(id(item.container), item.key): here for item in self.found}
        b.items |= {(id(one), containers.ALL_ITEMS): here for one in self.whole}
        b.items |= {(id(one), containers.UNEVEN): here for one in self.uneven}
        try:
            yield
        finally:
            b.items = before

    def as_names(self, frame: Frame) -> None:
        """Move the items from their containers to names, so that nothing else refers to them.

        Raises:
            ItemsMoved: a container that is carried as a whole has more or fewer than before.
        """
        self._require_even(frame.b)
        for item in self.found:
            if isinstance(item.container, dict):
                item.container.setdefault(item.key, item.before)
            frame.env[item.name] = item.container[item.key]
            item.container[item.key] = UNDEFINED

    def _require_even(self, b: Builder) -> None:
        for container in self.whole:
            if self._places.get(id(container)) != _keys(container):
                need = NeedsConstant(b.symbols_here(), b.where)
                raise ItemsMoved(container, False, len(b.blocks), need)

    def as_items(self, frame: Frame) -> None:
        """Move them back."""
        for item in self.found:
            item.container[item.key] = frame.env.pop(item.name)

    def assign(self, frame: Frame) -> None:
        """Assign the values of the names to the items, after the loop or branch.

        Raises:
            ItemsMoved: a loop or branch around has to carry the container as a whole, too.
            NeedsConstant: it cannot carry an item.
        """
        for item in self.found:
            value, is_whole = frame.env.pop(item.name), _is_in(item.container, self.whole)
            key = containers.NO_ITEM if is_whole else item.key
            containers.require_current(frame.b, item.container, key, item.before)
            item.container[item.key] = value


def _is_in(container: Any, containers: Iterable[Any]) -> bool:
    return any(one is container for one in containers)


def _keys(container: Any) -> list[Any]:
    return list(container) if isinstance(container, dict) else list(range(len(container)))


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

    def at(self, depth: int) -> Items | None:
        """The items of the inmost loop or branch whose body is at a depth: a loop's test comes before its body."""
        nest: Nest | None = self
        while nest is not None and nest.depth > depth:
            nest = nest.around
        return nest.items if nest is not None and nest.depth == depth else None

    def collects(self, container: Any, key: Any, depths: range, before: Any) -> bool:
        """Have an item carried by the loops and branches at these depths of blocks; returns whether the inmost can.

        The attempt to parse them goes on, so that it comes upon other items, too, and is given up at its end.
        """
        inmost = self.at(depths[-1])
        if inmost is None or not inmost.may_have(container) or not inmost.add(container, key, before):
            return False
        for depth in reversed(depths[:-1]):
            items = self.at(depth)
            if items is None or not items.may_have(container):
                break
            items.add(container, key, before)
        return True

    @property
    def is_given_up(self) -> bool:
        """Whether the attempt under way to parse it, or what is around it, has come upon new items."""
        return bool(self.items.new) or (self.around is not None and self.around.is_given_up)


class GivenUp(Exception):
    """Raised where an attempt that has come upon new items need not go on."""


def settled(
    b: Builder, node: ast.AST | None, attempt: Callable[[Items], Result], backtrack: Callable[[], None]
) -> Result:
    """Parse a loop or branch by `attempt`, again until its statements change no items but those that it carries."""
    around = b.nest or Nest()
    nest = b.nest = around.next(len(b.blocks) + 1)
    nest.items.may_remove = node is not None and _removes(node)
    try:
        while True:
            nest.items.keep_current(b)
            duplications = b.tail_duplications
            try:
                begun(b)
                result = attempt(nest.items)
                if not nest.items.new or around.is_given_up:
                    return result
            except Exception as error:
                if around.is_given_up or not _may_retry(b, nest.items, error):
                    raise
            b.tail_duplications = duplications
            backtrack()
    finally:
        b.nest = around


def _may_retry(b: Builder, items: Items, error: Exception) -> bool:
    """Whether an attempt has failed for want of items that the next one carries."""
    # What follows a new item may fail in any way for want of its value.
    return bool(items.new) or (isinstance(error, ItemsMoved) and items.moved(b, error))


def begun(b: Builder) -> None:
    """An attempt begins."""
    b.nest.position = 0
    b.nest.items.complete()


# Methods that remove items of lists.
REMOVING = frozenset(("pop", "popleft", "remove", "clear"))


@cache
def _removes(node: ast.AST) -> bool:
    """Whether statements within a node remove items of lists."""
    return any(
        isinstance(one, ast.Delete) or (isinstance(one, ast.Attribute) and one.attr in REMOVING)
        for one in ast.walk(node)
    )
