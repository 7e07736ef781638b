"""Gather and scatter: indexing by integer arrays, and assignments to such elements."""

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
    """The elements that integer arrays select, as a view (`chosen`); its axes `axes` are the arrays' broadcast axes."""

    chosen: Tensor
    axes: tuple[int, ...]


def gathers(entries: tuple[Any, ...]) -> bool:
    """Whether an index has integer arrays in it."""
    return any(isinstance(entry, Tensor) and entry.ndim > 0 for entry in entries)


def gather(b: Builder, x: Tensor, entries: tuple[Any, ...], mask: Tensor | None = None) -> Gather:
    """``x[entries]``: slices and None as usual, all integers and integer arrays together.

    Args:
        mask: booleans of the arrays' shape; an index need not be in range where they are false.

    Raises:
        InvalidIndex, UnsupportedProgram: an entry is out of range for certain, or no index.
    """
    full = expanded(b, x, entries)
    basic = tuple(slice(None) if _is_advanced(entry) else entry for entry in full)
    viewed = view(b, x, basic)
    advanced = [position for position, entry in enumerate(full) if _is_advanced(entry)]
    arrays = [_materialised(b, full[position]) for position in advanced]
    for position, array in zip(advanced, arrays, strict=True):
        _require_range(b, array, viewed.shape[position], mask)
    shape = broadcast_shapes(b, *(array.shape for array in arrays))
    wide = [broadcast_to(b, array, shape) for array in arrays]
    # NumPy puts the arrays' axes where the arrays are, or first if something stands between them.
    first = advanced[0] if advanced == list(range(advanced[0], advanced[-1] + 1)) else 0
    rest = [position for position in range(len(full)) if position not in advanced]
    before, after = rest[: first if first else 0], rest[first if first else 0 :]
    if first == 0 and advanced[0] == 0:
        before, after = [], rest
    result = (*(viewed.shape[k] for k in before), *shape, *(viewed.shape[k] for k in after))

    def old_index(p: Index) -> Index:
        inner = p[len(before) : len(before) + len(shape)]
        outer = iter((*p[: len(before)], *p[len(before) + len(shape) :]))
        chosen = {k: wrapped(as_linear(a.element(inner)), viewed.shape[k]) for k, a in zip(advanced, wide, strict=True)}
        return tuple(chosen[k] if k in chosen else next(outer) for k in range(len(full)))

    axes = tuple(range(len(before), len(before) + len(shape)))
    return Gather(viewed.reindexed(result, old_index), axes)


def scatter(b: Builder, target: Gather, value: Tensor, mask: Tensor | None = None) -> None:
    """Assign `value` to the elements in order, as an index may occur twice; only where `mask` is true, if given."""
    x = target.chosen
    values = b.stored(broadcast_to(b, value, x.shape))
    counters = [b.fresh("k") for _ in target.axes]
    trips = [x.shape[axis] for axis in target.axes]
    index = tuple(map(Lin.symbol, counters))
    bodies: list[Any] = []
    with ExitStack() as stack:
        for counter, extent in zip(index, trips, strict=True):
            bodies.append(stack.enter_context(b.block(counter, extent - 1 - counter)))
        if mask is not None:
            bodies.append(stack.enter_context(b.block()))
        b.assign(_row(x, target.axes, index), _row(values, target.axes, index))
    if mask is not None:
        chosen = bodies.pop()
        _emit(b, bodies, lambda: b.branch(mask.element(index), chosen, [], ()))
    for position in reversed(range(len(counters))):
        counter, extent, body = index[position], trips[position], bodies[position]
        guards = (counter, extent - 1 - counter)
        _emit(b, bodies[:position], lambda c=counters[position], e=extent, g=guards, t=body: b.loop(c, e, g, t))  # type: ignore[misc]


def _emit(b: Builder, bodies: list[Any], emit: Callable[[], None]) -> None:
    """Emit a statement at the end of the innermost of `bodies`, or of the current block if there are none."""
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


def _materialised(b: Builder, entry: Any) -> Tensor:
    """Materialise an index, as its array may be written before the gathered elements are used."""
    if not isinstance(entry, Tensor):
        position = Int(Lin.of(entry))
        return Tensor((), INT, lambda _: position)
    if entry.dtype.kind not in "iu":
        raise b.unsupported(f"indexing by an array of {entry.dtype}", "Use integers, slices, None, or integer arrays.")
    if entry.ndim == 0:
        value = Int(Lin.of(as_int(b, entry)))
        return Tensor((), INT, lambda _: value)
    return entry if entry.settled else b.materialise(entry)


def _require_range(b: Builder, array: Tensor, extent: Lin, mask: Tensor | None) -> None:
    symbols = tuple(b.fresh("p") for _ in array.shape)
    index = tuple(map(Lin.symbol, symbols))
    unless = None if mask is None else Op("logical_not", (mask.element(index),), BOOL)
    box = tuple(zip(symbols, array.shape, strict=True))
    require_range(b, as_linear(array.element(index)), extent, box, unless)
