"""Objects as keys of dicts and elements of sets: themselves, or the first one that is equal, of frozen dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from sdfgad.parse import attributes
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Record

INSTEAD = "Use what tells the objects apart as the key: table[one.name]."


def key_of(b: Builder, record: Record, part: Callable[[Builder, Any], Any]) -> Record:
    """An object as a key.

    Args:
        part: what gives a field of a dataclass as a part of the key.

    Raises:
        UnsupportedProgram: data chooses the object, or its class has a ``__hash__`` of the user's.
    """
    if b.contents.is_copy(record.fields):
        what = f"a key of a dict, or an element of a set, is an object of {record.cls.__name__} that data chooses"
        raise b.unsupported(what, INSTEAD)
    if vars(object)["__hash__"] is inspect.getattr_static(record.cls, "__hash__"):
        return record
    if not is_by_value(record.cls):
        what = f"a key of a dict, or an element of a set, is an object of {record.cls.__name__}, which has a __hash__"
        raise b.unsupported(what, INSTEAD)
    return b.keys.setdefault((record.cls, *(part(b, one) for one in _compared(b, record))), record)


def is_by_value(cls: type) -> bool:
    """Whether Python hashes objects of a class by their fields: those of frozen dataclasses."""
    parameters = getattr(cls, "__dataclass_params__", None)
    is_hashed = getattr(cls.__hash__, "__code__", None) is not None and cls.__hash__.__code__.co_filename == "<string>"
    return parameters is not None and parameters.frozen and parameters.eq and is_hashed


def _compared(b: Builder, record: Record) -> list[Any]:
    names = [one.name for one in dataclasses.fields(record.cls) if (one.compare if one.hash is None else one.hash)]
    rows = {name: attributes.read(b, record, name) for name in names}
    return [attributes.other(record, name) if row is None else row for name, row in rows.items()]
