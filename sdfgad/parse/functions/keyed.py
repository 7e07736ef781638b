"""Extrema by a key, and of items that data chooses, and sums of objects: definitions that the parser inlines, as they
call functions of the user."""

from __future__ import annotations

from typing import Any

import numpy as np

NOTHING: Any = object()
# Of more items the tests are an array.
FEW = 16


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


def max_of_filtered(values: Any, default: Any = NOTHING, key: Any = None) -> Any:
    """The first object with the largest key of those for which a condition on data holds."""
    found, best, top = False, values._objects[0], None
    for holds, item in zip(values._mask, values._objects, strict=True):
        if holds:
            # Python asks for the keys of these alone.
            value = key(item)
            if not found or value > top:
                best, top = item, value
            found = True
    return _or_default(found, best, default)


def min_of_filtered(values: Any, default: Any = NOTHING, key: Any = None) -> Any:
    """The first object with the smallest key of those for which a condition on data holds."""
    found, best, top = False, values._objects[0], None
    for holds, item in zip(values._mask, values._objects, strict=True):
        if holds:
            value = key(item)
            if not found or value < top:
                best, top = item, value
            found = True
    return _or_default(found, best, default)


# For the functions of all items by a key, those of objects that data chooses.
OF_FILTERED: dict[Any, Any] = {max_by_key: max_of_filtered, min_by_key: min_of_filtered}


def itself(value: Any) -> Any:
    """The key of items that are compared as they are."""
    return value


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


def first_of_list(values: Any, default: Any = NOTHING) -> Any:
    """The first item of a list of objects that data chooses."""
    if default is NOTHING:
        if len(values) == 0:
            raise StopIteration
        return values[0]
    return values[0] if len(values) > 0 else default


def first_of_chosen(items: Any, tests: Any, default: Any = NOTHING) -> Any:
    """The first of the items whose tests are true."""
    found, first = _first_of_few(items, tests) if len(items) <= FEW else _first_of_many(items, np.array(tests))
    if default is not NOTHING:
        return first if found else default
    if not found:
        raise StopIteration
    return first


def _first_of_few(items: Any, tests: Any) -> Any:
    found, first = tests[-1], items[-1]
    for holds, value in zip(tests[-2::-1], items[-2::-1], strict=True):
        first = value if holds else first
        found = found or holds
    return found, first


def _first_of_many(items: Any, tests: Any) -> Any:
    return np.any(tests), items[np.argmax(tests)]


def _or_default(found: Any, best: Any, default: Any) -> Any:
    if default is not NOTHING:
        return best if found else default
    if not found:
        raise ValueError("min or max of no elements")
    return best


def sum_of_objects(values: Any, start: Any = 0) -> Any:
    """``sum`` of objects, by their own ``+``."""
    total = start
    for value in values:
        total = total + value
    return total
