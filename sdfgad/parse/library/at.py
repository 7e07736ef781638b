"""``ufunc.at``: updates at positions that may occur several times, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.registry import in_numpy


def _at(ufunc: Any) -> Any:
    """The definition of ``ufunc.at`` of two operands, for an array of indices of the first axis, or a tuple."""

    def at(a: Any, indices: Any, b: Any) -> Any:
        places = [array_like(k) for k in (indices if isinstance(indices, tuple) else (indices,))]
        count = max([k.ndim for k in places])
        values = np.copy(np.broadcast_to(b, a[tuple(places)].shape))
        if count == 0:
            a[tuple(places)] = ufunc(a[tuple(places)], values)
            return
        if count > 1:
            raise ValueError("ufunc.at with an index matrix is not supported: write np.ravel of indices and values")
        n = max([k.shape[0] for k in places if k.ndim == 1])
        rows = [np.broadcast_to(k, (n,)) for k in places]
        for i in range(n):
            place = tuple([k[i] for k in rows])
            a[place] = ufunc(a[place], values[i])

    return at


def _at_of_one(ufunc: Any) -> Any:
    """The definition of ``ufunc.at`` of one operand."""

    def at(a: Any, indices: Any) -> Any:
        places = array_like(indices)
        if places.ndim == 0:
            a[places] = ufunc(a[places])
            return
        for i in range(places.shape[0]):
            a[places[i]] = ufunc(a[places[i]])

    return at


for _ufunc in (
    *(np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.logaddexp, np.floor_divide, np.remainder, np.hypot),
):
    in_numpy(_ufunc.at)(_at(_ufunc))
for _one in (np.negative, np.exp, np.log, np.sqrt, np.square, np.absolute, np.sin, np.cos, np.tanh, np.reciprocal):
    in_numpy(_one.at)(_at_of_one(_one))
