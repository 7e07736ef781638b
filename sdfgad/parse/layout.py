"""Memory layout: the order in which NumPy stores an array, which decides whether it shares it or copies it.

The arrays of a program are row-major here. NumPy's need not be: a new array has the order of those that it is computed
of, so that ``x.T * 2`` is column-major, and to flatten it is to copy it. Where the order is not known for certain, a
copy stands for what may be a view: it can be read as long as the array does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin, Read, reads
from sdfgad.ir.folding import folded
from sdfgad.ir.program import Buffer
from sdfgad.parse.builder import Builder
from sdfgad.parse.strides import ravelled
from sdfgad.parse.values import Tensor, astype


def shared(b: Builder, x: Tensor, shaped: Tensor, is_view: bool | None, order: str = "C") -> Tensor:
    """`shaped`, which has the elements of `x`, as NumPy makes it: a view, a copy in an order, or (None) either."""
    if x.place is None or is_view:
        return shaped
    if is_view is None:
        return b.versions.copy_of(shaped, [str(x.buffer)], is_chosen=False)
    return in_new_order(b, shaped, order)


def in_order(b: Builder, x: Tensor, order: Any) -> Tensor:
    """The array itself where it is contiguous in the order "C" or "F", or any order will do; else a copy."""
    return shared(b, x, x, is_contiguous(b, x, order), order) if order in ("C", "F") and x.place is not None else x


def in_new_order(b: Builder, x: Tensor, order: Any) -> Tensor:
    """A new array, which NumPy stores in the order "C" or "F", or else in that of `x`."""
    new = b.stored(x, weak=False)
    return b.ordered(new, *((None,) if order == "F" else ())) if order in ("C", "F") else new


def converted(b: Builder, x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """An array in another dtype; one of several that a copy stands for may have it already, and so be the result."""
    value = astype(x, dtype)
    return value if value is x or x.copy is None else b.versions.copy_of(value, [name for name, _ in x.copy.of])


def is_contiguous(b: Builder, x: Tensor, order: str = "C") -> bool | None:
    """Whether an array's elements are next to each other in NumPy, in row-major or ("F") column-major order."""
    like = _strided_like(b, x)
    b.reshaped.add(str(x.buffer))
    return None if like is None else bool(like.flags.c_contiguous if order == "C" else like.flags.f_contiguous)


def stays_view(b: Builder, x: Tensor, sizes: list[int]) -> bool | None:
    """Whether NumPy gives an array other sizes without a copy, found by NumPy on an array with the same strides.

    A common factor of all strides makes no difference: views of a vector are the same whatever its stride is.
    """
    like = _strided_like(b, x)
    if [Lin(size) for size in sizes if size != 1] == [extent for extent in x.shape if extent != Lin(1)]:
        return True
    if _has_several_axes(b.buffers[str(x.buffer)]):
        b.reshaped.add(str(x.buffer))
    if like is None:
        return None
    try:
        like.reshape(sizes, copy=False)
    except ValueError:
        return False
    return True


def _strided_like(b: Builder, x: Tensor) -> np.ndarray[Any, Any] | None:
    """An array, never read, with the shape and strides of one in NumPy; None where these are not known."""
    assert x.place is not None
    symbols, sizes = [b.fresh("p") for _ in x.shape], [b.constant(extent) for extent in x.shape]
    access = x.place(tuple(Lin.symbol(s) for s in symbols))
    buffer = b.buffers[access.buffer]
    if _has_several_axes(buffer) and not is_row_major(b, b.like.get(buffer.name, ())):
        return None
    flat = ravelled(access.index, [b.constant(e) for e in buffer.shape])
    flat = folded(flat, {s: (0, max(size - 1, 0)) for s, size in zip(symbols, sizes, strict=True)})
    strides = [flat.coefficient(s) for s in symbols]
    rest = flat - sum((Lin.symbol(s).scaled(c) for s, c in zip(symbols, strides, strict=True)), Lin(0))
    if rest.symbols & set(symbols):
        return None
    unit = buffer.dtype.itemsize // x.dtype.itemsize
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), sizes, [stride * unit for stride in strides])


def _has_several_axes(buffer: Buffer) -> bool:
    return sum(extent != Lin(1) for extent in buffer.shape) > 1


# --- the order of new arrays


# For each two axes of an array, the buffers that are read row by row along them to compute it.
Origins = list[set[str]]


def is_row_major(b: Builder, arrays: Iterable[Tensor | None]) -> bool:
    """Whether NumPy certainly makes a new array of each of these in row-major order."""
    found = [_origins(b, x) for x in arrays]
    known: dict[str, list[Origins]] = {}
    left = _names(found)
    while left:
        name = left.pop()
        if name in b.like and name not in known:
            known[name] = [_origins(b, x) for x in b.like[name]]
            left += _names(known[name])
    # Arrays are made of earlier ones.
    for name in [name for name in b.like if name in known]:
        if all(_have_row_major(b, origins) for origins in known[name]):
            del b.like[name]
        else:
            b.like[name] = (None,)
    return all(_have_row_major(b, origins) for origins in found)


def _names(found: list[Origins]) -> list[str]:
    return [name for origins in found for names in origins for name in names]


def _have_row_major(b: Builder, origins: Origins) -> bool:
    """Whether for each two axes one array is row-major, which is enough for NumPy to make a new one row-major."""
    return all(any(name not in b.like for name in names) for names in origins)


def _origins(b: Builder, x: Tensor | None) -> Origins:
    if x is None:
        return [set()]
    wide = {f"o{axis}_": extent for axis, extent in enumerate(x.shape) if extent != Lin(1)}
    if len(wide) < 2:
        return []
    index = tuple(Lin.symbol(f"o{a}_") if f"o{a}_" in wide else Lin(0) for a in range(x.ndim))
    with b.versions.unchecked():
        element = x.element(index)
    used = [symbol for symbol in wide if symbol in element.symbols]
    if used != [*wide][: len(used)]:
        # NumPy stores a copy of a broadcast view with the axes along which it repeats innermost.
        return [set()]
    found = [read for read in reads(element) if len(read.symbols & set(wide)) > 1]
    orders = [(read.buffer, _orders(b, read, wide)) for read in found]
    pairs = {pair for _, order in orders for pair in order}
    return [{buffer for buffer, order in orders if order.get(pair)} for pair in sorted(pairs)]


def _orders(b: Builder, read: Read, wide: dict[str, Lin]) -> dict[tuple[str, str], bool]:
    """For each two axes that a read moves along: whether it does so row by row, by strides or an index array first."""
    flat = ravelled(read.index, [b.constant(extent) for extent in b.buffers[read.buffer].shape])
    flat = folded(flat, {s: (0, max(extent.const - 1, 0)) for s, extent in wide.items() if extent.is_const})
    gathered = [atom.symbols for atom, _ in flat.terms if not isinstance(atom, str)]
    result = {}
    for first, second in combinations(wide, 2):
        strides = abs(flat.coefficient(first)), abs(flat.coefficient(second))
        are_gathered = [any(s in symbols for symbols in gathered) for s in (first, second)]
        # What an index array selects is in the order of that array, which is another read.
        is_joint = any(first in symbols and second in symbols for symbols in gathered)
        if {first, second} <= read.symbols and not is_joint:
            result[first, second] = are_gathered[0] if any(are_gathered) else strides[0] >= strides[1]
    return result
