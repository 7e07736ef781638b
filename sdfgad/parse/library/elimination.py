"""The LU decomposition of scipy.linalg, with the derivative for the rows that are exchanged, which data decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, inexact
from sdfgad.parse.registry import definitions

_linalg = definitions("scipy.linalg")


@_linalg("lu")
def lu(
    a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any:
    """Gaussian elimination with the largest element of a column as its pivot: a = P L U, or (P L) U."""
    a = array_like(a)
    if a.ndim != 2:
        raise ValueError("scipy.linalg.lu of a stack of matrices is not supported: loop over the matrices")
    a = a.astype(inexact(a.dtype))
    order = _order(np.copy(a))
    lower, upper = _factors(a[order])
    if permute_l or p_indices:
        place = np.argsort(order)
        return (lower[place], upper) if permute_l else (place.astype(np.int32), lower, upper)
    return np.eye(a.shape[0], dtype=np.real(a).dtype)[order].T, lower, upper


def _order(work: Any) -> Any:
    """The rows in the order of the pivots; LAPACK takes the sum of both parts for the size of a complex number."""
    m, n = fixed_int(work.shape[0]), fixed_int(work.shape[1])
    rows = np.arange(m)
    order = np.arange(m)
    for j in range(min(m, n)):
        sizes = np.abs(np.real(work[:, j])) + np.abs(np.imag(work[:, j]))
        best = np.argmax(np.where(rows >= j, sizes, -1.0))
        top, number = np.copy(work[best]), order[best]
        work[best], order[best] = work[j], order[j]
        work[j], order[j] = top, number
        # A column of zeros has the pivot 0, and nothing to eliminate.
        share = np.where(rows > j, work[:, j] / np.where(top[j] == 0.0, 1.0, top[j]), 0.0)
        work -= share[:, None] * top
    return order


def _factors(a: Any) -> Any:
    """Doolittle's form of elimination, which writes each element once: a = L U with ones in the diagonal of L."""
    m, n = fixed_int(a.shape[0]), fixed_int(a.shape[1])
    k = min(m, n)
    lower, upper = np.eye(m, k, dtype=a.dtype), np.zeros((k, n), a.dtype)
    for j in range(k):
        upper[j, j:] = a[j, j:] - lower[j, :j] @ upper[:j, j:]
        pivot = np.where(upper[j, j] == 0.0, 1.0, upper[j, j])
        lower[j + 1 :, j] = (a[j + 1 :, j] - lower[j + 1 :, :j] @ upper[:j, j]) / pivot
    return lower, upper
