"""Arrays of objects with one axis: lists of a fixed length, which exist only while a program is parsed.

Items are read, written and gone over as those of a list; a function of NumPy takes them as one array of numbers. What
arrays do otherwise than lists, arithmetic, comparisons and slices that are views, is refused.
"""

from __future__ import annotations

import math
from functools import cached_property
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


class Placeholder:
    """An array of None with several axes, as classes make it for numbers that do not exist yet: it has a shape only."""

    noun = "an array of None"
    instead = "Assign an array of numbers before it is read."

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def T(self) -> Placeholder:
        # The same at each look: a program that reads another object is parsed anew.
        return Placeholder(self.shape[::-1])

    def copy(self) -> Placeholder:
        return self


def is_nothing(values: Any) -> bool:
    """Whether nested lists hold None alone."""
    leaves = values
    while leaves and all(isinstance(one, (list, tuple)) for one in leaves):
        leaves = [one for row in leaves for one in row]
    return bool(leaves) and all(one is None for one in leaves)
