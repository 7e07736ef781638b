"""Operations that change where the entries of a sparse matrix are: conversions, parts and products.

Definitions in NumPy that the parser inlines, as the formats in `sparse_formats`; the patterns are found while parsing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.sparse_patterns import chosen_places, point_places, product_places, summed_places


def summed(values: Any, slots: Any, count: Any, is_permuted: Any) -> Any:
    """What an array holds to whose elements these values are added."""
    result = np.zeros(count, values.dtype)
    if is_permuted:
        result[slots] = values
    else:
        np.add.at(result, slots, values)
    return result


def compressed_rows(data: Any, rows: Any, columns: Any, shape: Any) -> Any:
    """The data, indices and starts of compressed rows, with entries in one place summed."""
    slots, is_permuted, indices, indptr = summed_places(rows, columns, shape[0], shape[1])
    return summed(data, slots, indices.size, is_permuted), indices, indptr


def product(first: Any, second: Any) -> Any:
    """The data, rows and columns of the products of all entries that a product of two matrices sums."""
    ours, theirs = product_places(first.col, second.row)
    return first.data[ours] * second.data[theirs], first.row[ours], second.col[theirs]


def chosen(matrix: Any, rows: Any, columns: Any) -> Any:
    """The data, rows and columns of a part of a matrix."""
    entries, new_rows, new_columns = chosen_places(matrix.row, matrix.col, rows, columns)
    return matrix.data[entries], new_rows, new_columns


def at_points(matrix: Any, rows: Any, columns: Any) -> Any:
    """The elements of a matrix at these places, one by one."""
    entries, places = point_places(matrix.row, matrix.col, matrix.shape[1], rows, columns)
    result = np.zeros(rows.size, matrix.data.dtype)
    np.add.at(result, places, matrix.data[entries])
    return result
