"""The arguments `out` and `order` of NumPy's functions, and options that are not supported."""

from __future__ import annotations

from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.updating import updatable


def into(b: Builder, out: Any, result: Any) -> Any:
    """A result, written into the array `out` if one is given."""
    if out is None:
        return result
    (target,) = out if isinstance(out, tuple) else (out,)
    place = updatable(b, target, "`out` is not an array that can be updated", "Pass an array of the program.")
    b.assign(place, result)
    return place


def refuse(b: Builder, function: str, **options: Any) -> None:
    """Refuse options that are not supported: those that are not None."""
    for name, value in options.items():
        if value is not None:
            raise b.unsupported(f"the option `{name}` of {function} is not supported", "Leave it out.")


def is_fortran(b: Builder, order: Any) -> bool:
    """Whether `order` is column-major.

    Raises:
        UnsupportedProgram: the order depends on how NumPy happens to store the array.
    """
    if order not in ("C", "F"):
        raise b.unsupported(f"the order {order!r}", "Use 'C' or 'F'.")
    return bool(order == "F")
