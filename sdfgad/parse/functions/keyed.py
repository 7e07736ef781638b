"""Extrema by a key: definitions that the parser inlines, as they call functions of the user."""

from __future__ import annotations

from typing import Any

NOTHING: Any = object()


def max_by_key(*values: Any, default: Any = NOTHING, key: Any = None) -> Any:
    """The first item whose key is the largest."""
    items = values[0] if len(values) == 1 else values
    if default is not NOTHING and len(items) == 0:
        return default
    best = items[0]
    top = key(best)
    for item in items[1:]:
        value = key(item)
        if value > top:
            best = item
            top = value
    return best


def min_by_key(*values: Any, default: Any = NOTHING, key: Any = None) -> Any:
    """The first item whose key is the smallest."""
    items = values[0] if len(values) == 1 else values
    if default is not NOTHING and len(items) == 0:
        return default
    best = items[0]
    top = key(best)
    for item in items[1:]:
        value = key(item)
        if value < top:
            best = item
            top = value
    return best


def max_of_chosen(pairs: Any, default: Any = NOTHING) -> Any:
    """The first of the largest second items of pairs whose first items are true."""
    found, best = pairs[0]
    for holds, value in pairs[1:]:
        if holds and (not found or value > best):
            best = value
        found = found or holds
    return _or_default(found, best, default)


def min_of_chosen(pairs: Any, default: Any = NOTHING) -> Any:
    """The first of the smallest second items of pairs whose first items are true."""
    found, best = pairs[0]
    for holds, value in pairs[1:]:
        if holds and (not found or value < best):
            best = value
        found = found or holds
    return _or_default(found, best, default)


def _or_default(found: Any, best: Any, default: Any) -> Any:
    if default is not NOTHING:
        return best if found else default
    if not found:
        raise ValueError("min or max of no elements")
    return best
