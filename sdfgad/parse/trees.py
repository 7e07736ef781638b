"""Pytrees: nested tuples, lists, dicts, objects and selections, flattened to leaves and rebuilt from them."""

from __future__ import annotations

import operator
import types
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sdfgad.parse.logs import Site
from sdfgad.parse.values import (
    DICT_VIEWS,
    UNDEFINED,
    AfterLoop,
    Holder,
    Iteration,
    MaybeBound,
    MaybeNone,
    Record,
    Selection,
)

# The attribute of a class that a function defines in which the frame of that function is kept.
LOCAL_FRAME = "<frame>"
# Of which several may be equal, and that no array can hold.
LABELS = (str, type(None), Site)


def leaves(value: Any) -> list[Any]:
    """The leaves of a value in order: numbers, arrays and other objects."""
    return [leaf for part in _parts(value) for leaf in leaves(part)] if _is_inner(value) else [value]


def sequences(value: Any) -> Iterator[Any]:
    """The tuples, lists, dicts and objects that a value is and consists of."""
    if _is_inner(value):
        yield value
        for part in _parts(value):
            yield from sequences(part)


def reachable(values: Iterable[Any], but: Any) -> Iterator[Any]:
    """All leaves of values, also those that functions, iterators and frames hold, except for what `but` holds."""
    left, seen = list(values), {id(but)}
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        left += _referred(value)
        if not _is_inner(value) and not isinstance(value, (partial, Holder)):
            yield value


def references(values: Iterable[Any], but: Any) -> Counter[int]:
    """How many names and parts of values refer to each list, dict or object, by id, except those that `but` holds."""
    left, seen, found = list(values), {id(but)}, Counter[int]()
    while left:
        value = left.pop()
        found[id(value)] += isinstance(value, (list, dict, Record))
        if id(value) not in seen:
            seen.add(id(value))
            left += _referred(value)
    return found


def holds_any(values: Iterable[Any], ids: Container[int]) -> bool:
    """Whether values are, consist of or go over some objects, by id; what functions hold does not count."""
    left, seen = list(values), set[int]()
    while left:
        value = left.pop()
        if id(value) in ids:
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        is_view = isinstance(value, (*DICT_VIEWS, set, frozenset))
        left += value if is_view else [] if isinstance(value, partial) else _iterated(value)
    return False


def _iterated(value: Any) -> list[Any]:
    if isinstance(value, (Iteration, AfterLoop)):
        return list(value.held)
    return _parts(value) if _is_inner(value) else []


def _referred(value: Any) -> list[Any]:
    """What a value holds or consists of."""
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, Holder):
        return list(value.held)
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        return [value.__self__]
    if isinstance(value, Record):
        return [value.fields, value.cls]
    if isinstance(value, type):
        return [value.__dict__[LOCAL_FRAME]] if LOCAL_FRAME in value.__dict__ else []
    return _parts(value) if _is_inner(value) else []


def rebuilt(like: Any, new: Iterable[Any], same: Container[int] = ()) -> Any:
    """A value with the structure of `like` and the leaves `new`; containers with ids in `same` stay what they are."""
    return _rebuilt(like, iter(new), same)


def _rebuilt(like: Any, new: Iterator[Any], same: Container[int]) -> Any:
    if not _is_inner(like):
        return next(new)
    parts = [_rebuilt(part, new, same) for part in _parts(like)]
    return like if id(like) in same else _with_parts(like, parts)


def matched(values: list[Any]) -> list[Any] | None:
    """The values in a common structure; None if theirs differ. An undefined value takes any structure."""
    known = [value for value in values if value is not UNDEFINED]
    if not any(map(_is_inner, known)):
        # What is never read may as well be what is read elsewhere.
        is_label = bool(known) and isinstance(known[0], LABELS) and all(value == known[0] for value in known)
        return known[:1] * len(values) if is_label else values
    like = known[0]
    if not _is_inner(like) or not all(_is_same_kind(like, value) for value in known):
        return None
    missing = [UNDEFINED] * len(_parts(like))
    columns = zip(*(missing if value is UNDEFINED else _parts(value) for value in values), strict=True)
    fitted = [matched(list(column)) for column in columns]
    if any(column is None for column in fitted):
        return None
    return [_fitted(value, like, [column[k] for column in fitted if column]) for k, value in enumerate(values)]


def _fitted(value: Any, like: Any, parts: list[Any]) -> Any:
    """A value with other parts; the very value if they are the same."""
    is_same = value is not UNDEFINED and all(map(operator.is_, _parts(value), parts))
    return value if is_same else _with_parts(like, parts)


def mapped(value: Any, each: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    """A value with its leaves mapped; what several parts or values refer to stays one object, and the same if it can.

    Args:
        done: by id, each part that has been mapped, and its result.
    """
    if id(value) not in done:
        result = value
        if _is_inner(value):
            parts = [mapped(part, each, done) for part in _parts(value)]
            result = _fitted(value, value, parts)
        else:
            result = each(value)
        done[id(value)] = value, result
    return done[id(value)][1]


def copied(value: Any) -> Any:
    """A value with the same leaves in other tuples, lists, dicts and objects."""
    return rebuilt(value, leaves(value))


def is_changed(value: Any, before: Any) -> bool:
    """Whether other leaves have been put in a value since the copy `before` was made of it."""
    old, new = leaves(before), leaves(value)
    return matched([before, value]) is None or len(old) != len(new) or not all(map(operator.is_, old, new))


def matched_like(like: Any, values: list[Any]) -> list[Any]:
    """`values` in the structure of `like`, which all of them have except undefined ones."""
    return (matched([like, *values]) or [])[1:]


def _is_inner(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict, Record, Selection, MaybeBound, MaybeNone))


def _is_same_kind(x: Any, y: Any) -> bool:
    if type(x) is not type(y) or len(_parts(x)) != len(_parts(y)):
        return False
    if isinstance(x, Record) and x.cls is not y.cls:
        return False
    return list(x) == list(y) if isinstance(x, dict) else getattr(x, "maxlen", None) == getattr(y, "maxlen", None)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Selection):
        return [value.dense, value.mask]
    if isinstance(value, MaybeBound):
        return [value.value, value.bound]
    if isinstance(value, MaybeNone):
        return [value.value, value.there]
    if isinstance(value, Record):
        return [value.fields]
    return list(value.values()) if isinstance(value, dict) else list(value)


def _with_parts(like: Any, parts: list[Any]) -> Any:
    if isinstance(like, Selection):
        return replace(like, dense=parts[0], mask=parts[1])
    if isinstance(like, (MaybeBound, MaybeNone)):
        return type(like)(*parts)
    if isinstance(like, Record):
        return Record(like.cls, parts[0])
    if isinstance(like, tuple):
        return rebuilt_tuple(like, parts)
    made = like.copy()
    if isinstance(like, list):
        made[:] = parts
        return made
    made.update(zip(like, parts, strict=True))
    return made


def rebuilt_tuple(like: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    """A tuple of other parts, of the same kind: named ones take them one by one."""
    return like._make(parts) if hasattr(like, "_make") else type(like)(parts)
