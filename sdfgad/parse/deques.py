"""Deques of a program: lists with the methods of `collections.deque`, which exist only while it is parsed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Deque(list[Any]):
    """A deque: one of at most `maxlen` items drops those at its other end."""

    noun = "a deque"
    instead = "Make an array of it: np.array(values)."

    def __init__(self, items: Iterable[Any] = (), maxlen: int | None = None) -> None:
        super().__init__()
        self.maxlen = maxlen
        self.extend(items)

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deque) and list(self) == list(other)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        return super().__getitem__(index)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Deque):
            raise TypeError("can only concatenate a deque to a deque")
        return Deque([*self, *other], self.maxlen)

    def __radd__(self, other: Any) -> Any:
        raise TypeError("can only concatenate a deque to a deque")

    def __mul__(self, count: Any) -> Any:
        return Deque(super().__mul__(count), self.maxlen)

    def copy(self) -> Deque:
        return Deque(self, self.maxlen)

    def append(self, value: Any) -> None:
        super().append(value)
        if self.maxlen is not None and len(self) > self.maxlen:
            super().pop(0)

    def appendleft(self, value: Any) -> None:
        super().insert(0, value)
        if self.maxlen is not None and len(self) > self.maxlen:
            super().pop()

    def insert(self, index: Any, value: Any) -> None:
        if len(self) == self.maxlen:
            raise IndexError("deque already at its maximum size")
        super().insert(index, value)

    def popleft(self) -> Any:
        if not self:
            raise IndexError("pop from an empty deque")
        return super().pop(0)

    def extend(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.append(value)

    def extendleft(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.appendleft(value)

    def rotate(self, n: int = 1) -> None:
        if self:
            first = -n % len(self)
            self[:] = [*list(self)[first:], *list(self)[:first]]
