"""Logs: lists whose length is data, as those to which an iteration appends its errors until it has converged.

The parser only learns that at the ``append``. So it begins anew, and the list that the program makes there is another
object (`sdfgad.parse.delay_lines`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.specialise import Carried, NeedsConstant
from sdfgad.parse.values import Record

# The methods that change a list and return nothing.
APPENDING = ("append", "extend", "insert")
# Those that remove an item, and return it.
REMOVING = ("pop", "popleft")
CHANGING = (*APPENDING, *REMOVING)


@dataclass(frozen=True)
class Site:
    """The place in the program's text where a list or dict is made, or a dataclass's object with a list in a field."""

    noun: ClassVar[str] = "one of several lists whose length is known only at run time"
    file: str
    line: int
    column: int
    field: str = ""


def put(site: Any, arrays: Any, place: Any, value: Any) -> None:
    """Keep an item of a list at its place in an array, or the parts of one in several."""


def see(site: Any, value: Any) -> None:
    """Learn the type of an item that is not kept."""


def require_end(site: Any, length: Any, place: Any) -> None:
    """Require that a list has items, and that the one to be removed is the last or the first."""


def push(site: Any, arrays: Any, place: Any, value: Any) -> None:
    """Keep an item of a stack at its place, where there has to be room for it."""


def popped(site: Any, arrays: Any, place: Any) -> Any:
    """The item of a stack at a place."""


class Log:
    """What stands for a list of unknown length. Its methods are statements of the program.

    Attributes:
        origin: where the program makes the list.
        length: the number of items.
        first: the items at the start, as many as are read there.
        latest: those at the end, the last one first.
        most, items: all of them, up to a number, as rows of an array, or of several for tuples.
        is_stack: whether loops remove items: all are kept, from the row `start` on (`sdfgad.parse.stacks`).
    """

    noun: ClassVar[str] = "a list whose length is known only at run time"
    origin: Any
    length: Any
    first: Any
    latest: Any
    most: Any
    items: Any
    is_stack: Any
    start: Any

    def append(self, value: Any) -> None:
        if self.is_stack:
            push(self.origin, self.items, self.start + self.length, value)
        elif self.most == 0:
            see(self.origin, value)
        elif self.length < self.most:
            put(self.origin, self.items, self.length, value)
        for k in range(len(self.first)):
            if self.length == k:
                self.first[k] = value
        for k in range(len(self.latest) - 1, 0, -1):
            self.latest[k] = self.latest[k - 1]
        if len(self.latest) > 0:
            self.latest[0] = value
        self.length += 1

    def extend(self, values: Any) -> None:
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def pop(self, place: Any = -1) -> Any:
        require_end(self.origin, self.length, place)
        self.length -= 1
        if place == 0:
            self.start += 1
            return popped(self.origin, self.items, self.start - 1)
        if len(self.latest) == 0:
            return popped(self.origin, self.items, self.start + self.length)
        last = self.latest[0]
        for k in range(len(self.latest) - 1):
            self.latest[k] = self.latest[k + 1]
        return last

    def popleft(self) -> Any:
        return self.pop(0)

    def __setitem__(self, place: Any, value: Any) -> None:
        at = self.length + place if place < 0 else place
        for k in range(len(self.first)):
            if at == k:
                self.first[k] = value
        for k in range(len(self.latest)):
            if at == self.length - 1 - k:
                self.latest[k] = value
        if self.is_stack:
            put(self.origin, self.items, self.start + at, value)
        elif self.most > 0 and at < self.most:
            put(self.origin, self.items, at, value)

    def insert(self, place: Any, value: Any) -> None:
        self.length += 1

    def __len__(self) -> Any:
        return self.length


def is_log(value: Any) -> bool:
    return isinstance(value, Record) and value.cls is Log


@dataclass(frozen=True)
class Kept:
    """What is known of a log from earlier attempts to parse the program.

    Attributes:
        failure: why its list cannot be followed.
        like: an item.
        first: how many items are read by their places from the start.
        latest: how many are read by their places from the end.
        items: how many there are in the call at hand, where the list is read as a whole, else 0.
        is_stack: whether loops remove items, so that all are kept.
        keys: the keys that a dict may have, each with an item.
        cause: what the first attempt has raised, which the branches around the change are to blame for.
    """

    failure: UnsupportedProgram
    like: Any = None
    first: int = 0
    latest: int = 0
    items: int = 0
    is_stack: bool = False
    keys: Mapping[Any, Any] = field(default_factory=dict)
    cause: UnsupportedProgram | NeedsConstant | None = None


class Reaches(Exception):
    """Raised where a program has read items of logs that are not kept (`Logs.lacking`)."""


@dataclass
class Logs:
    """The logs of one attempt to parse a program.

    Attributes:
        known: the places where logs are made.
        found: those that this attempt has found.
        lacking: of logs of which more items are read than are kept, what the next attempt has to keep.
        by_place: those of whose items, of unknown number, some are read or replaced at places that data decides.
        live: the logs that have been made.
        removed: the place of a log -> how many items the statements so far may have removed at its end.
    """

    known: dict[Site, Kept]
    found: dict[Site, Kept] = field(default_factory=dict)
    lacking: dict[Site, Kept] = field(default_factory=dict)
    by_place: set[Site] = field(default_factory=set)
    live: list[Record] = field(default_factory=list)
    removed: Counter[Site] = field(default_factory=Counter)
    _read: dict[int, tuple[list[Any], Record, Any]] = field(default_factory=dict)
    _made: dict[int, tuple[Any, Site]] = field(default_factory=dict)
    _failures: list[Exception] = field(default_factory=list)

    def snapshot(self) -> tuple[int, Counter[Site]]:
        return len(self.live), self.removed.copy()

    def restore(self, state: tuple[int, Counter[Site]]) -> None:
        del self.live[state[0] :]
        self.removed = state[1].copy()

    def follow(self, values: list[Any] | dict[Any, Any], site: Site) -> None:
        """Begin to follow a list or dict that the program makes."""
        self._made[id(values)] = values, site

    def note_items(self, items: list[Any], log: Record) -> None:
        """Note of which log a list has the items."""
        self._read[id(items)] = items, log, log.fields["length"]

    def is_read(self, items: Any) -> bool:
        """Whether a list has the items of a log."""
        return id(items) in self._read

    def require_same_length(self, items: Any) -> None:
        """Refuse a list that has grown while the program went over it, as Python goes over the new items, too.

        Raises:
            UnsupportedProgram: its items are those of a log that has another number of items now.
        """
        _, log, length = self._read.get(id(items), (None, None, None))
        if log is not None and log.fields["length"] is not length:
            raise self.known[log.fields["origin"]].failure

    def is_followed(self, values: Any) -> bool:
        return id(values) in self._made

    @contextmanager
    def noted(self, values: Any, appended: Any, is_decided_by_data: bool) -> Iterator[None]:
        """Note it if a change of a list cannot be followed; behind such a one, if it could not either without that."""
        try:
            yield
        except Carried:
            raise
        except (UnsupportedProgram, NeedsConstant) as failure:
            _, site = self._made.get(id(values), (None, None))
            if site is not None and (is_decided_by_data or not self._failures):
                reason = UnsupportedProgram(failure.what, failure.where, failure.todo)
                self.found.setdefault(site, Kept(reason, appended, cause=failure))
            raise

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Parse a statement, and go on behind it where it changes a list that cannot be followed: there may be more."""
        before = len(self.found)
        try:
            yield
        except (UnsupportedProgram, NeedsConstant) as failure:
            if isinstance(failure, Carried) or len(self.found) == before:
                raise
            self._failures.append(failure)

    @contextmanager
    def failing_late(self) -> Iterator[None]:
        """Raise the first failure in a block behind which its parser has gone on, at the end of the block."""
        before = len(self._failures)
        try:
            yield
        except Exception as error:
            if len(self._failures) > before:
                raise self._first_since(before) from error
            raise
        if len(self._failures) > before:
            raise self._first_since(before)

    def _first_since(self, before: int) -> Exception:
        first = self._failures[before]
        del self._failures[before:]
        return first

    @contextmanager
    def instead(self, before: dict[Site, Kept]) -> Iterator[None]:
        """Parse a loop otherwise: if that succeeds, what only the attempt before has found can be followed."""
        tried, self.found = self.found, dict(before)
        try:
            yield
        except Exception:
            self.found = {**tried, **self.found}
            raise

    def keep(self, site: Site, first: int = 0, latest: int = 0, items: int = 0) -> bool:
        """Have a log keep so many items; returns whether it does, else only in the next attempt (`require_kept`)."""
        kept = self.known[site]
        if kept.is_stack or (first <= kept.first and latest <= kept.latest and items <= kept.items):
            return True
        more = self.lacking.get(site, kept)
        first, latest, items = max(first, more.first), max(latest, more.latest), max(items, more.items)
        self.lacking[site] = replace(more, first=first, latest=latest, items=items)
        return False

    def keep_all(self, site: Site) -> bool:
        """Have a log keep all items, so that loops can remove some; returns as `keep`."""
        if not self.known[site].is_stack:
            more = self.lacking.get(site, self.known[site])
            self.lacking[site] = replace(more, is_stack=True)
        return self.known[site].is_stack

    @property
    def as_stacks(self) -> dict[Site, Kept]:
        """All logs, those in `by_place` with all items."""
        return self.known | {site: replace(self.known[site], is_stack=True) for site in self.by_place}

    def widen(self, site: Site, like: Any) -> None:
        """Have the next attempt keep the items of a log as such a one."""
        self.lacking[site] = replace(self.lacking.get(site, self.known[site]), like=like)

    def require_followed(self) -> None:
        """End an attempt that has gone on behind a failure, by that: it lacks statements."""
        if self._failures:
            raise self._failures[0]

    def require_kept(self) -> None:
        """End an attempt that reads items which it does not keep; they were others.

        Raises:
            Reaches: it has read some.
        """
        if self.lacking:
            raise Reaches
