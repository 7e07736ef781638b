"""In-place updates: of arrays with a place, not of copies that may alias several arrays."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import AmbiguousArray, Location, UpdateOfCopy
from sdfgad.ir.expr import Lin, Read
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor


def storage_of(value: Tensor) -> str:
    """The buffer that stores the copy of an array which is selected at run time; '' if there is none."""
    element = value.at(*(Lin(0) for _ in value.shape))
    return element.buffer if isinstance(element, Read) else ""


def updatable(b: Builder, value: Any, what: str, todo: str) -> Tensor:
    """An array that can be updated in place.

    Args:
        what, todo: the message and advice of the error for any other value.

    Raises:
        UpdateOfCopy: the value is a copy of an array that is selected at run time.
        UnsupportedProgram: it is no array, or a computed one.
    """
    b.has_updates = True
    if isinstance(value, Tensor) and value.place is not None:
        return value
    if isinstance(value, Tensor) and value.is_copy:
        raise UpdateOfCopy(storage_of(value), b.where)
    raise b.unsupported(what, todo)


def stale(what: str, value: Tensor, where: Location | None) -> AmbiguousArray:
    return AmbiguousArray(
        f"{what} may stand for several arrays, chosen at run time, and one of them has changed since",
        where,
        "Copy the array where it is chosen, or update it afterwards.",
        storage_of(value),
    )


def require_current(b: Builder, value: Any, what: str) -> None:
    """Refuse a copy of an array that is selected at run time, if the array may have changed since.

    Raises:
        AmbiguousArray: it may have changed.
    """
    if isinstance(value, Tensor) and b.is_stale_copy(value):
        raise stale(what, value, b.where)
