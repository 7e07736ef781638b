"""Versions of buffers: how often each has been written, by which copies of arrays are found to be stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sdfgad.errors import AmbiguousArray, Location
from sdfgad.ir.expr import Expr, Lin, Read
from sdfgad.parse.values import Copy, Held, Index, Tensor


class Versions:
    """The version number of each buffer, and copies that are valid only as long as those of others do not change.

    Args:
        where: gives the present line.
        outdated: gives what to raise for what an attribute was before it has been assigned to.
    """

    def __init__(self, where: Callable[[], Location | None], outdated: Callable[[Held], Exception]) -> None:
        self._where, self._outdated = where, outdated
        self._writes: Counter[str] = Counter()
        self._is_checking = True
        # The buffers that have been written, and the copies that have been read, in order; how many copies there are.
        self._written: list[str] = []
        self._read: list[Copy | Held] = []
        self._copies = 0

    def __getitem__(self, buffer: str) -> int:
        return self._writes[buffer]

    def count(self, *buffers: str) -> None:
        """Count a write to each of these buffers."""
        self._writes.update(buffers)
        self._written += buffers

    @property
    def writes(self) -> int:
        """How many writes there have been."""
        return len(self._written)

    def written_since(self, writes: int) -> set[str]:
        """The buffers that have been written since there were so many writes."""
        return set(self._written[writes:])

    @property
    def now(self) -> tuple[int, int]:
        """How many copies have been read, and made: a point in time."""
        return len(self._read), self._copies

    def snapshot(self) -> tuple[Counter[str], int, tuple[int, int]]:
        """The version numbers, for `restore`."""
        return Counter(self._writes), self.writes, self.now

    def restore(self, state: tuple[Counter[str], int, tuple[int, int]]) -> None:
        self._writes = Counter(state[0])
        read, self._copies = state[2]
        del self._written[state[1] :], self._read[read:]

    # --- copies of arrays that Python holds references of

    def copy_of(self, tensor: Tensor, sources: Iterable[str], is_chosen: bool = True) -> Tensor:
        """A copy that may alias the arrays in `sources` in Python: valid until one of these buffers is written."""
        return self._copied(tensor, tuple((name, self._writes[name]) for name in sorted(set(sources))), is_chosen)

    def held(self, tensor: Tensor, mark: str, depth: int) -> Tensor:
        """What an attribute is now: valid until `mark` is counted, as the attribute is another array or number then."""
        held = Held(((mark, self._writes[mark]),), self._copies, depth, self._where())
        self._copies += 1
        element = tensor.element

        def current(index: Index) -> Expr:
            self.require_held(held)
            return element(index)

        return replace(tensor, element=current, held=held)

    def require_held(self, held: Held | None) -> None:
        """Refuse what an attribute was once that has been assigned to."""
        if held is not None and self._is_checking:
            self._read.append(held)
            if self._is_stale(held):
                raise self._outdated(held)

    def stored_copy(self, tensor: Tensor, old: Copy) -> Tensor:
        """A copy of a copy, in storage of its own that later statements do not change; valid as long as `old` is."""
        return replace(self._copied(tensor, old.of, old.is_chosen), settled=True)

    def _copied(self, tensor: Tensor, marks: tuple[tuple[str, int], ...], is_chosen: bool) -> Tensor:
        first, element = tensor.at(*(Lin(0) for _ in tensor.shape)), tensor.element
        copy = Copy(marks, first.buffer if isinstance(first, Read) else "", is_chosen, self._copies)
        self._copies += 1

        def current(index: Index) -> Expr:
            if self._is_checking:
                self._read.append(copy)
                if self._is_stale(copy):
                    raise stale("an array", copy, self._where())
            return element(index)

        return replace(tensor, place=None, element=current, copy=copy)

    def is_stale(self, value: Any) -> bool:
        """Whether a value is a copy, and a buffer that it may alias in Python has been written since."""
        return isinstance(value, Tensor) and value.copy is not None and self._is_stale(value.copy)

    def _is_stale(self, copy: Copy | Held) -> bool:
        return any(self._writes[name] != count for name, count in copy.of)

    def require_current(self, value: Any, what: str, where: Location | None = None) -> None:
        """Refuse a copy of an array that is selected at run time, if the array may have changed since.

        Raises:
            AmbiguousArray: it may have changed.
        """
        if self.is_stale(value):
            raise stale(what, value.copy, where or self._where())

    def require_current_in_next_trip(self, start: tuple[int, int]) -> None:
        """Refuse, at the end of a trip that began at `start`, copies from before it that are stale in the next one.

        Raises:
            AmbiguousArray: the trip has read such a copy, and written an array that it may alias.
        """
        for copy in self._read[start[0] :]:
            if copy.number < start[1] and self._is_stale(copy):
                raise stale("an array", copy, self._where()) if isinstance(copy, Copy) else self._outdated(copy)

    @contextmanager
    def unchecked(self) -> Iterator[None]:
        """Within it, a copy that was current when it was taken may be read after another write."""
        before, self._is_checking = self._is_checking, False
        try:
            yield
        finally:
            self._is_checking = before


def stale(what: str, copy: Copy, where: Location | None) -> AmbiguousArray:
    if copy.is_chosen:
        doubt = "may stand for several arrays, chosen at run time, and one of them has changed since"
        todo = "Copy the array where it is chosen, y = x.copy(), or update the other one afterwards."
    else:
        doubt = "may be a view or a copy of an array, depending on its order in memory, and the array has changed since"
        todo = "Copy it where it is made, y = y.copy(), or update the array afterwards."
    return AmbiguousArray(f"{what} {doubt}", where, todo, copy.storage)
