"""Trail (undo log) of lists and dicts: the parser changes them as Python does, and backtracking changes them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from sdfgad.errors import Location, SdfgadError
from sdfgad.ir.expr import Lin
from sdfgad.parse import trees


@dataclass(frozen=True)
class _Known:
    """A list or dict, the depth of the block that created it, its contents when it was first seen, and how many were
    followed before it."""

    container: Any
    depth: int
    first: Any
    number: int


@dataclass(frozen=True)
class _Copy:
    """A list or dict made where paths meet, and those that it may be in Python, each with its number of changes."""

    container: Any
    of: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class State:
    """The contents of all lists and dicts at some point, how often each has been changed, and which are copies."""

    known: dict[int, tuple[_Known, Any]]
    changes: Counter[int]
    copies: dict[int, _Copy]
    held: dict[int, _Held]


@dataclass(frozen=True)
class _Held:
    """A list or dict that must not change any more, what to raise if it does, and whether it is an item read back."""

    container: Any
    failure: Exception
    is_read: bool


class Contents:
    """The lists and dicts that a program has created or changed so far."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._changes: Counter[int] = Counter()
        self._copies: dict[int, _Copy] = {}
        self._items: dict[int, tuple[Any, list[Any]]] = {}
        self._held: dict[int, _Held] = {}
        # The loops that change a list or dict which has been made outside of them, by its id.
        self._changed_in: dict[int, frozenset[str]] = {}
        # The lists that comprehensions fill whose conditions data decides, by id.
        self._filtered: dict[int, Any] = {}

    def add(self, container: Any, depth: int) -> None:
        """Begin to follow a list or dict; one that is followed already stays as it is."""
        self._known.setdefault(id(container), _Known(container, depth, container.copy(), len(self._known)))

    def has(self, container: Any) -> bool:
        """Whether a list or dict is followed: the program has made it, or its caller has passed it."""
        return id(container) in self._known

    def depth(self, container: Any) -> int:
        """The depth of the block that created a list or dict; 1, the outermost, for those from elsewhere."""
        known = self._known.get(id(container))
        return 1 if known is None else known.depth

    @property
    def order(self) -> dict[int, int]:
        """How many lists and dicts were followed before each, by id."""
        return {key: number for number, key in enumerate(self._known)}

    @property
    def count(self) -> int:
        """How many lists and dicts are followed."""
        return len(self._known)

    def count_with(self, container: Any) -> int:
        """How many were followed when the program had just made a list or dict; 0: it is none of the program's."""
        known = self._known.get(id(container))
        return 0 if known is None else known.number + 1

    def surface(self, container: Any, depth: int) -> None:
        """Record that a list or dict which a deeper block created, and that is followed, belongs to a block here."""
        known = self._known.get(id(container))
        if known is not None and known.depth > depth:
            self._known[id(container)] = replace(known, depth=depth)

    def count_change(self, container: Any, loops: Iterable[tuple[int, str, Lin]]) -> None:
        """Count a change of a list or dict, which makes copies of it stale.

        Args:
            loops: those around.

        Raises:
            Exception: as `hold` says.
        """
        self.require_free(container)
        depth = self.depth(container)
        around = frozenset(var for level, var, _ in loops if level > depth)
        self._changed_in[id(container)] = self._changed_in.get(id(container), frozenset()) | around
        self._changes[id(container)] += 1

    def hold(self, container: Any, failure: Exception, loops: Iterable[tuple[int, str, Lin]]) -> None:
        """Hold a list or dict of which something else has a copy: it must not change from here on.

        Args:
            failure: what is raised where it does.
            loops: those around, which must not have changed it before: later trips would.
        """
        if not self._changed_in.get(id(container), frozenset()).isdisjoint(var for _, var, _ in loops):
            raise failure
        self._held.setdefault(id(container), _Held(container, failure, is_read=False))

    def hold_read(self, container: Any, failure: Exception) -> None:
        """The same of a list or dict that is such a copy, and may be one of others in Python."""
        self._held[id(container)] = _Held(container, failure, is_read=True)

    def require_free(self, container: Any) -> None:
        """Refuse to change a list or dict that is held; raises what `hold` has been given."""
        held = self._held.get(id(container))
        if held is not None:
            raise held.failure

    def is_read(self, container: Any) -> bool:
        """Whether a list or dict is such a copy."""
        held = self._held.get(id(container))
        return held is not None and held.is_read

    def add_filtered(self, values: list[Any]) -> None:
        """Record that a comprehension fills a list, as data decides."""
        self._filtered[id(values)] = values

    def is_filtered(self, container: Any) -> bool:
        """Whether a comprehension fills a list, as data decides."""
        return id(container) in self._filtered

    def are_changed(self, containers: Iterable[Any]) -> bool:
        """Whether any of some lists and dicts has been changed."""
        return any(self._changes[id(one)] for one in containers)

    @property
    def followed(self) -> list[Any]:
        """The lists and dicts that are followed."""
        return [known.container for known in self._known.values()]

    def add_copy(self, container: Any, of: Iterable[Any]) -> None:
        """Record that a list or dict may be one of others in Python, to which other names refer, too."""
        marks: list[tuple[Any, int]] = []
        for one in of:
            marks.append((one, self._changes[id(one)]))
            if self.is_copy(one):
                marks += self._copies[id(one)].of
        each = {(id(one), count): (one, count) for one, count in marks}
        self._copies[id(container)] = _Copy(container, tuple(each.values()))

    def add_item(self, item: Any, of: Any) -> None:
        """Record that a list or dict is an item that a trip of a loop has appended; `of` is it in the loop's body."""
        self._items.setdefault(id(of), (of, []))[1].append(item)

    def items(self, of: Any) -> list[Any]:
        """The items that are a list or dict in the body of a loop that has appended it."""
        return self._items.get(id(of), (of, []))[1]

    @property
    def copies(self) -> list[tuple[Any, list[Any]]]:
        """The lists and dicts that may be others in Python, each with these."""
        return [(copy.container, [one for one, _ in copy.of]) for copy in self._copies.values()]

    def aliased_by(self, container: Any) -> list[Any]:
        """A list or dict, and those that it may be in Python if it is a copy."""
        copy = self._copies.get(id(container))
        return [container] if copy is None else [container, *(one for one, _ in copy.of)]

    def is_copy(self, container: Any) -> bool:
        return id(container) in self._copies

    def has_stale(self, value: Any) -> bool:
        """Whether a list or dict that a value is or consists of is a copy of one that has been changed since."""
        return bool(self._copies) and any(map(self._is_stale, trees.sequences(value)))

    def _is_stale(self, container: Any) -> bool:
        copy = self._copies.get(id(container))
        return copy is not None and any(self._changes[id(one)] != count for one, count in copy.of)

    def snapshot(self) -> State:
        """The contents, for `restore`."""
        known = {key: (known, known.container.copy()) for key, known in self._known.items()}
        return State(known, Counter(self._changes), dict(self._copies), dict(self._held))

    def restore(self, state: State) -> None:
        for key, known in self._known.items():
            _refill(known.container, state.known[key][1] if key in state.known else known.first)
        self._known = {key: known for key, (known, _) in state.known.items()}
        self._changes, self._copies = Counter(state.changes), dict(state.copies)
        self._held = dict(state.held)

    def are_changed_since(self, state: State) -> bool:
        """Whether a list or dict has been changed by the program that was there at a snapshot."""
        return any(self._changes[key] != state.changes[key] for key in state.known)

    def is_unchanged_since(self, state: State) -> bool:
        """Whether no list or dict has been changed since a snapshot."""
        before = (
            (known, state.known[key][1] if key in state.known else known.first) for key, known in self._known.items()
        )
        return all(_is_same(known.container, content) for known, content in before)


def _refill(container: Any, content: Any) -> None:
    """Give a list or dict some contents again; loops over an OrderedDict go on only if its keys are left alone."""
    if _is_same(container, content):
        return
    if isinstance(container, dict) and list(container) == list(content):
        container.update(content)
        return
    container.clear()
    (container.extend if isinstance(container, list) else container.update)(content)


def _is_same(container: Any, content: Any) -> bool:
    """Whether the keys are equal, and the items the same objects, in order."""
    if len(container) != len(content):
        return False
    if isinstance(container, list):
        return all(x is y for x, y in zip(container, content, strict=True))
    if isinstance(container, set):
        return bool(container == content)
    pairs = zip(container.items(), content.items(), strict=True)
    return all(a == b and x is y for (a, x), (b, y) in pairs)


class Rolling(Enum):
    """Which loops that fill lists, or go over them, stay loops: all, those that append nothing with a name, none."""

    ALL = 2
    VALUES = 1
    NONE = 0


class Texts(Enum):
    """How a name for several strings is followed: what reads it is parsed for each, or it is a number at run time."""

    BY_PATHS = 2
    BY_NUMBERS = 1
    # Numbers did not do.
    ONLY_BY_PATHS = 0


@dataclass(frozen=True)
class Row:
    """What an ``append`` in a loop, or in loops within it, appends.

    Attributes:
        item: from the number of a point to its item.
        points: those of the loops that come there (`iteration_domains.Points`).
        kind: the shape and dtype of items that are arrays or numbers with a fractional part; None for others.
        is_stored: whether an array has them.
        is_front: whether each becomes the first item of the list.
        keys: that of each point, in a dict.
    """

    item: Callable[[Lin], Any]
    points: Any
    kind: Any = None
    is_stored: bool = False
    is_front: bool = False
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Slot:
    """Where items of an ``append`` are among those of one kind in a list: how many there are, and the place of each."""

    kind: Any
    size: int
    places: tuple[int, ...]


# For each ``append`` to a list, in order.
Layout = tuple[Slot | None, ...]


@dataclass(frozen=True)
class ItemAccess:
    """A statement that reads or replaces an item of a list: at which points, and which place at each of them."""

    is_write: bool
    points: Any
    places: tuple[int, ...]
    weak: bool


@dataclass(frozen=True)
class Storing:
    """How a loop replaces items of a list (`stored_lists`).

    Attributes:
        before: the places of which it reads items from before it.
        copies: whether it replaces items that it has read.
    """

    before: frozenset[int] = frozenset()
    copies: bool = False


@dataclass(frozen=True)
class Filling:
    """A list or dict that a loop fills while its body is parsed, or a list of which it replaces items.

    Attributes:
        values: the list or dict, as it was before the loop.
        depth: that of the loop's body.
        var: the loop's counter.
        node: the loop.
        rows: what a trip appends, in order.
        array: with the items as rows, of a list that the loop reads, too, and that had items before it.
        layout: of the rows, where several of them share arrays.
        arrays: these, by kind.
        storing: how items are replaced; None for lists that grow.
        accesses: the statements that do so, or read items, in order.
        expected: the keys of a dict, of all trips, with which items have been read.
    """

    values: Any
    depth: int
    var: str
    node: Any
    rows: tuple[Row, ...] = ()
    array: Any = None
    layout: Layout = ()
    arrays: Mapping[Any, Any] = field(default_factory=dict)
    storing: Any = None
    accesses: tuple[ItemAccess, ...] = ()
    expected: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Body:
    """The body of a loop that may fill lists: the loop's node, its depth, and its counter."""

    node: Any
    depth: int
    var: str


class Fills(Exception):
    """Raised where a loop first appends to a list, or reads one that it fills: its body is parsed anew as such.

    The same of dicts, to which it gives items by keys.

    Args:
        layouts: those of lists to which several statements append, by id, which are known when the body ends.
        storing: how it replaces items of the list.
        is_unlike: whether the first trip may append items of other types than the others do.
    """

    def __init__(
        self,
        node: Any,
        values: list[Any] | dict[Any, Any] | None,
        layouts: Mapping[int, Layout] | None = None,
        storing: Storing | None = None,
        is_unlike: bool = False,
    ) -> None:
        self.node, self.values, self.layouts, self.storing = node, values, layouts or {}, storing
        self.is_unlike = is_unlike


class ChangesOutside(Exception):
    """Raised where a program changes an array, list, dict or object from outside (see `adoption`).

    Args:
        value: what it changes.
        refusal: what to raise where that cannot be.
    """

    def __init__(self, value: Any, refusal: SdfgadError) -> None:
        super().__init__(str(refusal))
        self.value, self.refusal = value, refusal


class Taken(Exception):
    """Raised where a list is changed over which a loop goes as over an array: `where` is the place that does so."""

    def __init__(self, where: Location | None) -> None:
        self.where = where
