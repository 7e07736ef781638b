"""Pickling: a gradient is sent to another process as its function's import path and its options."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

from sdfgad.errors import NotImportable
from sdfgad.parse.source import read_source


def check_importable(program: Callable[..., Any]) -> None:
    """Check that a function can be pickled by reference, and raise an error with advice if not.

    Picklers that send functions by value, such as cloudpickle's and joblib's, are exempt.

    Raises:
        NotImportable: another process cannot import the function.
    """
    name = getattr(program, "__qualname__", "")
    if found_by_name(getattr(program, "__module__", None), name) is program or _is_sent_by_value():
        return
    source = read_source(program)
    raise NotImportable(
        f"`{source.name}` cannot be sent to another process: that would import it by name, under which it is not found",
        source.where(source.node),
        "Define it with `def` at the top level of a module, or send it with cloudpickle or joblib.",
    )


def found_by_name(module: str | None, name: str) -> Any:
    """The object with a dotted name in a module; None if there is none."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_sent_by_value() -> bool:
    """Whether the caller is a pickler written in Python (found on the stack), which may send functions by value."""
    frame = sys._getframe()
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), pickle.Pickler | pickle._Pickler):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
