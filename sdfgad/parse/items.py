"""Items of lists, dicts and objects as names: what a loop or branch binds anew in a container is carried like a name.

A container exists only while a program is parsed. Where a loop or branch assigns to an item of one, the item becomes a
name for the time of that statement, under which it is carried from trip to trip, or merged by a phi node.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sdfgad.ir.specialise import NeedsConstant
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
        whole: containers of which all items are carried, as their places change (`h.append(h.pop(0))`); and `uneven`:
            those of which that was tried in vain.
        may_remove: whether the body has statements that remove items.
        depth: that of the body.
    """

    found: list[_Item] = field(default_factory=list)
    barred: list[Any] = field(default_factory=list)
    whole: list[Any] = field(default_factory=list)
    uneven: list[Any] = field(default_factory=list)
    may_remove: bool = False
    depth: int = 0
    _count: int = 0
    # The keys that containers which are carried as a whole have before the loop or branch.
    _places: dict[int, list[Any]] = field(default_factory=dict)

    def add(self, b: Builder, change: ItemChanged) -> bool:
        """Add an item that a statement in the body has changed; returns whether it is one of this loop or branch."""
        is_own = change.depth == len(b.blocks) + 1
        is_barred = _is_in(change.container, self.barred)
        is_whole = _is_in(change.container, self.whole)
        is_known = is_whole if change.key is containers.ALL_ITEMS else is_barred
        if not is_own or is_known or (change.key is containers.UNEVEN and not is_whole):
            return False
        if change.key is containers.UNEVEN or is_barred:
            self._forget_all(change.container)
        elif change.key is containers.ALL_ITEMS:
            self.whole.append(change.container)
        else:
            self._add(change.container, change.key, change.before)
        return True

    def _add(self, container: Any, key: Any, before: Any) -> None:
        self._count += 1
        name = f"{PREFIX}{key!r}" + (f" ({self._count})" if self._count > 1 else "")
        self.found.append(_Item(container, key, name, before))

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
        known = {(id(item.container), item.key) for item in self.found}
        for container in self.whole:
            self._places[id(container)] = _keys(container)
            for key in _keys(container):
                if (id(container), key) not in known:
                    self._add(container, key, containers.NO_ITEM)

    def keep_current(self, b: Builder) -> None:
        """Forget the items of containers that an attempt has made which was given up since."""
        self.found = [one for one in self.found if b.contents.has(one.container) and one.is_there()]
        self.whole = [one for one in self.whole if b.contents.has(one)]

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
        self.depth = here
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
            ItemChanged: a container that is carried as a whole has more or fewer than before.
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
                raise ItemChanged(container, containers.UNEVEN, len(b.blocks), need, containers.NO_ITEM)

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

    When it is parsed again, as an item is found, those within it begin with the items that they have found before: else
    the number of attempts would be exponential in the depth.
    """

    items: Items = field(default_factory=Items)
    inside: list[Nest] = field(default_factory=list)
    position: int = 0
    around: Nest | None = None

    def at(self, depth: int) -> Items | None:
        """The items of the loop or branch around whose body is at a depth."""
        nest: Nest | None = self
        while nest is not None and nest.items.depth > depth:
            nest = nest.around
        return nest.items if nest is not None and nest.items.depth == depth else None

    def next(self) -> Nest:
        """That of the next loop or branch within it."""
        if self.position == len(self.inside):
            self.inside.append(Nest(around=self))
        self.position += 1
        return self.inside[self.position - 1]


@contextmanager
def nested(b: Builder, node: ast.AST | None) -> Iterator[Items]:
    """Within it a loop or branch is parsed, with these items at first; each attempt calls `begun`."""
    around: Nest = b.nest or Nest()
    b.nest = around.next()
    b.nest.items.keep_current(b)
    b.nest.items.may_remove = node is not None and _removes(node)
    try:
        yield b.nest.items
    finally:
        b.nest = around


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
