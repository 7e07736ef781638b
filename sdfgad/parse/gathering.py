"""Gather and scatter: indexing by integer arrays, and assignments to such elements."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Int, Lin, Op, as_linear
from sdfgad.parse.basic_indexing import expanded, require_range, resolve, view, wrapped
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.integers import as_int
from sdfgad.parse.patterns import Array, Piece, pieces
from sdfgad.parse.values import Index, Tensor


@dataclass(frozen=True)
class Gather:
    """The elements that integer arrays select, as a view (`chosen`); its axes `axes` are the arrays' broadcast axes."""

    chosen: Tensor
    axes: tuple[int, ...]


@dataclass(frozen=True)
class _Source:
    """An array that integer arrays index, with all slices done.

    Attributes:
        viewed: the array.
        advanced: its axes that are indexed by arrays.
        entries: the index of each of these, an integer or an integer array.
        before, after: the other axes, before and behind those of the index arrays in the result.
    """

    viewed: Tensor
    advanced: tuple[int, ...]
    entries: tuple[Any, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    @staticmethod
    def of(b: Builder, x: Tensor, entries: tuple[Any, ...]) -> _Source:
        full = expanded(b, x, entries)
        viewed = view(b, x, tuple(slice(None) if _is_advanced(entry) else entry for entry in full))
        advanced = tuple(position for position, entry in enumerate(full) if _is_advanced(entry))
        rest = tuple(position for position in range(len(full)) if position not in advanced)
        # NumPy puts the arrays' axes where the arrays are, or first if something stands between them.
        is_one = advanced == tuple(range(advanced[0], advanced[-1] + 1))
        first = advanced[0] if is_one else 0
        return _Source(viewed, advanced, tuple(full[axis] for axis in advanced), rest[:first], rest[first:])

    @property
    def extents(self) -> list[Lin]:
        return [self.viewed.shape[axis] for axis in self.advanced]

    def chosen(self, shape: Index, position: Callable[[int, Index], Lin]) -> Gather:
        """The elements at ``position(k, p)`` along axis ``advanced[k]``, for each p in a box of the index arrays."""
        skipped, end = len(self.before), len(self.before) + len(shape)
        extents = self.viewed.shape
        result = (*(extents[k] for k in self.before), *shape, *(extents[k] for k in self.after))

        def old_index(p: Index) -> Index:
            plain = dict(zip((*self.before, *self.after), (*p[:skipped], *p[end:]), strict=True))
            found = plain | {axis: position(k, p[skipped:end]) for k, axis in enumerate(self.advanced)}
            return tuple(found[axis] for axis in range(self.viewed.ndim))

        return Gather(self.viewed.reindexed(result, old_index), tuple(range(skipped, end)))


def gathers(entries: tuple[Any, ...]) -> bool:
    """Whether an index has integer arrays in it."""
    return any(isinstance(entry, Tensor) and entry.ndim > 0 for entry in entries)


def read(b: Builder, x: Tensor, entries: tuple[Any, ...]) -> Tensor:
    """``x[entries]`` as a value, put together of pieces where closed forms of the index arrays are known."""
    source = _Source.of(b, x, entries)
    known = _Known.of(b, source)
    if known is None:
        return _gathered(b, source, None).chosen.as_value(settled=False)
    parts = [known.part(b, source, piece) for piece in known.pieces]
    if len(parts) == 1:
        return parts[0].chosen.as_value(settled=False)
    result = b.new_view("", known.whole(source), x.dtype, x.weak)
    for piece, part in zip(known.pieces, parts, strict=True):
        b.assign(_box(result, part.axes, piece), part.chosen)
    return b.ordered(result, None)


def write(b: Builder, x: Tensor, entries: tuple[Any, ...], value: Tensor) -> None:
    """``x[entries] = value``: in order, unless it is known that no element is selected twice."""
    source = _Source.of(b, x, entries)
    known = _Known.of(b, source)
    if known is None or not known.is_injective:
        scatter(b, _gathered(b, source, None), value)
        return
    values = b.stored(broadcast_to(b, value, known.whole(source)))
    for piece in known.pieces:
        part = known.part(b, source, piece)
        b.assign(part.chosen, _box(values, part.axes, piece))


def _box(x: Tensor, axes: tuple[int, ...], piece: Piece) -> Tensor:
    """The part of `x` in a box of its axes `axes`."""
    starts, sizes = dict(zip(axes, piece.starts, strict=True)), dict(zip(axes, piece.sizes, strict=True))
    shape = tuple(Lin(sizes[axis]) if axis in sizes else extent for axis, extent in enumerate(x.shape))
    return x.reindexed(shape, lambda p: tuple(i + starts.get(axis, 0) for axis, i in enumerate(p)))


@dataclass(frozen=True)
class _Known:
    """Index arrays with closed forms in some boxes.

    Attributes:
        shape: that to which all index arrays broadcast.
        pieces: the boxes, and the forms.
        numbers: the position of each array among these forms, or None where its elements are not known.
        positions: the arrays with elements that are not known, in range; None for the others.
        is_injective: whether they certainly select no element twice.
    """

    shape: tuple[int, ...]
    pieces: list[Piece]
    numbers: tuple[int | None, ...]
    positions: tuple[Tensor | None, ...]
    is_injective: bool

    @staticmethod
    def of(b: Builder, source: _Source) -> _Known | None:
        arrays = [_known(b, entry, extent) for entry, extent in zip(source.entries, source.extents, strict=True)]
        shape = broadcast_shapes(b, *(_shape(entry) for entry in source.entries))
        if all(array is None for array in arrays) or not all(extent.is_const for extent in shape):
            return None
        sizes = tuple(extent.const for extent in shape)
        wide = [
            np.broadcast_to(np.where(array < 0, array + extent.const, array), sizes)
            for array, extent in zip(arrays, source.extents, strict=True)
            if array is not None
        ]
        found = pieces(wide)
        if found is None:
            return None
        count = iter(range(len(wide)))
        numbers = tuple(None if array is None else next(count) for array in arrays)
        rows = np.stack([array.ravel() for array in wide], axis=1)
        is_injective = len(np.unique(rows, axis=0)) == len(rows)
        positions = (
            None if array is not None else broadcast_to(b, _positions(b, entry, extent, None), shape)
            for array, entry, extent in zip(arrays, source.entries, source.extents, strict=True)
        )
        return _Known(sizes, found, numbers, tuple(positions), is_injective)

    def part(self, b: Builder, source: _Source, piece: Piece) -> Gather:
        """What is selected in one box."""

        def position(k: int, p: Index) -> Lin:
            number, array = self.numbers[k], self.positions[k]
            if number is not None:
                return piece.element(number, p)
            assert array is not None
            return as_linear(array.element(tuple(i + start for i, start in zip(p, piece.starts, strict=True))))

        return source.chosen(tuple(map(Lin, piece.sizes)), position)

    def whole(self, source: _Source) -> Index:
        """The shape of all that is selected."""
        return source.chosen(tuple(map(Lin, self.shape)), lambda k, p: Lin(0)).chosen.shape


def _shape(entry: Any) -> Index:
    return entry.shape if isinstance(entry, Tensor) else ()


def _known(b: Builder, entry: Any, extent: Lin) -> Array | None:
    """The elements of an index array, if they are known and in range for an axis."""
    if not isinstance(entry, Tensor) or not extent.is_const or not entry.ndim:
        return None
    array = b.constants.array(entry, b.here, is_needed=False)
    if array is None or not array.size or array.min() < -extent.const or array.max() >= extent.const:
        return None
    return array


def gather(b: Builder, x: Tensor, entries: tuple[Any, ...], mask: Tensor | None = None) -> Gather:
    """``x[entries]``: slices and None as usual, all integers and integer arrays together.

    Args:
        mask: booleans of the arrays' shape; an index need not be in range where they are false.

    Raises:
        InvalidIndex, UnsupportedProgram: an entry is out of range for certain, or no index.
    """
    return _gathered(b, _Source.of(b, x, entries), mask)


def _gathered(b: Builder, source: _Source, mask: Tensor | None) -> Gather:
    arrays = [_positions(b, entry, extent, mask) for entry, extent in zip(source.entries, source.extents, strict=True)]
    shape = broadcast_shapes(b, *(array.shape for array in arrays))
    wide = [broadcast_to(b, array, shape) for array in arrays]
    return source.chosen(shape, lambda k, p: as_linear(wide[k].element(p)))


def _positions(b: Builder, entry: Any, extent: Lin, mask: Tensor | None) -> Tensor:
    """The non-negative positions of an index on an axis, with a run-time check where needed."""
    if mask is None and not _shape(entry):
        position = Int(resolve(b, Lin.of(as_int(b, entry)), extent))
        return Tensor((), INT, lambda _: position)
    array = _materialised(b, entry)
    known = _known(b, entry, extent)
    if known is not None and known.min() >= 0:
        return array
    _require_range(b, array, extent, mask)
    return Tensor(array.shape, INT, lambda p: Int(wrapped(as_linear(array.element(p)), extent)))


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
        raise b.unsupported(
            f"indexing by an array of {entry.dtype} is not supported",
            "Convert the indices: i.astype(int); a mask is an array of booleans: x > 0.",
        )
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
