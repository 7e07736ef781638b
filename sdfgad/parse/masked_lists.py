"""Lists of those objects for which a condition on data holds: ``[p for p in agents if p.alive]``, masked lists.

How many objects there are is known only at run time, but which ones there may be is known. So the list has all of them
and a mask, an array of truth values: a loop over it is one over all of them, whose body is a branch, and so is a
comprehension (`filtered_objects`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sdfgad.ir.expr import BOOL
from sdfgad.parse import containers
from sdfgad.parse.builder import Builder
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Record, astype

WHAT = "of a list of the objects for which a condition on data holds is not supported"
TODO = "Go over all objects, and test the condition there: `for p in objects:` and `if p.alive:`."


def unavailable(what: str) -> Any:
    """Refuse what such a list cannot do."""


def pythons(numbers: Any) -> Any:
    """Let the elements of an array of integers be Python's."""


class FilteredObjects:
    """What stands for such a list. Its methods are statements of the program.

    Attributes:
        _objects: all objects that it may have, in order.
        _mask: whether it has them.
    """

    noun: ClassVar[str] = "a list of the objects for which a condition on data holds"
    stands_for: ClassVar[type] = list
    _objects: Any
    _mask: Any

    def __init__(self, values: Any, mask: Any) -> None:
        self._objects, self._mask = values, mask

    def __getattr__(self, name: str) -> Any:
        return unavailable(f"`.{name}`")

    def __iter__(self) -> Any:
        return unavailable("this use")

    def __eq__(self, other: Any) -> Any:
        return unavailable("a comparison")

    def __add__(self, other: Any) -> Any:
        return unavailable("a sum")

    def __radd__(self, other: Any) -> Any:
        return unavailable("a sum")

    def __mul__(self, other: Any) -> Any:
        return unavailable("a product")

    def __len__(self) -> Any:
        return int(np.sum(self._mask))

    def __bool__(self) -> Any:
        return bool(np.any(self._mask))

    def copy(self) -> Any:
        return FilteredObjects(self._objects, self._mask)

    def __getitem__(self, place: Any) -> Any:
        count = np.sum(self._mask)
        numbers = np.cumsum(self._mask)
        if isinstance(place, slice):
            if place.step == -1 and place.start is None and place.stop is None:
                return FilteredObjects(self._objects[::-1], self._mask[::-1])
            if place.step is not None and place.step != 1:
                return unavailable("a step through the items")
            start = 0 if place.start is None else place.start
            stop = count if place.stop is None else place.stop
            start = start + count if start < 0 else start
            stop = stop + count if stop < 0 else stop
            return FilteredObjects(self._objects, self._mask & (numbers > start) & (numbers <= stop))
        at = place + count if place < 0 else place
        # Behind the last object, where it is not there.
        return self._objects[np.where((at < 0) | (at >= count), len(self._objects), np.argmax(numbers > at))]

    def _numbers(self, start: Any = 0) -> Any:
        """The numbers of the objects that are in it, as `enumerate` has them; any for others."""
        return pythons(np.cumsum(self._mask) - 1 + start)

    def __contains__(self, value: Any) -> Any:
        found = False
        for is_in_it, one in zip(self._mask, self._objects, strict=True):
            if is_in_it and one == value:
                found = True
        return found


def of(b: Builder, values: list[Any], tests: list[Any]) -> Record:
    """The list of those objects whose tests are true."""
    mask = b.stored(astype(stacked(b, tests), BOOL))
    b.objects.masks.add(str(mask.buffer))
    fields = {"_objects": containers.tracked(b, list(values)), "_mask": mask}
    return Record(FilteredObjects, containers.tracked(b, fields))


def copied(b: Builder, value: Record) -> Record:
    """Another list of the same objects."""
    return Record(FilteredObjects, containers.tracked(b, dict(value.fields)))


def is_filtered(value: Any) -> bool:
    return isinstance(value, Record) and value.cls is FilteredObjects
