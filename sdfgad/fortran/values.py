"""Values of expressions: the NumPy text that computes one, with its kind, its rank, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdfgad.fortran.kinds import DOUBLE, INTEGER, LOGICAL, Kind
from sdfgad.fortran.written import evaluated


@dataclass(frozen=True)
class Value:
    """A typed expression.

    Attributes:
        text: NumPy text, in parentheses where an operator could tear it apart.
        kind: its type and kind.
        rank: its number of axes, which the text has in reverse order.
        number: what it is, if that is known without running: of the kind's own precision.
        low: an integer below which it never is, if one is known.
        base, offset: of an integer ``base + offset``, its parts.
        is_place: whether it names storage, an array or a part of one.
        variable: what it is all of; `root`: what it is all or a part of.
        dims: of a whole array its axes, which may have lower bounds.
    """

    text: str
    kind: Kind
    rank: int = 0
    number: Any = None
    low: int | None = None
    base: str = ""
    offset: int = 0
    is_place: bool = False
    variable: Any = None
    root: Any = None
    dims: tuple[Any, ...] = ()

    def shifted(self, by: int) -> Value:
        """An integer with another one added."""
        if self.number is not None:
            return constant(self.number + by, INTEGER)
        base, offset = self.base or self.text, self.offset + by
        text = f"({base} {'+' if offset > 0 else '-'} {abs(offset)})" if offset else base
        low = None if self.low is None else self.low + by
        return Value(text, INTEGER, low=low, base=base, offset=offset)


def constant(number: Any, kind: Kind) -> Value:
    """A number in the precision of its kind; its text is exact, and adopts the precision of what it meets."""
    if kind.base == "integer":
        held = int(number)
        return Value(f"({held})" if held < 0 else str(held), kind, number=held, low=held)
    if kind.base == "logical":
        return Value(str(bool(number)), kind, number=bool(number))
    with np.errstate(all="ignore"):
        held = kind.dtype.type(number)
    plain = held.item()
    text = repr(plain) if np.isfinite(held) else f"float('{plain!r}')"
    return Value(f"({text})" if text.startswith("-") else text, kind, number=held)


def as_kind(value: Value, kind: Kind) -> Value:
    """A value converted as an assignment converts it: numbers toward zero where they become integers."""
    if value.number is not None:
        return constant(int(value.number.real) if kind.base == "integer" else value.number, kind)
    if value.kind == kind or (value.kind.base == kind.base and not kind.is_floating):
        return value
    if value.rank:
        text = f"{value.text}.astype({kind.numpy})"
    elif kind.base == "integer":
        text = f"int({plain(value)})"
    elif kind == DOUBLE and value.kind == INTEGER:
        text = f"float({plain(value)})"
    else:
        text = f"{kind.numpy}({plain(value)})"
    return Value(text, kind, value.rank)


def strong(value: Value) -> Value:
    """A value whose text has the precision of its kind, wherever it stands."""
    if value.number is None or value.kind.base not in ("real", "complex") or value.kind == DOUBLE:
        return value
    return replace(value, text=f"{value.kind.numpy}({value.text})")


def plain(value: Value) -> str:
    """The text without parentheses around it all."""
    text = value.text
    return text[1:-1] if text.startswith("(") and _closes_last(text) else text


def _closes_last(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False


def truth(text: str, rank: int) -> Value:
    return Value(text, LOGICAL, rank)


def folded(text: str, value: Value) -> Value:
    """The number that a text of numbers and functions of NumPy alone computes, in the kind of a value."""
    return constant(evaluated(text), value.kind)
