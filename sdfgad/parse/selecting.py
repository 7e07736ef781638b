"""Selections: masked arrays for ``x[mask]``, whose elements keep their indices in `x` as long as only values matter.

So no shape depends on data, a mask costs a comparison per element, and the reverse sweep needs only the mask. Where the
selected elements must be a compact array, their positions are computed first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, as_linear
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, where
from sdfgad.parse.masks import common_mask, is_same_mask
from sdfgad.parse.strides import unravelled
from sdfgad.parse.values import Index, Selection, Tensor, as_tensor, shape_text


def selection(b: Builder, x: Tensor, mask: Tensor) -> Selection | Tensor:
    """``x[mask]``."""
    return of_fixed_size(b, chosen(b, x, fitting(b, x, mask)))


def fitting(b: Builder, x: Tensor, mask: Tensor) -> Tensor:
    """A mask that indexes `x`, with its present values.

    Raises:
        ShapeMismatch: its shape is not that of the leading axes.
    """
    if mask.ndim > x.ndim or not all(b.is_zero(m - e) for m, e in zip(mask.shape, x.shape, strict=False)):
        raise ShapeMismatch(
            f"a boolean index must fit the array: shapes {shape_text(mask.shape)} and {shape_text(x.shape)}",
            b.where,
            "Make the mask of the array itself: x[x > 0].",
        )
    return b.fixed_mask(mask)


def chosen(b: Builder, dense: Tensor, mask: Tensor) -> Selection:
    return Selection(dense.as_value(settled=False), mask, lambda selected: compacted(b, selected))


def of_fixed_size(b: Builder, x: Selection) -> Selection | Tensor:
    """A selection, or a compact array where the number of elements may be a constant of the program."""
    b.lacks_constant = True
    return x if b.values is None or not count(b, x).is_const else b.stored(compacted(b, x))


def narrowed(b: Builder, x: Selection, mask: Selection) -> Selection | Tensor:
    """``x[mask]`` where both are selections by the same mask, and `mask` is one of booleans."""
    if not is_same_mask(x.mask, mask.mask) or mask.dtype != BOOL:
        raise b.unsupported(
            "an array x[mask] is indexed by a mask of another selection",
            "Join the masks, and select once: x[mask & other].",
        )
    both = elementwise(b, "logical_and", x.mask, mask.dense)
    return of_fixed_size(b, chosen(b, x.dense, b.fixed_mask(both)))


def spread(mask: Tensor, x: Tensor) -> Tensor:
    """A mask of the leading axes of `x` with extents of 1 for its other axes, so that it broadcasts to `x`."""
    shape = (*mask.shape, *(Lin(1),) * (x.ndim - mask.ndim))
    return mask.reindexed(shape, lambda p: p[: mask.ndim])


def filled(b: Builder, x: Selection, value: Any) -> Tensor:
    """An array of the shape of `x.dense`, with `value` where no element is selected."""
    return where(b, spread(x.mask, x.dense), x.dense, Tensor((), x.dtype, lambda _: Const(value, x.dtype)))


def count(b: Builder, x: Selection) -> Lin:
    """The number of elements that the mask selects."""
    known = b.constants.array(x.mask, b.here, is_needed=False)
    if known is not None:
        return Lin(int(np.count_nonzero(known)))
    ones = Tensor(x.mask.shape, INT, lambda p: Op("cast", (x.mask.element(p),), INT))

    def counted() -> Lin:
        total = b.new_view("count", (), INT)
        b.assign(total, 0)
        b.compute(x.mask.shape, total, lambda p: (), ones, "add")
        return bounded(b, as_linear(total.at()), _size(b, x.mask))

    return _same_count(b, x.mask, counted)


def _same_count(b: Builder, mask: Tensor, counted: Callable[[], Lin]) -> Lin:
    """The number of elements that a mask selects, in one form however often it is counted."""
    index = tuple(Lin.symbol(f"m{axis}_") for axis in range(mask.ndim))
    found: Lin = b.memoised(("count", mask.shape), mask.element(index), counted)
    return found


def bounded(b: Builder, form: Lin, most: int) -> Lin:
    """A number of elements, which is data, clamped to 0, …, most, which bounds it for the integer analysis."""
    b.lacks_constant = True
    if (known := b.by_value(form)) is not None:
        return Lin(known)
    at_least = Op("maximum", (Int(form), Const(0, INT)), INT)
    result = as_linear(Op("minimum", (at_least, Const(most, INT)), INT))
    b.counts.add(result)
    return result


def _size(b: Builder, x: Tensor) -> int:
    return math.prod(b.constant(extent) for extent in x.shape)


def aligned(b: Builder, entries: tuple[Any, ...]) -> tuple[tuple[Any, ...], Tensor]:
    """Index entries with selections replaced by their dense arrays, and the common mask of the selections."""
    mask = common_mask(entry for entry in entries if isinstance(entry, Selection))
    if mask is None:
        raise b.unsupported(
            "an array is indexed by several arrays x[mask] of different masks",
            "Use the same mask for each: a[i[mask], j[mask]].",
        )
    return tuple(entry.dense if isinstance(entry, Selection) else entry for entry in entries), mask


def dense_of(b: Builder, value: Any, mask: Tensor) -> Tensor:
    """A value that is assigned where `mask` holds, as an array of the mask's shape or a scalar."""
    if isinstance(value, Selection):
        if not is_same_mask(value.mask, mask):
            raise b.unsupported(
                "y[mask] is assigned through a mask of another selection",
                "Use the same mask on both sides: x[i[mask]] = y[mask].",
            )
        return value.dense
    tensor = as_tensor(value)
    if tensor.ndim:
        raise b.unsupported(
            "an array is assigned through a selection of indices, i[mask]",
            "Select it by the same mask: x[i[mask]] = y[mask].",
        )
    return tensor


def assign(b: Builder, x: Selection, entries: tuple[Any, ...], value: Any) -> None:
    """``x[...] = value`` of a selection that is bound to a name, and so has its own storage."""
    b.references.update(x.dense)
    index = entries[0] if len(entries) == 1 else None
    is_all = index is Ellipsis or (isinstance(index, slice) and index == slice(None))
    if x.dense.place is not None and isinstance(index, Selection) and is_same_mask(index.mask, x.mask):
        mask = b.fixed_mask(elementwise(b, "logical_and", x.mask, index.dense))
        b.assign(x.dense, where(b, spread(mask, x.dense), dense_of(b, value, mask), x.dense))
        return
    if x.dense.place is None or not is_all:
        raise b.unsupported("part of an array x[mask] is updated in place", "Update the array itself: x[mask] = value.")
    b.assign(x.dense, where(b, spread(x.mask, x.dense), dense_of(b, value, x.mask), x.dense))


# --- selected elements as a compact array


def positions(b: Builder, mask: Tensor) -> list[Tensor]:
    """The indices of a mask's true elements in order, an int64 vector for each axis; its length is data."""
    flat, number = _positions_and_count(b, b.fixed_mask(mask))
    sizes = [b.constant(extent) for extent in mask.shape]

    def coordinate(axis: int) -> Tensor:
        return Tensor((number,), INT, lambda p: Int(unravelled(as_linear(flat.element(p)), sizes)[axis]), settled=True)

    return [coordinate(axis) for axis in range(mask.ndim)]


def _positions_and_count(b: Builder, mask: Tensor) -> tuple[Tensor, Lin]:
    size = _size(b, mask)
    known = b.constants.array(mask, b.here, is_needed=False)
    if known is not None:
        return b.constant_array(np.flatnonzero(known)), Lin(int(np.count_nonzero(known)))

    def searched() -> tuple[Tensor, Lin]:
        flat, number = b.call("nonzero", [mask], [((size,), INT), ((), INT)], (size,))
        return flat, _same_count(b, mask, lambda: bounded(b, as_linear(number.at()), size))

    index = tuple(Lin.symbol(f"m{axis}_") for axis in range(mask.ndim))
    found: tuple[Tensor, Lin] = b.memoised(("positions", mask.shape), mask.element(index), searched)
    return found


def compacted(b: Builder, x: Selection) -> Tensor:
    """The selected elements as a compact array."""
    flat, number = _positions_and_count(b, x.mask)
    sizes = [b.constant(extent) for extent in x.mask.shape]
    dense = x.dense

    def element(p: Index) -> Any:
        return dense.element((*unravelled(as_linear(flat.element(p[:1])), sizes), *p[1:]))

    found = Tensor((number, *dense.shape[x.mask.ndim :]), x.dtype, element)
    # In Python a view of it, y[::-1], shares the memory of the name that it is bound to.
    return found if dense.place is None else b.versions.copy_of(found, (str(dense.buffer),), is_chosen=False)
