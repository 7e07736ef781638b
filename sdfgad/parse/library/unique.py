"""Distinct elements in order: the first of each run of equal ones in a sorted vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.unique import is_known_set, known_sets, known_unique
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


@in_numpy(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    if is_known_set(ar1) and is_known_set(ar2):
        return known_sets(np.union1d, ar1, ar2)
    return np.unique(_joined(ar1, ar2))


@in_numpy(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    if is_known_set(ar1) and is_known_set(ar2):
        return known_sets(np.setdiff1d, ar1, ar2, assume_unique)
    numbers = _distinct(ar1, assume_unique)
    return numbers[~np.isin(numbers, array_like(ar2))]


@in_numpy(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """``np.intersect1d``; what the arrays share is, with its derivatives, that of the first one."""
    if is_known_set(ar1) and is_known_set(ar2):
        return known_sets(np.intersect1d, ar1, ar2, assume_unique, return_indices)
    if return_indices:
        raise NotImplementedError(
            "np.intersect1d of numbers that are known only at run time is not supported with return_indices: write "
            "np.nonzero(np.isin(x, y))[0]"
        )
    first, second = _distinct(ar1, False), array_like(ar2)
    numbers = _joined(first, second)[: len(first)]
    return numbers[np.isin(first, second)]


@in_numpy(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    if is_known_set(ar1) and is_known_set(ar2):
        return known_sets(np.setxor1d, ar1, ar2, assume_unique)
    ordered = np.sort(_joined(_distinct(ar1, assume_unique), _distinct(ar2, assume_unique)))
    is_new = np.ones(len(ordered) + 1, dtype=bool)
    is_new[1:-1] = ordered[1:] != ordered[:-1]
    return ordered[is_new[1:] & is_new[:-1]]


def _joined(ar1: Any, ar2: Any) -> Any:
    return np.concatenate((np.ravel(array_like(ar1)), np.ravel(array_like(ar2))))


def _distinct(ar: Any, assume_unique: Any) -> Any:
    return np.ravel(array_like(ar)) if assume_unique else np.unique(ar)
