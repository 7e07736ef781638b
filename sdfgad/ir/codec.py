"""Frozen records as text and back: a program, or what is made of it, for a cache that is read by later processes.

The text is a JSON list in which everything comes after what it is made of and refers to it by position. So reading it
is one loop, however deep an expression is, and what is shared stays shared. Nothing but the records that the reader
knows can come of it, whatever it says: data, no code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sdfgad import errors
from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, Read

# What is made of its parts in another way than records: tag -> how.
MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
    "dtype": lambda parts: np.dtype(parts[0]),
    "complex": lambda parts: complex(*parts),
    "error": lambda parts: _error(parts[0]),
    "lin": lambda parts: Lin(parts[0], tuple(zip(parts[1::2], parts[2::2], strict=True))),
    **{node.__name__: lambda parts, node=node: node(*parts) for node in (Const, Int, Op, Read)},  # type: ignore[misc]
}


class Codec:
    """Writes and reads values made of the given records, expressions, linear forms and plain data.

    Args:
        records: the dataclasses that may occur; their names are distinct. Fields that are found later
            (cached properties) are left out.
    """

    def __init__(self, records: Sequence[type[Any]]) -> None:
        self._records = {record: tuple(field.name for field in fields(record)) for record in records}
        self._makers = MAKERS | {record.__name__: self._maker(record) for record in records}

    def encode(self, value: Any) -> bytes:
        """The text of a value.

        Raises:
            TypeError: something in it is of another type.
        """
        writer = _Writer(self._records)
        writer.put(value)
        return json.dumps(writer.rows, separators=(",", ":")).encode()

    def decode(self, text: bytes) -> Any:
        """The value of a text.

        Raises:
            ValueError, LookupError, TypeError: it is not what `encode` makes.
        """
        made: list[Any] = []
        makers, add = self._makers, made.append
        for row in json.loads(text):
            if type(row) is list:
                add(makers[row[0]]([made[position] for position in row[1:]]))
            else:
                add(row)
        return made[-1]

    def _maker(self, record: type[Any]) -> Callable[[list[Any]], Any]:
        names = self._records[record]
        if "__slots__" in record.__dict__:
            return lambda parts: record(*parts)

        def make(parts: list[Any]) -> Any:
            one = object.__new__(record)  # As it was written, with no need to be checked or completed again.
            one.__dict__.update(zip(names, parts, strict=True))
            return one

        return make


def _error(name: str) -> type[errors.SdfgadError]:
    found = getattr(errors, name)
    if not issubclass(found, errors.SdfgadError):
        raise TypeError(f"{name} is no error of sdfgad")
    return found


class _Writer:
    """Rows, each of them a plain value, or a tag with the positions of what it is made of."""

    def __init__(self, records: Mapping[type[Any], tuple[str, ...]]) -> None:
        self.records = records
        self.rows: list[Any] = []
        self.known: dict[Any, int] = {}
        self.alive: list[Any] = []  # So that no two values have the same id.

    def put(self, value: Any) -> int:
        """The position of a value."""
        key = self._key(value)
        if key not in self.known:
            if isinstance(value, Expr):
                self._put_below(value)
            row = self._row(value)
            self.known[key] = len(self.rows)
            self.rows.append(row)
        return self.known[key]

    def _key(self, value: Any) -> Any:
        """Equal only for what may share a row."""
        if isinstance(value, (str, Expr, Lin, type)) or value is None:
            return value
        if isinstance(value, np.dtype):
            return "dtype", value.str
        if isinstance(value, (bool, int, float, complex)):
            return type(value), repr(value)  # This tells 1 from True, 0.0 from -0.0, and is one for all NaNs.
        self.alive.append(value)
        return id(value), "id"

    def _row(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, Expr):
            return self._tagged(type(value).__name__, (getattr(value, name) for name in value.arguments))
        if isinstance(value, Lin):
            return self._tagged("lin", (value.const, *(part for term in value.terms for part in term)))
        if type(value) in self.records:
            return self._tagged(type(value).__name__, (getattr(value, name) for name in self.records[type(value)]))
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        if type(value) is tuple:
            return self._tagged("tuple", value)
        if isinstance(value, (set, frozenset)):
            return self._tagged("frozenset" if isinstance(value, frozenset) else "set", sorted(value))
        if isinstance(value, Mapping):
            return self._tagged("dict", (part for item in value.items() for part in item))
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, np.dtype):
            return self._tagged("dtype", (value.str,))
        if isinstance(value, complex):
            return self._tagged("complex", (value.real, value.imag))
        if isinstance(value, type) and issubclass(value, errors.SdfgadError):
            return self._tagged("error", (value.__name__,))
        raise TypeError(f"{value!r} of {type(value)} has no text" + (" yet" if is_dataclass(value) else ""))

    def _put_below(self, root: Expr) -> None:
        """All that an expression is made of, so that writing a node goes no deeper than to its children."""
        stack = [child for child in root.children if child not in self.known]
        while stack:
            waiting = [child for child in stack[-1].children if child not in self.known]
            if waiting:
                stack += waiting
            else:
                self.put(stack.pop())

    def _tagged(self, tag: str, parts: Any) -> list[Any]:
        return [tag, *map(self.put, parts)]
