"""Nodes of pytrees: what tuples, lists, dicts, objects and selections consist of, and such with other parts."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from sdfgad.parse.values import ChosenObject, ChosenText, MaybeBound, MaybeNone, Record, Selection


def is_inner(value: Any) -> bool:
    if isinstance(value, Enum):
        # Of a tuple, too: a member has no copies with other parts.
        return False
    return isinstance(value, (tuple, list, dict, Record, Selection, MaybeBound, MaybeNone, ChosenText, ChosenObject))


def is_same_kind(x: Any, y: Any) -> bool:
    if type(x) is not type(y) or len(parts_of(x)) != len(parts_of(y)):
        return False
    if isinstance(x, Record) and x.cls is not y.cls:
        return False
    return list(x) == list(y) if isinstance(x, dict) else getattr(x, "maxlen", None) == getattr(y, "maxlen", None)


def parts_of(value: Any) -> list[Any]:
    if isinstance(value, Selection):
        return [value.dense, value.mask]
    if isinstance(value, MaybeBound):
        return [value.value, value.bound]
    if isinstance(value, MaybeNone):
        return [value.value, value.there]
    if isinstance(value, ChosenText):
        return [value.code]
    if isinstance(value, ChosenObject):
        return [value.place]
    if isinstance(value, Record):
        return [value.fields]
    return list(value.values()) if isinstance(value, dict) else list(value)


def with_parts(like: Any, parts: list[Any]) -> Any:
    if isinstance(like, Selection):
        return replace(like, dense=parts[0], mask=parts[1])
    if isinstance(like, (MaybeBound, MaybeNone, ChosenText)):
        return type(like)(*parts)
    if isinstance(like, ChosenObject):
        return replace(like, place=parts[0])
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
