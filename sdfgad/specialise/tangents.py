"""Tangents of arguments: taken apart like the arguments, and checked against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.parse.structure import Structure, items_of
from sdfgad.specialise.device_argument import on_device_of
from sdfgad.specialise.signature import Call

Array = np.ndarray[Any, Any]


def tangents_of(call: Call, name_of: Callable[[int], Any], tangents: Mapping[int, Any]) -> dict[str, Array]:
    """Tangents of arguments at some positions, by the floating leaves of these; None stands for zeros.

    Args:
        name_of: the name of the argument at a position.

    Raises:
        ArgumentError: a tangent has another structure or shape than its argument.
    """
    found: dict[str, Array] = {}
    for position, tangent in tangents.items():
        part = call.part(name_of(position))
        assert part is not None
        found |= fitting_leaves(call, *part, tangent)
    return found


def fitting_leaves(call: Call, structure: Structure | None, name: str, tangent: Any) -> dict[str, Array]:
    """The tangents of the floating leaves of an argument, or of a part of one.

    Raises:
        ArgumentError: the tangent has another structure or shape.
    """
    found: dict[str, Array] = {}
    for leaf, part in leaves_of_tangent(structure, name, tangent):
        if leaf in call.floating and part is not None:
            found[leaf] = _fitting_leaf(call, leaf, part)
    return found


def _fitting_leaf(call: Call, leaf: str, tangent: Any) -> Any:
    """The tangent of a leaf: an array of NumPy, or a `DeviceArgument` where the call is on a device."""
    kind, what = call.kinds[leaf], f"the tangent of `{leaf}`"
    there = on_device_of(call, what, tangent)
    if there is None:
        return fitting(tangent, kind.shape, kind.dtype, what)
    if (there.shape, there.dtype) != (kind.shape, kind.dtype):
        raise ArgumentError(
            f"{what} is of shape {there.shape} and dtype {there.dtype}, the argument of {kind.shape} and {kind.dtype}",
            todo="Convert the tangent on the device.",
        )
    return there


def leaves_of_tangent(structure: Structure | None, name: str, tangent: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a tangent with the names of the argument's; a part that is None has none."""
    if structure is None or tangent is None:
        yield name, tangent
        return
    items = items_of(tangent) or {}
    if tuple(items) != structure.keys:
        what = f"the tangent of `{name}` has another structure than the argument"
        raise ArgumentError(what, todo="Pass one with the argument's keys; None stands for zeros.")
    for (key, part), inner_structure in zip(items.items(), structure.parts, strict=True):
        yield from leaves_of_tangent(inner_structure, name + structure.select(key), part)


def fitting(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Array:
    """An array of this shape and dtype.

    Raises:
        ArgumentError: it has another shape, or is complex where the dtype is real.
    """
    if np.iscomplexobj(value) and dtype.kind != "c":
        raise ArgumentError(f"{what} is complex, its dtype is {dtype}", todo="Pass a real array.")
    if np.shape(value) != shape:
        raise ArgumentError(f"{what} has shape {np.shape(value)}, not {shape}", todo=f"Pass an array of shape {shape}.")
    return np.ascontiguousarray(value, dtype=dtype).reshape(shape)
