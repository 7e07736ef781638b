"""Sparse matrix products over compressed lines, as definitions in plain NumPy that the parser inlines.

A line is a row of compressed rows, and a column of compressed columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def by_lines(data: Any, indices: Any, indptr: Any, count: int, x: Any) -> Any:
    """The product of compressed rows with a vector or the columns of a matrix."""
    y = np.zeros((count, *x.shape[1:]), np.result_type(data.dtype, x.dtype))
    for line in range(count):
        start, stop = indptr[line], indptr[line + 1]
        if x.ndim == 1:
            y[line] = data[start:stop] @ x[indices[start:stop]]
        else:
            for k in range(start, stop):
                y[line] += data[k] * x[indices[k]]
    return y


def across_lines(data: Any, indices: Any, indptr: Any, count: int, x: Any) -> Any:
    """The product of compressed columns with a vector or the columns of a matrix."""
    y = np.zeros((count, *x.shape[1:]), np.result_type(data.dtype, x.dtype))
    for line in range(indptr.size - 1):
        for k in range(indptr[line], indptr[line + 1]):
            y[indices[k]] += data[k] * x[line]
    return y


def dense_lines(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """Compressed rows as a dense matrix."""
    dense = np.zeros(shape, data.dtype)
    for line in range(shape[0]):
        for k in range(indptr[line], indptr[line + 1]):
            dense[line, indices[k]] += data[k]
    return dense


def diagonal_of_lines(data: Any, indices: Any, indptr: Any, shape: Any, k: Any) -> Any:
    """The k-th diagonal of compressed rows, above the main one for k > 0."""
    above, below = max(k, 0), max(-k, 0)
    result = np.zeros(diagonal_length(shape, k), data.dtype)
    for line in range(result.size):
        for entry in range(indptr[line + below], indptr[line + below + 1]):
            if indices[entry] == line + above:
                result[line] += data[entry]
    return result


def diagonal_length(shape: Any, k: Any) -> Any:
    """How many elements the k-th diagonal of a matrix has."""
    return max(0, min(shape[0] - max(-k, 0), shape[1] - max(k, 0)))
