"""The iteration of objects by ``__next__``, or by ``__getitem__`` alone, as Python does it: all items at once."""

from __future__ import annotations

from typing import Any


def items_by_next(iterator: Any) -> Any:
    found: list[Any] = []
    try:
        while True:
            found.append(iterator.__next__())
    except StopIteration:
        pass
    return found


def items_by_place(values: Any) -> Any:
    found: list[Any] = []
    try:
        while True:
            found.append(values[len(found)])
    except IndexError:
        pass
    return found


def next_or(iterator: Any, default: Any) -> Any:
    try:
        return iterator.__next__()
    except StopIteration:
        return default
