"""Which axes of its arguments a call of a mapped program maps over."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdfgad.errors import ArgumentError, Location
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.structure import Structure, items_of, names

# An axis, None, or a container of these.
Axes = Any
Parameters = Sequence[inspect.Parameter]


def axes_of(parameters: Parameters, in_axes: Axes, count: int, keywords: Mapping[str, Any]) -> dict[str, Axes]:
    """The mapped axis of each argument of a call, None for one that is the same for all entries, or axes of its parts.

    Args:
        count: how many arguments are passed by position.

    Raises:
        ArgumentError: `in_axes` does not fit the call.
    """
    positional = [one.name for one in parameters][:count]
    _check_variadic(parameters, keywords)
    if in_axes is None or isinstance(in_axes, int):
        return dict.fromkeys((*positional, *keywords), in_axes)
    axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else ()
    if len(axes) != count:
        what = f"in_axes={in_axes!r} does not fit a call with {count} positional arguments"
        raise ArgumentError(what, todo="It is an int, None, or one of these for each of them: in_axes=(0, None).")
    # As in JAX, arguments by name are mapped over their first axis.
    found = {**dict(zip(positional, axes, strict=False)), **dict.fromkeys(keywords, 0)}
    several = next((k for k, one in enumerate(parameters) if one.kind is one.VAR_POSITIONAL), count)
    return found | ({parameters[several].name: axes[several:]} if several < count else {})


def axes_of_leaves(structure: Structure | None, name: str, axes: Axes) -> Iterator[tuple[str, int | None]]:
    """The mapped axis of each leaf of an argument or result, by one for all or for parts of it (a prefix of its tree).

    Raises:
        ArgumentError: the axes are no such container.
    """
    if axes is None or isinstance(axes, int):
        yield from ((leaf, axes) for leaf in names(structure, name))
        return
    items = items_of(axes)
    if structure is None or items is None or tuple(items) != structure.keys:
        what = f"the axes {axes!r} do not fit `{name}`"
        raise ArgumentError(what, todo="Give an int, None, or a container of these with the same keys.")
    for (key, one), part in zip(items.items(), structure.parts, strict=True):
        yield from axes_of_leaves(part, name + structure.select(key), one)


def _check_variadic(parameters: Parameters, keywords: Mapping[str, Any]) -> None:
    """Checks that no axis is meant for a single argument among those of ``**kwargs``.

    Raises:
        ArgumentError: one is.
    """
    kinds, known = {one.kind for one in parameters}, {one.name for one in parameters}
    unknown = [name for name in keywords if name not in known]
    if inspect.Parameter.VAR_KEYWORD in kinds and unknown:
        what = f"the mapped program takes `{unknown[0]}` as one of any number of arguments by name"
        raise ArgumentError(what, todo="Map a function with a name for each argument.")


def kind_of_entry(name: str, kind: Any, axis: int, where: Callable[[], Location]) -> ArrayArgument | None:
    """What the parser knows of an entry of an array, given what it would know of the array; None for a constant.

    Raises:
        ArgumentError: it has no such axis.
    """
    if isinstance(kind, (str, bytes, type(None))) or callable(kind):
        return None
    shape = kind.shape if isinstance(kind, ArrayArgument) else ()
    if not -len(shape) <= axis < len(shape):
        has = f"has {len(shape)} axes" if shape else "is a number"
        what = f"the argument `{name}` {has}, and is mapped over its axis {axis}"
        raise ArgumentError(what, where(), "Give None for what is the same for all: in_axes=(0, None).")
    left = list(shape)
    del left[axis]
    return replace(kind, shape=tuple(left), is_scalar=not left)


def check_axis_of_result(axis: int | None, number: int, is_same: bool, where: Callable[[], Location]) -> None:
    """Checks that a result, with the axis of its entries, has this axis, or that it is the same for all of them.

    Raises:
        ArgumentError: it has not, or is not.
    """
    if axis is None and not is_same:
        what = "a result differs from entry to entry, and has None in out_axes"
        raise ArgumentError(what, where(), f"Give an axis from {-number} to {number - 1}.")
    if axis is not None and not -number <= axis < number:
        what = f"a result for all entries has {number} axes, and they lie along its axis {axis}"
        raise ArgumentError(what, where(), f"Pass an out_axes from {-number} to {number - 1}.")
