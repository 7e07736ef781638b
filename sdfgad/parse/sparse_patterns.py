"""Sparsity patterns: where the entries of a sparse matrix are, and those of others made of it.

Functions of integer arrays and numbers, in NumPy. The parser calls them where a program does, once it knows the arrays
(`parse.functions.sparsity`): what they return are constants of the program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
# A band that fills more than this share of a matrix costs more than the matrix.
WIDEST_BAND = 0.6


def lines_of(indptr: Array) -> tuple[Array, ...]:
    """The line of each entry of compressed lines."""
    return (np.repeat(np.arange(indptr.size - 1), np.diff(indptr)),)


def summed_places(rows: Array, columns: Array, m: int, n: int) -> tuple[Any, ...]:
    """Compressed rows of entries of which those in one place are summed.

    Returns: the number of each entry in compressed rows, whether no two share one, the indices and the starts of rows.
    """
    distinct, slots = np.unique(rows * n + columns, return_inverse=True)
    starts = np.searchsorted(distinct, np.arange(m + 1) * n)
    return slots, distinct.size == rows.size, distinct % max(n, 1), starts


def turned_places(lines: Array, others: Array, count: int) -> tuple[Array, ...]:
    """Entries in compressed lines, sorted along the other axis, of length `count`: their order, indices and starts."""
    order = np.argsort(others, kind="stable")
    return order, lines[order], np.searchsorted(others[order], np.arange(count + 1))


def chosen_places(rows: Array, columns: Array, wanted_rows: Array, wanted_columns: Array) -> tuple[Array, ...]:
    """The entries in the wanted rows and columns, which may repeat: their numbers, rows and columns."""
    entry, row = _joined(rows, wanted_rows)
    part, column = _joined(columns[entry], wanted_columns)
    return entry[part], row[part], column


def product_places(columns: Array, rows: Array) -> tuple[Array, ...]:
    """The pairs of entries that are multiplied: the column of the first matrix's is the row of the second one's."""
    return _joined(columns, rows)


def _joined(left: Array, right: Array) -> tuple[Array, Array]:
    """All pairs (i, j) with left[i] == right[j], ordered by i and j."""
    order = np.argsort(right, kind="stable")
    starts, ends = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    counts = ends - starts
    i = np.repeat(np.arange(left.size), counts)
    within = np.arange(i.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return i, order[np.repeat(starts, counts) + within]


def point_places(rows: Array, columns: Array, n: int, points: Array, others: Array) -> tuple[Array, ...]:
    """The entries in the places (points[k], others[k]) of a matrix with `n` columns: their numbers, and k of each."""
    return _joined(rows * n + columns, points * n + others)


def diagonal_places(offsets: Array, m: int, n: int, width: int) -> tuple[Array, ...]:
    """Entries of diagonals that are rows of a matrix with `width` columns: their numbers in it, rows and columns."""
    column = np.broadcast_to(np.arange(width), (offsets.size, width))
    row = column - offsets[:, None]
    numbers = np.flatnonzero((row >= 0) & (row < m) & (column < n))
    return numbers, row.ravel()[numbers], column.ravel()[numbers]


def block_places(indices: Array, indptr: Array, height: int, width: int) -> tuple[Array, ...]:
    """The rows and columns of the elements of blocks in compressed rows, block by block."""
    shape = (indices.size, height, width)
    row = lines_of(indptr)[0][:, None, None] * height + np.arange(height)[None, :, None]
    column = indices[:, None, None] * width + np.arange(width)[None, None, :]
    return np.broadcast_to(row, shape).ravel(), np.broadcast_to(column, shape).ravel()


def triangle_places(rows: Array, columns: Array, k: int, is_upper: bool) -> tuple[Array, ...]:
    """The entries on and above the k-th diagonal, or on and below it: their numbers, rows and columns."""
    numbers = np.flatnonzero(columns - rows >= k if is_upper else columns - rows <= k)
    return numbers, rows[numbers], columns[numbers]


def known_places(pattern: Array) -> tuple[Array, ...]:
    """The rows and columns of the elements of a matrix that are not zero."""
    rows, columns = np.nonzero(pattern)
    return rows, columns


def band_places(rows: Array, columns: Array, n: int) -> tuple[Any, ...]:
    """A narrow band, by the reverse Cuthill-McKee order of a square matrix, or the order as it is.

    Returns: the order, the place of each number in it, the diagonal and the column of each entry in the band, the
    numbers of diagonals below and above the main one, and whether the band is narrow.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    graph = coo_array((np.ones(2 * rows.size), (np.r_[rows, columns], np.r_[columns, rows])), (n, n)).tocsr()
    orders = [np.arange(n), reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)]
    order = min(orders, key=lambda one: _width(one, rows, columns))
    place = np.argsort(order)
    offset = place[rows] - place[columns]
    low, high = int(max(offset.max(initial=0), 0)), int(max(-offset.min(initial=0), 0))
    return order, place, high + offset, place[columns], low, high, low + high + 1 <= WIDEST_BAND * n


def _width(order: Array, rows: Array, columns: Array) -> int:
    place = np.argsort(order)
    return int(np.abs(place[rows] - place[columns]).max(initial=0))


def largest_place(places: Array) -> tuple[int]:
    """The number of rows or columns of a matrix without a shape."""
    return (int(places.max(initial=-1)) + 1,)


def common_places(places: Array, others: Array) -> tuple[Array, ...]:
    """The entries of two matrices, no two of either in one place, that are in places of both: their numbers."""
    _, ours, theirs = np.intersect1d(places, others, assume_unique=True, return_indices=True)
    return ours, theirs


def part_of(key: Any, shape: Any) -> Any:
    """The rows and columns of ``A[key]``, and the number of those that are said by one integer, or -1 where they are
    places of single elements: only in programs.
    """
    raise NotImplementedError


PATTERNS = (
    lines_of,
    summed_places,
    turned_places,
    chosen_places,
    product_places,
    band_places,
    largest_place,
    common_places,
    point_places,
    diagonal_places,
    block_places,
    known_places,
    triangle_places,
)
