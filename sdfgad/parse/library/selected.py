"""Functions of selections (``x[mask]``) whose elements change places: by vectors as long as the masked array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import is_known, is_sequence
from sdfgad.parse.functions.selected import count_of, first_of, in_place, selected_like

# What the parser inlines in place of a function whose first argument is a selection.
OF_SELECTIONS: dict[Any, Callable[..., Any]] = {}
# The methods that are such functions.
METHODS_OF_SELECTIONS: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin, "cumsum": np.cumsum}


def _of_selection(original: Any) -> Any:
    def register(definition: Any) -> Any:
        OF_SELECTIONS[original] = definition
        return definition

    return register


def _ordered(a: Any) -> Any:
    """The selected elements in order, and then what is last in NumPy's order."""
    return np.sort(in_place(a, np.nan if a.dtype.kind == "f" else np.iinfo(a.dtype).max))


def _largest(dtype: Any) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def _check(a: Any, axis: Any) -> None:
    if a.ndim != 1 or axis not in (None, -1, 0):
        raise NotImplementedError(
            "this function of a selection along an axis is not supported: select elements of a vector"
        )
    if a.dtype.kind not in "fi":
        raise NotImplementedError(
            "this function of a selection of neither floats nor integers is not supported: convert the array before"
        )


@_of_selection(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    _check(a, axis)
    return first_of(_ordered(a), count_of(a))


@_of_selection(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    _check(a, axis)
    return selected_like(np.cumsum(in_place(a, 0), dtype=dtype), a)


@_of_selection(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    return selected_like(np.interp(in_place(x, 0), xp, fp, left, right, period), x)


@_of_selection(np.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None) -> Any:
    return _place_of(a, in_place(a, _largest(a.dtype)), np.min, axis)


@_of_selection(np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None) -> Any:
    least = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
    return _place_of(a, in_place(a, least), np.max, axis)


def _place_of(a: Any, dense: Any, extremum: Any, axis: Any) -> Any:
    """Among the selected elements, the place of the first that is an extremum or, as in NumPy, NaN."""
    _check(a, axis)
    if count_of(a) == 0:
        raise ValueError("attempt to get the place of an extremum of an empty sequence")
    is_selected = in_place(selected_like(np.ones(dense.shape, int), a), 0)
    is_wanted = dense == extremum(dense)
    if a.dtype.kind == "f":
        is_wanted = np.logical_or(is_wanted, np.isnan(dense))
    first = np.argmax(np.logical_and(is_wanted, is_selected > 0))
    return np.cumsum(is_selected)[first] - 1


@_of_selection(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    _check(a, axis)
    return _at_share(_ordered(a), count_of(a), 0.5)


@_of_selection(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    _check(a, axis)
    if not is_known(q) or method != "linear":
        raise NotImplementedError("this quantile of a selection is not supported: use method='linear' and a number")
    ordered, count = _ordered(a), count_of(a)
    if is_sequence(q):
        return np.array([_at_share(ordered, count, one) for one in q])
    return _at_share(ordered, count, q)


@_of_selection(np.percentile)
def percentile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    return quantile(a, [one / 100 for one in q] if is_sequence(q) else q / 100, axis, method=method)


def _at_share(ordered: Any, count: Any, q: Any) -> Any:
    """Between the sorted elements, of which there are `count`; NaN if there are none, or one is NaN."""
    place = q * max(count - 1, 0)
    low = math.floor(place)
    high = min(low + 1, max(count - 1, 0))
    share = place - low
    value = ordered[low] + share * (ordered[high] - ordered[low])
    return np.where(np.logical_or(count == 0, np.isnan(ordered[max(count - 1, 0)])), np.nan, value)
