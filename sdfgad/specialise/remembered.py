"""Memoised specialisation: what was made for one call serves later calls of the same signature, where it is valid."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from sdfgad.parse.primal import Guard, Primal
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.guards import Guarded
from sdfgad.specialise.signature import Call

# The size of the cache from a call's signature and integers to its specialisation.
MOST_REMEMBERED = 1024
# How many programs of one signature are kept that hold for the integers which data decides in some calls.
MOST_GUARDED = 64


class Specialised(Protocol):
    """What is made for a call."""

    @property
    def primal(self) -> Primal: ...

    @property
    def arguments(self) -> Arguments: ...

    def fits(self, call: Call) -> bool: ...


T = TypeVar("T", bound=Specialised)


class Remembered(Generic[T]):
    """What `make` has made for calls; asked for a call, it gives what is valid for it.

    Attributes:
        found: what was made, by the key of the calls.
    """

    def __init__(self, make: Callable[[Call], T]) -> None:
        self._make = make
        self.found: dict[Hashable, list[T]] = {}
        self._by_integers: dict[Hashable, T] = {}
        self._guards: WeakKeyDictionary[Guard, Guarded] = WeakKeyDictionary()

    def __call__(self, call: Call) -> T:
        key = (call.key, call.integers)
        one = self._by_integers.get(key)
        if one is not None and not one.primal.is_current:
            self.found.clear()
            self._by_integers.clear()
            one = None
        if one is None or not (one.arguments.has_same_arrays(call) and self._is_guarded(one, call)):
            one = self._valid(call)
            if len(self._by_integers) >= MOST_REMEMBERED:
                self._by_integers.clear()
            self._by_integers[key] = one
        return one

    def _valid(self, call: Call) -> T:
        """What is valid for a call, from the cache or new."""
        found = self.found.setdefault(call.key, [])
        one = next((m for m in found if m.primal.is_current and m.fits(call) and self._is_guarded(m, call)), None)
        if one is None:
            one = self._make(call)
            if one.primal.guard is not None and len(found) >= MOST_GUARDED:
                found.pop(0)
            found.append(one)
        return one

    def _is_guarded(self, one: T, call: Call) -> bool:
        """Whether the integers that data decides in a call are those that are constants of a program."""
        guard = one.primal.guard
        if guard is None:
            return True
        if guard not in self._guards:
            self._guards[guard] = Guarded(guard)
        return self._guards[guard].holds(call)
