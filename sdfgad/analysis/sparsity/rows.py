"""Boolean sparse matrices in compressed rows, of which single rows change: for each element the set of its sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity, vstack

Array = np.ndarray[Any, Any]
Matrix = Any

# As many rows at once are changed one by one.
FEW = 8


def relation(rows: Array, columns: Array, shape: tuple[int, int]) -> Matrix:
    """The Boolean matrix that is true at these places."""
    return csr_matrix((np.ones(rows.size, np.bool_), (rows, columns)), shape=shape)


class Rows:
    """A Boolean matrix: rows that have changed lately, over one in compressed form, which never changes itself."""

    def __init__(self, base: Matrix) -> None:
        self.base = base
        self.changed: dict[int, Array] = {}

    @staticmethod
    def empty(rows: int, columns: int) -> Rows:
        return Rows(csr_matrix((rows, columns), dtype=np.bool_))

    @staticmethod
    def identity(size: int) -> Rows:
        return Rows(identity(size, np.bool_, "csr"))

    def copied(self) -> Rows:
        copy = Rows(self.base)
        copy.changed = dict(self.changed)
        return copy

    def settled(self) -> Matrix:
        """The matrix in compressed form."""
        if self.changed:
            rows = np.fromiter(self.changed, np.int64)
            self.base = _with_rows(self.base, rows, _stacked(list(self.changed.values()), self.base.shape[1]))
            self.changed = {}
        return self.base

    def row(self, row: int) -> Array:
        """The places where a row is true."""
        found = self.changed.get(row)
        return self.base.indices[self.base.indptr[row] : self.base.indptr[row + 1]] if found is None else found

    def take(self, rows: Array) -> Matrix:
        """These rows."""
        if rows.size <= FEW:
            return _stacked([self.row(int(row)) for row in rows], self.base.shape[1])
        settled = self.settled()
        return settled if _are_all(rows, settled.shape[0]) else settled[rows]

    def put(self, rows: Array, values: Matrix) -> None:
        """Replaces these rows, each of which is named once."""
        if rows.size <= FEW:
            ends = values.indptr
            for k, row in enumerate(rows.tolist()):
                self.changed[row] = np.unique(values.indices[ends[k] : ends[k + 1]])
        elif _are_all(rows, self.base.shape[0]):
            self.base, self.changed = values, {}
        else:
            self.base = _with_rows(self.settled(), rows, values)

    def is_like(self, other: Rows) -> bool:
        """Whether both are equal for certain."""
        mine, others = self.settled(), other.settled()
        if mine is others:
            return True
        if mine.nnz != others.nnz or not np.array_equal(mine.indptr, others.indptr):
            return False
        mine.sort_indices()
        others.sort_indices()
        return np.array_equal(mine.indices, others.indices)

    def union(self, other: Rows) -> Rows:
        mine, others = self.settled(), other.settled()
        return self if mine is others else Rows(mine + others)


def _are_all(rows: Array, size: int) -> bool:
    return rows.size == size and bool(np.all(np.diff(rows) == 1))


def _stacked(rows: list[Array], columns: int) -> Matrix:
    ends = np.cumsum([0, *(row.size for row in rows)])
    indices = np.concatenate(rows) if rows else np.empty(0, np.int32)
    return csr_matrix((np.ones(indices.size, np.bool_), indices, ends), shape=(len(rows), columns))


def _with_rows(base: Matrix, rows: Array, values: Matrix) -> Matrix:
    order = np.arange(base.shape[0])
    order[rows] = base.shape[0] + np.arange(rows.size)
    return vstack([base, values], format="csr")[order]
