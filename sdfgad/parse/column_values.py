"""What the rows of a column hold: numbers and arrays as they are, truth values with what they may be in Python, and
strings by their numbers (`chosen_texts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Lin
from sdfgad.parse import chosen_texts, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.dtypes import has_singles
from sdfgad.parse.magnitudes import MOST
from sdfgad.parse.object_columns import Kind
from sdfgad.parse.rows import segments
from sdfgad.parse.values import ChosenText, NotNumeric, Tensor, as_tensor, is_member


def kind_of(b: Builder, old: Sequence[Any], new: Any) -> Kind | None:
    """The kind of a column of what an attribute is in several objects, and of what is assigned to it; None if there is
    none."""
    if any(map(_is_pythons, (*old, new))):
        return None
    if b.objects.may_number_texts and chosen_texts.are_texts([*old, new]):
        return Kind(chosen_texts.code_of(b, new), is_text=True)
    try:
        found = as_tensor(new)
        numbers = [as_tensor(value) for value in old]
    except NotNumeric:
        return None
    kind = Kind(reduce(_wider, numbers, found))
    return kind if kind.like.dtype.kind in "fcbi" and all(extent.is_const for extent in kind.like.shape) else None


def _wider(found: Tensor, other: Tensor) -> Tensor:
    """The one of two numbers whose dtype holds both, as ``p.t = 0`` is 0.0 where others have a fractional part."""
    if found.ndim or other.ndim or found.shape != other.shape:
        return found
    types = truth_values.joined([found, other])
    if found.dtype == other.dtype:
        return replace(found, types=types)
    is_whole = found.weak and found.dtype.kind == "i"
    if is_whole and other.dtype.kind == "f":
        return replace(other, types=types)
    return replace(found, types=types) if found.dtype.kind == "f" and other.weak and other.dtype.kind == "i" else found


def as_row(b: Builder, kind: Kind, value: Any) -> Tensor | None:
    """A value as a row beside others; None where it is of another kind, or may have other names by which it is updated
    in place."""
    if kind.is_text:
        return chosen_texts.code_of(b, value) if value is None or chosen_texts.are_texts([value]) else None
    if _is_pythons(value):
        return None
    try:
        item = as_tensor(value)
    except NotNumeric:
        return None
    like = kind.like
    if item.shape != like.shape or not (item.dtype == like.dtype or _becomes_float(value, item, like)):
        return None
    if not item.ndim and not truth_values.types_of(item) <= truth_values.types_of(like):
        return None
    if (item.types & truth_values.BOOLEANS and item.dtype != BOOL) or (
        item.weak != like.weak and has_singles(b.buffers.values())
    ):
        return None
    return None if item.is_shared and b.rolling is Rolling.VALUES else item


def _is_pythons(value: Any) -> bool:
    """Whether it is an integer of more than 64 bits, of which compiled code would make a float, or one of an
    enumeration."""
    return is_member(value) or (type(value) is int and abs(value) > MOST)


def _becomes_float(value: Any, item: Tensor, like: Tensor) -> bool:
    """Whether it is a known number, or an integer of Python's, among floats that hold it."""
    if isinstance(value, bool) or like.dtype.kind != "f":
        return False
    return isinstance(value, (int, float)) or (item.weak and item.dtype == INT and like.dtype == np.float64)


def new_array(b: Builder, name: str, kind: Kind, count: int, rows: Sequence[Tensor]) -> Tensor:
    """An array for a column: its rows are to be set to `rows`, if there are some."""
    like = kind.like
    weak = like.weak and all(row.weak for row in rows)
    return replace(b.new_view(name, (Lin(count), *like.shape), like.dtype, weak), types=like.types)


def together(b: Builder, rows: Sequence[Tensor]) -> Sequence[Tensor]:
    """Rows as a few arrays: numbers that are known are one constant."""
    elements = [row.at() for row in rows if not row.ndim]
    numbers = [one.value for one in elements if isinstance(one, Const)]
    if len(numbers) == len(rows) > 1 and any(one != numbers[0] for one in numbers):
        return [replace(b.constant_array(np.array(numbers, rows[0].dtype)), weak=rows[0].weak)]
    return segments(b, rows)


def value_of(row: Tensor, kind: Kind) -> Any:
    """What a row stands for in Python."""
    return ChosenText(row) if kind.is_text else row
