"""Distinct elements in order: the first of each run of equal ones in a sorted vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.unique import is_known_set, known_unique
from sdfgad.parse.registry import in_numpy


@in_numpy(np.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """``np.unique``; of numbers that are data all that it returns, but along no axis."""
    if is_known_set(ar):
        return known_unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    if axis is not None or not equal_nan:
        raise NotImplementedError(
            "np.unique of numbers that are known only at run time is not supported with axis or equal_nan: call it "
            "outside of the function, and pass what it returns as an argument"
        )
    ar = array_like(ar)
    flat = np.ravel(ar)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    if ordered.dtype.kind in "fc":
        is_first[1:] &= ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    found = [ordered[is_first]]
    if return_index:
        found.append(order[is_first])
    if return_inverse:
        found.append(np.reshape(_ranks(order, is_first), ar.shape))
    if return_counts:
        found.append(np.diff(np.append(np.nonzero(is_first)[0], len(flat))))
    return found[0] if len(found) == 1 else tuple(found)


def _ranks(order: Any, is_first: Any) -> Any:
    """For each element the place of its value among the distinct ones."""
    ranks = np.zeros(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(is_first) - 1
    return ranks
