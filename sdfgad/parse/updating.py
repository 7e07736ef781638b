"""In-place updates: of arrays with a place, not of copies that may alias several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import UpdateOfCopy
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Buffer
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import ChangesOutside
from sdfgad.parse.values import Copy, Tensor


def aliased_by(value: Tensor) -> set[str]:
    """The buffers that a copy may alias in Python; none for any other value."""
    return set() if value.copy is None else {buffer for buffer, _ in value.copy.of}


def _names(b: Builder, copy: Copy) -> tuple[str, list[str]]:
    """The name under which a copy is stored, and those of the arrays that it may be, with their lines."""
    known = [b.buffers[buffer] for buffer, _ in copy.of if buffer in b.buffers]
    storage = b.buffers.get(copy.storage)
    others = dict.fromkeys(f"`{one.source}`{_line(one)}" for one in known if one.source.isidentifier())
    name = "" if storage is None or not storage.source.isidentifier() else storage.source
    return name, list(others)


def _line(buffer: Buffer) -> str:
    return " (an argument)" if buffer.where is None else f" (line {buffer.where.line})"


def updatable(b: Builder, value: Any, what: str, todo: str) -> Tensor:
    """An array that can be updated in place.

    Args:
        what, todo: the message and advice of the error for any other value.

    Raises:
        UpdateOfCopy: the value is a copy of an array that is selected at run time.
        UnsupportedProgram: it is no array, or a computed one.
    """
    if isinstance(value, Tensor) and value.unmoved is not None:
        raise value.unmoved()
    if isinstance(value, Tensor) and value.read_only:
        raise b.unsupported(
            "a view that NumPy makes read-only, or that repeats elements (np.broadcast_to, say), is updated in place",
            "Update the array that it is a view of, or a copy: y = x.copy().",
        )
    if isinstance(value, Tensor) and str(value.buffer) in b.protected:
        what = "an array is updated in place that `setflags(write=False)` may protect"
        raise b.unsupported(what, "Update it before, or a copy: y = x.copy().")
    if isinstance(value, Tensor) and value.place is not None:
        b.versions.require_held(value.held)
        b.references.update(value)
        return value
    if isinstance(value, Tensor) and value.copy is not None:
        if value.copy.is_chosen:
            raise UpdateOfCopy(value.copy.storage, b.where, *_names(b, value.copy))
        raise b.unsupported(
            "what may be a view or a copy of an array, depending on its order in memory, is updated in place",
            "Copy it first, y = y.copy(), or update the array that it was made of.",
        )
    refusal = b.unsupported(what, todo)
    if (array := _from_outside(b, value)) is not None:
        raise ChangesOutside(array, refusal)
    raise refusal


def is_whole_array(b: Builder, value: Tensor) -> bool:
    """Whether a number is an array without axes from outside, which ``+=`` updates in place."""
    element = value.at() if not value.ndim else None
    return isinstance(element, Read) and not element.index and id(b.captured.get(element.buffer)) in b.outside


def _from_outside(b: Builder, value: Any) -> np.ndarray[Any, Any] | None:
    """The array from outside of which a value is, or is a part; None for another value."""
    element = value.at(*[0] * value.ndim) if isinstance(value, Tensor) else None
    array = b.captured.get(element.buffer) if isinstance(element, Read) else None
    if not isinstance(array, np.ndarray) or id(array) not in b.outside:
        return None
    # NumPy reshapes an array of another order with a copy.
    return array if array.flags.c_contiguous and array.flags.writeable else None
