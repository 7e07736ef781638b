"""Alias analysis of rolled lists: whether a program updates an array in place that a loop has appended to a list.

In Python the item of a list, and a name that a loop carries, are references of one array. Here each has a copy of its
own, in the row of an array or in the storage of the name. All copies of one array are an alias class, a connected
component of the copies. An update of one of them would be missing in the others, unless it comes before the first copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import takewhile

from sdfgad.ir.program import Block, Compute, reads_of, walk, written
from sdfgad.parse.values import Tensor

Loops = tuple[str, ...]


@dataclass(frozen=True)
class _Copy:
    """A copy that stands for a reference; `is_row` for the item of a list."""

    target: str
    sources: frozenset[str]
    loops: Loops
    is_row: bool


@dataclass(frozen=True)
class _Update:
    buffer: str
    loops: Loops


class References:
    """The copies that stand for references of arrays, and the updates of arrays in place, in the program's order.

    Args:
        loops: gives the counters of the loops around the present statement, from the outermost on.
    """

    def __init__(self, loops: Callable[[], Loops]) -> None:
        self._loops = loops
        self._events: list[_Copy | _Update] = []
        self._created: dict[str, Loops] = {}

    def create(self, buffer: str) -> None:
        """Record the loops in which a buffer is that of a new array in each trip."""
        self._created[buffer] = self._loops()

    def copy(self, target: Tensor, value: Tensor, is_row: bool = False) -> None:
        """`target` becomes a reference of `value`, if that is an array of which Python has one."""
        sources = arrays_behind(value)
        if sources:
            self._events.append(_Copy(str(target.buffer), frozenset(sources), self._loops(), is_row))

    def has_row(self, buffer: str) -> bool:
        """Whether rows of a buffer are references of arrays."""
        return any(isinstance(one, _Copy) and one.is_row and one.target == buffer for one in self._events)

    def update(self, array: Tensor) -> None:
        if array.place is not None:
            self._events.append(_Update(str(array.buffer), self._loops()))

    def snapshot(self) -> int:
        """The number of events, for `restore`."""
        return len(self._events)

    def restore(self, state: int) -> None:
        del self._events[state:]

    def are_rows_updated(self, body: Block) -> bool:
        """Whether an array that is also the item of a rolled list may be updated in place while it is.

        Args:
            body: all statements.
        """
        copies = [event for event in self._events if isinstance(event, _Copy)]
        found = _connected(copies, {copy.target for copy in copies if copy.is_row})
        if not any(isinstance(event, _Update) and event.buffer in found for event in self._events):
            return False
        copies = self._without_moves(copies, body)
        found = _connected(copies, {copy.target for copy in copies if copy.is_row})
        return any(
            isinstance(event, _Update)
            and event.buffer in found
            and not self._is_before_copies(event, position, {id(copy) for copy in copies})
            for position, event in enumerate(self._events)
        )

    def _without_moves(self, copies: list[_Copy], body: Block) -> list[_Copy]:
        """Liveness: without copies of arrays that are new in each trip, that no later statement reads or updates."""
        last: dict[str, tuple[int, str]] = {}
        for position, statement in enumerate(walk(body)):
            targets = written((statement,)) if isinstance(statement, Compute) else set()
            target = next(iter(targets), "")
            for buffer in {*targets, *(read.buffer for read in reads_of(statement))}:
                last[buffer] = position, target
        sources = Counter(buffer for copy in copies for buffer in copy.sources)

        def is_move(copy: _Copy) -> bool:
            return all(
                sources[one] == 1 and self._created.get(one) == copy.loops and last.get(one, (0, ""))[1] == copy.target
                for one in copy.sources
            )

        return [copy for copy in copies if not is_move(copy)]

    def _is_before_copies(self, update: _Update, position: int, lasting: Container[int]) -> bool:
        """Whether an array is new when it is updated: no other reference of it exists, nor comes to exist before
        another trip of a loop repeats the update for the same array.

        Args:
            lasting: the ids of copies whose sources may be read or updated afterwards.
        """
        buffer = update.buffer
        copies = [(at, one) for at, one in enumerate(self._events) if isinstance(one, _Copy) and id(one) in lasting]
        if any(copy.target == buffer for _, copy in copies):
            return False
        at, first = next((at, copy) for at, copy in copies if buffer in copy.sources)
        common = takewhile(lambda pair: pair[0] == pair[1], zip(update.loops, first.loops, strict=False))
        return position < at and len(list(common)) <= len(self._created.get(buffer, ()))


def arrays_behind(value: Tensor) -> set[str]:
    """The buffers of the arrays of which a value is, or may be, a reference."""
    own = set() if value.place is None else {str(value.buffer)}
    return own if value.copy is None else own | {value.copy.storage} | {buffer for buffer, _ in value.copy.of}


def _connected(copies: Iterable[_Copy], buffers: set[str]) -> set[str]:
    """The buffers that copies connect with some of them."""
    classes = [copy.sources | {copy.target} for copy in copies]
    found, size = set(buffers), -1
    while len(found) != size:
        size = len(found)
        found.update(*(one for one in classes if not one.isdisjoint(found)))
    return found
