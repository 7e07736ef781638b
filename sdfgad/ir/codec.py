"""Serialisation of records (dataclasses) to JSON and back, for caches that later processes read.

The text is a JSON list in topological order: each row refers to its parts by position. So decoding is a single loop,
however deep an expression is, and shared nodes stay shared. Decoding constructs only registered records and plain data,
so that a manipulated text cannot run code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sdfgad import errors
from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, Read

# Tag -> the constructor of a type that is no record, from its decoded parts.
CONSTRUCTORS: dict[str, Callable[[list[Any]], Any]] = {
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
    """Encoder and decoder of values composed of the given records, expressions, affine forms and plain data.

    Args:
        records: the dataclasses that may occur, with distinct names. Their fields are encoded, cached properties are
            not.
    """

    def __init__(self, records: Sequence[type[Any]]) -> None:
        self._records = {record: tuple(field.name for field in fields(record)) for record in records}
        self._constructors = CONSTRUCTORS | {record.__name__: self._constructor(record) for record in records}

    def encode(self, value: Any) -> bytes:
        """The JSON text of a value.

        Raises:
            TypeError: a part of the value has a type that is not supported.
        """
        writer = _Writer(self._records)
        writer.put(value)
        return json.dumps(writer.rows, separators=(",", ":")).encode()

    def decode(self, text: bytes) -> Any:
        """The value that a JSON text encodes.

        Raises:
            ValueError, LookupError, TypeError: the text is not one that `encode` writes.
        """
        values: list[Any] = []
        constructors, add = self._constructors, values.append
        for row in json.loads(text):
            if type(row) is list:
                add(constructors[row[0]]([values[position] for position in row[1:]]))
            else:
                add(row)
        return values[-1]

    def _constructor(self, record: type[Any]) -> Callable[[list[Any]], Any]:
        names = self._records[record]
        if "__slots__" in record.__dict__:
            return lambda parts: record(*parts)

        def construct(parts: list[Any]) -> Any:
            one = object.__new__(record)  # Without __init__: the fields were valid when written.
            one.__dict__.update(zip(names, parts, strict=True))
            return one

        return construct


def _error(name: str) -> type[errors.SdfgadError]:
    found = getattr(errors, name)
    if not issubclass(found, errors.SdfgadError):
        raise TypeError(f"{name} is no error of sdfgad")
    return found


class _Writer:
    """The rows of the text: each a plain value, or a tag followed by the positions of its parts."""

    def __init__(self, records: Mapping[type[Any], tuple[str, ...]]) -> None:
        self.records = records
        self.rows: list[Any] = []
        self.known: dict[Any, int] = {}
        self.alive: list[Any] = []  # Keeps values alive: `known` uses ids, which Python reuses.

    def put(self, value: Any) -> int:
        """The position of a value's row, which is appended if there is none."""
        key = self._key(value)
        if key not in self.known:
            if isinstance(value, Expr):
                self._put_below(value)
            row = self._row(value)
            self.known[key] = len(self.rows)
            self.rows.append(row)
        return self.known[key]

    def _key(self, value: Any) -> Any:
        """A dictionary key: equal only for values that may share a row."""
        if isinstance(value, (str, Expr, Lin, type)) or value is None:
            return value
        if isinstance(value, np.dtype):
            return "dtype", value.str
        if isinstance(value, (bool, int, float, complex)):
            return type(value), repr(value)  # Distinguishes 1 from True and 0.0 from -0.0; all NaNs are equal.
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
        """Append all subexpressions bottom-up, without recursion: expressions may be deeper than Python's stack."""
        stack = [child for child in root.children if child not in self.known]
        while stack:
            waiting = [child for child in stack[-1].children if child not in self.known]
            if waiting:
                stack += waiting
            else:
                self.put(stack.pop())

    def _tagged(self, tag: str, parts: Any) -> list[Any]:
        return [tag, *map(self.put, parts)]
