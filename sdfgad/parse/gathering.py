"""Indexing by integer arrays: gathers, and assignments through them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from sdfgad.ir.expr import BOOL, INT, Int, Lin, Op, as_linear
from sdfgad.parse.basic_indexing import expanded, require_range, view, wrapped
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.integers import as_int
from sdfgad.parse.values import Index, Tensor


@dataclass(frozen=True)
class Gather:
    """What integer arrays choose: a view whose axes `axes` are those of the arrays, broadcast together."""

    chosen: Tensor
    axes: tuple[int, ...]


def gathers(entries: tuple[Any, ...]) -> bool:
    """Whether an index has integer arrays in it."""
    return any(isinstance(entry, Tensor) and entry.ndim > 0 for entry in entries)


def gather(b: Builder, x: Tensor, entries: tuple[Any, ...], kept: Tensor | None = None) -> Gather:
    """``x[entries]``: slices and None as usual, all integers and integer arrays together.

    Args:
        kept: booleans shaped like the arrays; where they are false, an index need not be in range.

    Raises:
        InvalidIndex, UnsupportedProgram: an entry is out of range for certain, or no index.
    """
    full = expanded(b, x, entries)
    basic = tuple(slice(None) if _is_advanced(entry) else entry for entry in full)
    seen = view(b, x, basic)
    places = [position for position, entry in enumerate(full) if _is_advanced(entry)]
    arrays = [_fixed(b, full[position]) for position in places]
    for position, array in zip(places, arrays, strict=True):
        _require_range(b, array, seen.shape[position], kept)
    shape = broadcast_shapes(b, *(array.shape for array in arrays))
    wide = [broadcast_to(b, array, shape) for array in arrays]
    # NumPy puts the arrays' axes where the arrays are, or first if something stands between them.
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    rest = [position for position in range(len(full)) if position not in places]
    before, after = rest[: first if first else 0], rest[first if first else 0 :]
    if first == 0 and places[0] == 0:
        before, after = [], rest
    result = (*(seen.shape[k] for k in before), *shape, *(seen.shape[k] for k in after))

    def old_index(p: Index) -> Index:
        inner = p[len(before) : len(before) + len(shape)]
        outer = iter((*p[: len(before)], *p[len(before) + len(shape) :]))
        chosen = {k: wrapped(as_linear(a.element(inner)), seen.shape[k]) for k, a in zip(places, wide, strict=True)}
        return tuple(chosen[k] if k in chosen else next(outer) for k in range(len(full)))

    axes = tuple(range(len(before), len(before) + len(shape)))
    return Gather(seen.reindexed(result, old_index), axes)


def scatter(b: Builder, target: Gather, value: Tensor, kept: Tensor | None = None) -> None:
    """Assign one element after the other: an index may occur twice, and then the last value stays."""
    x = target.chosen
    fixed = b.stored(broadcast_to(b, value, x.shape))
    counters = [b.fresh("k") for _ in target.axes]
    trips = [x.shape[axis] for axis in target.axes]
    index = tuple(map(Lin.symbol, counters))
    bodies: list[Any] = []
    with ExitStack() as stack:
        for counter, extent in zip(index, trips, strict=True):
            bodies.append(stack.enter_context(b.block(counter, extent - 1 - counter)))
        if kept is not None:
            bodies.append(stack.enter_context(b.block()))
        b.assign(_row(x, target.axes, index), _row(fixed, target.axes, index))
    if kept is not None:
        chosen = bodies.pop()
        _emit(b, bodies, lambda: b.branch(kept.element(index), chosen, [], ()))
    for position in reversed(range(len(counters))):
        counter, extent, body = index[position], trips[position], bodies[position]
        guards = (counter, extent - 1 - counter)
        _emit(b, bodies[:position], lambda c=counters[position], e=extent, g=guards, t=body: b.loop(c, e, g, t))  # type: ignore[misc]


def _emit(b: Builder, bodies: list[Any], emit: Callable[[], None]) -> None:
    """Emit a statement at the end of the innermost body, or here."""
    if not bodies:
        emit()
        return
    b.blocks.append(bodies[-1])
    emit()
    b.blocks.pop()


def _row(x: Tensor, axes: tuple[int, ...], index: Index) -> Tensor:
    """The part of `x` at one point of the axes `axes`."""
    left = tuple(extent for axis, extent in enumerate(x.shape) if axis not in axes)

    def old_index(p: Index) -> Index:
        rest, fixed = iter(p), iter(index)
        return tuple(next(fixed) if axis in axes else next(rest) for axis in range(x.ndim))

    return x.reindexed(left, old_index)


def _is_advanced(entry: Any) -> bool:
    return entry is not None and not isinstance(entry, slice)


def _fixed(b: Builder, entry: Any) -> Tensor:
    """An index as it is now: its array may change later, and the result refers to its present values."""
    if not isinstance(entry, Tensor):
        position = Int(Lin.of(entry))
        return Tensor((), INT, lambda _: position)
    if entry.dtype.kind not in "iu":
        raise b.unsupported(f"indexing by an array of {entry.dtype}", "Use integers, slices, None, or integer arrays.")
    if entry.ndim == 0:
        value = Int(Lin.of(as_int(b, entry)))
        return Tensor((), INT, lambda _: value)
    return entry if entry.settled else b.materialise(entry)


def _require_range(b: Builder, array: Tensor, extent: Lin, kept: Tensor | None) -> None:
    symbols = tuple(b.fresh("p") for _ in array.shape)
    index = tuple(map(Lin.symbol, symbols))
    unless = None if kept is None else Op("logical_not", (kept.element(index),), BOOL)
    box = tuple(zip(symbols, array.shape, strict=True))
    require_range(b, as_linear(array.element(index)), extent, box, unless)
