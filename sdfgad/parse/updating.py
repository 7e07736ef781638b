"""Which arrays can be updated in place: those that have a place, not copies that stand for one of several."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import UpdateOfCopy
from sdfgad.ir.expr import Lin, Read
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor


def storage_of(value: Tensor) -> str:
    """The buffer of the storage that stands for an array which was chosen at run time."""
    element = value.at(*(Lin(0) for _ in value.shape))
    return element.buffer if isinstance(element, Read) else ""


def updatable(b: Builder, value: Any, what: str, todo: str) -> Tensor:
    """An array that can be updated in place.

    Args:
        what, todo: what is said of anything else.

    Raises:
        UpdateOfCopy: the value is a copy of an array that was chosen at run time.
        UnsupportedProgram: it is no array, or a computed one.
    """
    if isinstance(value, Tensor) and value.place is not None:
        return value
    if isinstance(value, Tensor) and value.is_copy:
        raise UpdateOfCopy(storage_of(value), b.where)
    raise b.unsupported(what, todo)
