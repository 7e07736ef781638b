"""Views in other shapes and orders, and joins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.functions.creation import shape_of
from sdfgad.frontend.functions.reduction import count_of, normalise_axes, with_axes
from sdfgad.frontend.registry import attribute, function
from sdfgad.frontend.values import Index, Tensor, as_tensor
from sdfgad.ir.expr import INT, Const, Int, Op, symbols_of
from sdfgad.ir.linear import Lin, as_linear


@attribute("shape")
def shape(b: Builder, x: Tensor) -> tuple[Any, ...]:
    return tuple(extent.const if extent.is_const else extent for extent in x.shape)


@attribute("ndim")
def ndim(b: Builder, x: Tensor) -> int:
    return x.ndim


@attribute("size")
def size(b: Builder, x: Tensor) -> int:
    return math.prod(b.constant(extent) for extent in x.shape)


@attribute("dtype")
def dtype(b: Builder, x: Tensor) -> np.dtype[Any]:
    return x.dtype


@attribute("T")
def transposed(b: Builder, x: Tensor) -> Tensor:
    return transpose(b, x)


@function(np.shape)
def shape_function(b: Builder, x: Any) -> tuple[Any, ...]:
    return shape(b, as_tensor(x))


@function(np.transpose, method="transpose")
def transpose(b: Builder, x: Any, *axes: Any) -> Tensor:
    x = as_tensor(x)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    order = [b.constant(a) % x.ndim for a in axes] if axes else list(reversed(range(x.ndim)))
    if sorted(order) != list(range(x.ndim)):
        raise b.unsupported(f"axes {axes} are no permutation of {x.ndim} dimensions")
    inverse = [order.index(position) for position in range(x.ndim)]
    return x.reindexed(tuple(x.shape[a] for a in order), lambda p: tuple(p[i] for i in inverse))


@function(np.swapaxes, method="swapaxes")
def swapaxes(b: Builder, x: Any, first: int, second: int) -> Tensor:
    x = as_tensor(x)
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return transpose(b, x, order)


@function(np.reshape, method="reshape")
def reshape(b: Builder, x: Any, *new_shape: Any) -> Tensor:
    """A view in another shape, in row-major order."""
    x = as_tensor(x)
    entries = new_shape[0] if len(new_shape) == 1 and isinstance(new_shape[0], (tuple, list)) else new_shape
    sizes = [b.constant(e) for e in entries]
    total = math.prod(b.constant(e) for e in x.shape)
    if -1 in sizes:
        rest = -math.prod(sizes)
        sizes[sizes.index(-1)] = total // rest if rest else 0
    if math.prod(sizes) != total:
        raise ShapeMismatch(f"{total} elements do not fit the shape {tuple(sizes)}", b.where, "Check the shape.")
    new = shape_of(b, sizes)
    old = [extent.const for extent in x.shape]
    shaped = x.reindexed(new, lambda p: _unravel(_ravel(p, sizes), old))
    return shaped if x.place is None or _stays_view(b, x, sizes) else b.stored(shaped)


def _stays_view(b: Builder, x: Tensor, sizes: list[int]) -> bool:
    """Whether NumPy reshapes this view without a copy: asked of NumPy."""
    like = _strided_like(b, x)
    if like is None:
        return False
    try:
        like.reshape(sizes, copy=False)
    except ValueError:
        return False
    return True


def _strided_like(b: Builder, x: Tensor) -> np.ndarray[Any, Any] | None:
    """An array, never read, with the shape and strides of a view; None if the view has no strides."""
    symbols = [b.fresh("p") for _ in x.shape]
    assert x.place is not None
    access = x.place(tuple(Lin.symbol(s) for s in symbols))
    flat = _ravel(access.index, [b.constant(e) for e in b.buffers[access.buffer].shape])
    strides = [flat.coefficient(s) for s in symbols]
    rest = flat - sum((Lin.symbol(s).scaled(c) for s, c in zip(symbols, strides, strict=True)), Lin(0))
    if symbols_of(Int(rest)) & set(symbols):
        return None
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), [b.constant(e) for e in x.shape], strides)


def _ravel(index: Index, sizes: list[int]) -> Lin:
    flat = Lin(0)
    for i, extent in zip(index, sizes, strict=True):
        flat = flat.scaled(extent) + i
    return flat


def _unravel(flat: Lin, sizes: list[int]) -> Index:
    """The index of the element at position `flat`; exact multiples split without a division."""
    result: list[Lin] = []
    wide = [position for position, extent in enumerate(sizes) if extent != 1]
    for position in range(len(sizes)):
        if position not in wide:
            result.append(Lin(0))
            continue
        stride = math.prod(sizes[position + 1 :])
        index = _quotient(flat, stride)
        result.append(index if position == wide[0] else _remainder(index, sizes[position]))
    return tuple(result)


def _quotient(form: Lin, divisor: int) -> Lin:
    if divisor == 1:
        return form
    exact = Lin(form.const - form.const % divisor, tuple((a, c) for a, c in form.terms if c % divisor == 0))
    rest = form - exact
    whole = Lin(exact.const // divisor, tuple((a, c // divisor) for a, c in exact.terms))
    if rest.is_const and 0 <= rest.const < divisor:
        return whole
    return whole + as_linear(Op("floor_divide", (Int(rest), Const(divisor, INT)), INT))


def _remainder(form: Lin, divisor: int) -> Lin:
    rest = Lin(form.const % divisor, tuple((a, c) for a, c in form.terms if c % divisor))
    if rest.is_const:
        return rest
    return as_linear(Op("remainder", (Int(rest), Const(divisor, INT)), INT))


@function(np.ravel, method="ravel")
def ravel(b: Builder, x: Any) -> Tensor:
    """A flat view where the array is contiguous, else a copy."""
    x = as_tensor(x)
    flat = reshape(b, x, -1)
    like = None if x.place is None else _strided_like(b, x)
    return flat if x.place is None or (like is not None and like.flags.c_contiguous) else b.stored(flat)


@function(method="flatten")
def flatten(b: Builder, x: Tensor) -> Tensor:
    return b.stored(reshape(b, x, -1))


@function(np.expand_dims)
def expand_dims(b: Builder, x: Any, axis: Any) -> Tensor:
    x = as_tensor(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return with_axes(x, normalise_axes(b, axis, x.ndim + count))


@function(np.squeeze, method="squeeze")
def squeeze(b: Builder, x: Any, axis: Any = None) -> Tensor:
    x = as_tensor(x)
    ones = tuple(position for position, extent in enumerate(x.shape) if extent == Lin(1))
    axes = ones if axis is None else normalise_axes(b, axis, x.ndim)
    if not set(axes) <= set(ones):
        raise ShapeMismatch("only extents of 1 can be squeezed", b.where, "Check the axis.")
    kept = tuple(e for position, e in enumerate(x.shape) if position not in axes)

    def old_index(p: Index) -> Index:
        rest = iter(p)
        return tuple(Lin(0) if position in axes else next(rest) for position in range(x.ndim))

    return x.reindexed(kept, old_index)


@function(np.flip)
def flip(b: Builder, x: Any, axis: Any = None) -> Tensor:
    x = as_tensor(x)
    axes = normalise_axes(b, axis, x.ndim)
    return x.reindexed(x.shape, lambda p: tuple(x.shape[k] - 1 - i if k in axes else i for k, i in enumerate(p)))


@function(np.broadcast_to)
def broadcast_to(b: Builder, x: Any, new_shape: Any) -> Tensor:
    wide = b.broadcast_to(as_tensor(x), shape_of(b, new_shape))
    return Tensor(wide.shape, wide.dtype, wide.element)


@function(np.concatenate)
def concatenate(b: Builder, parts: Any, axis: int = 0) -> Tensor:
    tensors = [as_tensor(part) for part in parts]
    (position,) = normalise_axes(b, axis, tensors[0].ndim)
    lengths = [b.constant(t.shape[position]) for t in tensors]
    first = tensors[0].shape
    total = (*first[:position], Lin(sum(lengths)), *first[position + 1 :])
    result = b.new_view("t", total, np.result_type(*(t.dtype for t in tensors)))
    for k, tensor in enumerate(tensors):
        start = sum(lengths[:k])

        def old_index(p: Index, start: int = start) -> Index:
            return (*p[:position], p[position] + start, *p[position + 1 :])

        b.assign(result.reindexed((*first[:position], Lin(lengths[k]), *first[position + 1 :]), old_index), tensor)
    return result


@function(np.stack)
def stack(b: Builder, parts: Any, axis: int = 0) -> Tensor:
    return concatenate(b, [expand_dims(b, part, axis) for part in parts], axis)


@function(np.diagonal, np.diag)
def diagonal(b: Builder, x: Any) -> Tensor:
    """The main diagonal of a matrix."""
    x = as_tensor(x)
    if x.ndim != 2:
        raise b.unsupported(f"the diagonal of an array of {x.ndim} dimensions")
    length = min(b.constant(extent) for extent in x.shape)
    return x.reindexed((Lin(length),), lambda p: (p[0], p[0]))


__all__ = ["count_of"]
