"""Flat view: ``x.flat``, the elements of an array row by row, whatever its layout.

Assignments to its items change the array; its items, and slices of it, are copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.indexing import getitem
from sdfgad.parse.registry import attribute
from sdfgad.parse.strides import unravelled
from sdfgad.parse.values import Tensor


@dataclass(frozen=True)
class Flat:
    """What ``x.flat`` is: the elements as a vector that shares them with the array."""

    elements: Tensor
    noun = "the iterator `.flat` of an array"
    instead = "Write np.ravel(x), or x.flat[i]."

    def item(self, b: Builder, index: Any) -> Any:
        found = getitem(b, self.elements, index)
        return b.stored(found) if isinstance(found, Tensor) and found.ndim else found


@attribute("flat")
def flat(b: Builder, x: Any) -> Flat:
    if not isinstance(x, Tensor):
        raise b.unsupported("`.flat` of a selection is not supported", "Write x[mask], which has one axis as it is.")
    sizes = [b.constant(extent) for extent in x.shape]
    return Flat(x.reindexed((Lin(math.prod(sizes)),), lambda p: unravelled(p[0], sizes)))
