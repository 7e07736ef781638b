"""Subscripts: reads and assignments by slices, integers, integer arrays and boolean masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, Lin
from sdfgad.parse import gathering, selecting
from sdfgad.parse.assigned_numbers import require_fits
from sdfgad.parse.basic_indexing import resolve, view
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import where
from sdfgad.parse.gathering import gather, gathers, scatter
from sdfgad.parse.masks import is_same_mask
from sdfgad.parse.mixed_dtypes import require_holds
from sdfgad.parse.stacking import stacked
from sdfgad.parse.truth_values import require_known
from sdfgad.parse.updating import updatable
from sdfgad.parse.values import Selection, Tensor, as_tensor

NOT_ASSIGNABLE = (
    "what is assigned to is a computed value, or an array from outside the function",
    "Give it a name first, y = x.copy(), and assign to y[...]; or pass it as an argument.",
)


def getitem(b: Builder, x: Any, index: Any) -> Any:
    """``x[index]``: a view for slices, None and Ellipsis, a scalar for integers, a copy for integer arrays and masks.

    Raises:
        InvalidIndex: an index is out of range for certain.
    """
    entries = _entries(b, index)
    if isinstance(x, Selection) and len(entries) == 1 and isinstance(entries[0], Selection):
        return selecting.narrowed(b, x, entries[0])
    x = as_tensor(x)
    if len(entries) == 1 and is_mask(entries[0]):
        return selecting.selection(b, x, entries[0])
    if _selections(entries):
        entries, mask = selecting.aligned(b, entries)
        return selecting.of_fixed_size(b, selecting.chosen(b, gather(b, x, entries, mask).chosen, mask))
    entries = _without_masks(b, entries)
    if gathers(entries):
        return gathering.read(b, x, entries)
    chosen = view(b, x, entries)
    is_scalar = not chosen.ndim and Ellipsis not in [e for e in entries if not isinstance(e, Tensor)]
    # A scalar is a value of its own, and so not stale where the array that it is of is.
    return chosen.as_value(settled=chosen.settled and chosen.copy is None) if is_scalar else chosen


def setitem(b: Builder, x: Any, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    entries = _entries(b, index)
    if isinstance(value, (list, tuple, range)):
        value = stacked(b, value)
    if isinstance(x, Selection):
        selecting.assign(b, x, entries, value)
        return
    x = updatable(b, x, *NOT_ASSIGNABLE)
    written = as_tensor(value.dense if isinstance(value, Selection) else value)
    require_holds(b, x, written)
    require_fits(b, x, written)
    if len(entries) == 1 and is_mask(entries[0]):
        _assign_masked(b, x, entries[0], value)
    elif _selections(entries):
        entries, mask = selecting.aligned(b, entries)
        dense = selecting.dense_of(b, value, mask)
        scatter(b, gather(b, x, entries, mask), dense, mask)
    else:
        entries = _without_masks(b, entries)
        if gathers(entries):
            gathering.write(b, x, entries, as_tensor(value))
        else:
            b.assign(view(b, x, entries), value)


def _assign_masked(b: Builder, x: Tensor, mask: Tensor, value: Any) -> None:
    if isinstance(value, Selection):
        target = selecting.fitting(b, x, mask)
        if is_same_mask(target, value.mask) and value.dense.ndim == x.ndim:
            b.assign(x, where(b, selecting.spread(target, x), value.dense, x))
            return
    chosen = as_tensor(value)
    if all(extent == Lin(1) for extent in chosen.shape[: max(1, chosen.ndim - (x.ndim - mask.ndim))]):
        # One value, or one row, for all selected elements.
        row = chosen.reindexed(chosen.shape[1:], lambda p: (Lin(0), *p)) if chosen.ndim > x.ndim - mask.ndim else chosen
        b.assign(x, where(b, selecting.spread(mask, x), row, x))
        return
    scatter(b, gather(b, x, tuple(selecting.positions(b, mask))), chosen)


def require_same_kind(b: Builder, result: Any, target: Any) -> None:
    """Refuse an in-place update whose result NumPy cannot cast to the target's dtype by casting='same_kind'."""
    dtype = result.dtype if isinstance(result, Selection) else as_tensor(result).dtype
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise b.unsupported(
            f"an update in place cannot turn {dtype} into {target.dtype}; NumPy raises here, too",
            f"Write `x = x + y` instead of `x += y`, or convert: y.astype(np.{target.dtype}).",
        )


def is_mask(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype == BOOL and index.ndim > 0


def _entries(b: Builder, index: Any) -> tuple[Any, ...]:
    """The entries of an index; lists and tuples of numbers are arrays."""
    entries = index if isinstance(index, tuple) else (index,)
    return tuple(_as_array(b, entry) for entry in entries)


def _as_array(b: Builder, entry: Any) -> Any:
    if isinstance(entry, range):
        return b.constant_array(np.array(entry))
    if isinstance(entry, (list, tuple)):
        return b.stored(stacked(b, entry), weak=False) if entry else b.constant_array(np.empty(0, np.int64))
    require_known(b, [entry], "a boolean and a number select otherwise")
    if isinstance(entry, (bool, np.bool_)):
        raise b.unsupported(
            f"indexing by {entry} is not supported",
            "Use integers, slices, None, or an array; write x[None] or x[:0] instead.",
        )
    return entry


def _selections(entries: tuple[Any, ...]) -> bool:
    return any(isinstance(entry, Selection) for entry in entries)


def _without_masks(b: Builder, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries with each mask replaced by the index arrays of its true elements."""
    result: list[Any] = []
    for entry in entries:
        result.extend(selecting.positions(b, entry) if is_mask(entry) else [entry])
    return tuple(result)


__all__ = ["getitem", "is_mask", "require_same_kind", "resolve", "setitem"]
