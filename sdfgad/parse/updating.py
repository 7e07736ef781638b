"""In-place updates: of arrays with a place, not of copies that may alias several arrays."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import UpdateOfCopy
from sdfgad.ir.program import Buffer
from sdfgad.parse.builder import Builder
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
    raise b.unsupported(what, todo)
