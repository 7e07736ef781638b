"""Which axes of its arguments a call of a mapped program maps over."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdfgad.errors import ArgumentError, Location
from sdfgad.parse.arguments import ArrayArgument

Axes = int | None | Sequence[int | None]
Parameters = Sequence[inspect.Parameter]


def axes_of(parameters: Parameters, in_axes: Axes, count: int, keywords: Mapping[str, Any]) -> dict[str, int | None]:
    """The mapped axis of each argument of a call, None for one that is the same for all entries.

    Args:
        count: how many arguments are passed by position.

    Raises:
        ArgumentError: `in_axes` does not fit the call.
    """
    positional = [one.name for one in parameters][:count]
    _check_variadic(parameters, in_axes, keywords)
    if in_axes is None or isinstance(in_axes, int):
        return dict.fromkeys((*positional, *keywords), in_axes)
    axes = tuple(in_axes)
    if len(axes) != count or not all(axis is None or isinstance(axis, int) for axis in axes):
        what = f"in_axes={in_axes!r} does not fit a call with {count} positional arguments"
        raise ArgumentError(what, todo="It is an int, None, or one of these for each of them: in_axes=(0, None).")
    # As in JAX, arguments by name are mapped over their first axis.
    return {**dict(zip(positional, axes, strict=False)), **dict.fromkeys(keywords, 0)}


def _check_variadic(parameters: Parameters, in_axes: Axes, keywords: Mapping[str, Any]) -> None:
    """Checks that no axis is meant for a single argument among those of ``*args`` or ``**kwargs``.

    Raises:
        ArgumentError: one is.
    """
    kinds, known = {one.kind for one in parameters}, {one.name for one in parameters}
    if inspect.Parameter.VAR_POSITIONAL in kinds and isinstance(in_axes, Sequence) and len(set(in_axes)) > 1:
        what = f"in_axes={in_axes!r} has several axes for a program that takes any number of arguments"
        raise ArgumentError(what, todo="Map a function with a name for each argument.")
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


def check_axis_of_results(axis: int, numbers_of_axes: Iterable[int], where: Callable[[], Location]) -> None:
    """Checks that all results, with the axis of their entries, have so many axes.

    Raises:
        ArgumentError: one has not.
    """
    for number in numbers_of_axes:
        if not -number <= axis < number:
            what = f"a result for all entries has {number} axes, and they lie along its axis {axis}"
            raise ArgumentError(what, where(), f"Pass an out_axes from {-number} to {number - 1}.")
