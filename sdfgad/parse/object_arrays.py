"""Arrays of objects with one axis: lists of a fixed length, which exist only while a program is parsed.

Items are read, written and gone over as those of a list; a function of NumPy takes them as one array of numbers. What
arrays do otherwise than lists, arithmetic, comparisons and slices that are views, is refused.
"""

from __future__ import annotations

from typing import Any


class ObjectArray(list[Any]):
    """An array of objects."""

    noun = "an array of objects"

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def size(self) -> int:
        return len(self)

    def copy(self) -> ObjectArray:
        return ObjectArray(self)
