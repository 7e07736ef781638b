"""Sparse matrix formats, as the parser inlines them: SciPy's storage schemes with their methods in plain NumPy.
An object of one of these classes stands for a sparse matrix or array of SciPy's in that format. All products go over
the stored entries only; entries that are stored twice count twice, as in SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.parse.dense_matrices import Sums
from sdfgad.parse.sparse_methods import Methods
from sdfgad.parse.sparse_operations import at_points, chosen, compressed_rows, product
from sdfgad.parse.sparse_patterns import common_places, lines_of, part_of, turned_places
from sdfgad.parse.sparse_products import across_lines, by_lines, dense_lines, diagonal_length, diagonal_of_lines


@dataclass
class Sparse(Methods):
    """What all formats have.

    Attributes:
        data: the values of the stored entries.
        shape: rows and columns.
        is_array: whether it is one of SciPy's sparse arrays, whose ``*`` is element-wise, and not a sparse matrix.
    """

    data: Any
    shape: Any
    is_array: Any

    format = ""
    # Whether it has the arrays of its format, and not parts that are other matrices.
    is_stored = False
    # How a refusal names it, and what it says to write instead.
    noun = "a sparse matrix"
    instead = "Write A.toarray() for a dense array, A.data for its entries, or A.sum()."

    def _with_data(self, data: Any) -> Any:
        raise NotImplementedError

    def _product(self, x: Any) -> Any:
        raise NotImplementedError

    def _dense(self) -> Any:
        raise NotImplementedError

    def transpose(self) -> Any:
        raise NotImplementedError

    def diagonal(self, k: Any = 0) -> Any:
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def ndim(self) -> Any:
        return 2

    @property
    def size(self) -> Any:
        return self.nnz

    @property
    def nnz(self) -> Any:
        return self.data.size

    @property
    def T(self) -> Any:
        return self.transpose()

    def getnnz(self) -> Any:
        return self.nnz

    def dot(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return self._times(other)
        if np.ndim(other) == 0:
            return self * other
        if np.ndim(other) > 2:
            raise NotImplementedError(
                "a product of a sparse matrix with an array of more than 2 axes is not supported: loop over the first"
            )
        if np.shape(other)[0] != self.shape[1]:
            raise ValueError("a sparse matrix and what it is multiplied by do not have matching shapes")
        return self._product(np.asarray(other))

    def _require_no_blocks(self) -> None:
        if self.format == "bsr":
            raise NotImplementedError(
                "a product or sum of a sparse matrix of blocks with another one is not supported: write A.tocsr()"
            )

    def _times(self, other: Any) -> Any:
        self._require_no_blocks()
        if self.shape[1] != other.shape[0]:
            raise ValueError("two sparse matrices that are multiplied do not have matching shapes")
        data, row, col = product(self._entries(), other._entries())
        made = COO(data, (self.shape[0], other.shape[1]), self.is_array, row, col)
        return made.tocsc() if self.format == "csc" else made.tocsr()

    def __getitem__(self, key: Any) -> Any:
        if self.format in ("coo", "dia", "bsr"):
            raise TypeError("a sparse matrix of this format has no items: write A.tocsr()[i, j]")
        rows, columns, single = part_of(key, self.shape)
        if single == 1 and self.is_array:
            raise NotImplementedError(
                "one row or column of a sparse array is not supported: write A[[i]] or A[:, [j]], which keep two axes"
            )
        if single == -1:
            points = at_points(self._entries(), rows, columns)
            return points if self.is_array else Sums(points, np.reshape(points, (1, -1)))
        data, row, col = chosen(self._entries(), rows, columns)
        if single == 2:
            return np.sum(data)
        return COO(data, (rows.size, columns.size), self.is_array, row, col).asformat(self.format)

    def __setitem__(self, key: Any, value: Any) -> Any:
        raise NotImplementedError(
            "an element of a sparse matrix is set: write coo_array((values, (rows, columns)), shape)"
        )

    def _entries(self) -> Any:
        """The entries by their rows and columns, whose data are those of this matrix."""
        raise NotImplementedError

    def tocoo(self, copy: Any = False) -> Any:
        return self._entries().copy() if copy else self._entries()

    def _itself(self, copy: Any = False) -> Any:
        """The conversion to the own format."""
        return self.copy() if copy else self

    def tocsr(self, copy: Any = False) -> Any:
        coo = self._entries()
        data, indices, indptr = compressed_rows(coo.data, coo.row, coo.col, coo.shape)
        return CSR(data, coo.shape, coo.is_array, indices, indptr)

    def tocsc(self, copy: Any = False) -> Any:
        return self._entries().T.tocsr().T

    def asformat(self, format: Any, copy: Any = False) -> Any:
        if format == "csr":
            return self.tocsr()
        if format == "csc":
            return self.tocsc()
        if format == "coo":
            return self.tocoo(copy=False)
        if format is None or format == self.format:
            return self
        raise NotImplementedError("this format of sparse matrices is not supported: use csr, csc or coo")

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        coo = self._entries()
        along = axis % 2
        result = np.zeros(self.shape[1 - along], coo.data.dtype)
        np.add.at(result, coo.col if along == 0 else coo.row, coo.data)
        if self.is_array:
            return result
        return Sums(result, np.reshape(result, (1, -1) if along == 0 else (-1, 1)))

    def multiply(self, other: Any) -> Any:
        """Element by element."""
        self._require_no_blocks()
        if not isinstance(other, Sparse):
            if np.ndim(other) == 0:
                return self._scaled(other)
            coo = self._entries()
            made = coo._with_data(coo.data * np.broadcast_to(other, self.shape)[coo.row, coo.col])
            return made.asformat("csr" if self.format == "dia" else self.format)
        # With entries in one place summed, as those of compressed rows need not be.
        first, second = self._entries().tocsr()._entries(), other._entries().tocsr()._entries()
        keys = first.row * self.shape[1] + first.col, second.row * self.shape[1] + second.col
        ours, theirs = common_places(*keys)
        data = first.data[ours] * second.data[theirs]
        made = COO(data, self.shape, self.is_array, first.row[ours], first.col[ours])
        return made.asformat("csr" if self.format == "dia" else self.format)

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Sparse) and np.ndim(other) == 0:
            raise ValueError("a sparse matrix is multiplied by a number by *, not by @")
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            raise ValueError("a sparse matrix is multiplied by a number by *, not by @")
        if np.ndim(other) == 1:
            return self.T.dot(other)
        return self.T.dot(np.transpose(other)).T

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) > 0:
            return self.multiply(other) if self.is_array else self.dot(other)
        return self._scaled(other)

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) > 0:
            return self.multiply(other) if self.is_array else self.__rmatmul__(other)
        return self._scaled(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) > 0:
            raise NotImplementedError("a sparse matrix divided by an array is not supported: write A.toarray() / x")
        return self._divided(other)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            raise NotImplementedError("the sum of a sparse matrix and an array: write A.toarray() + x")
        self._require_no_blocks()
        if self.shape != other.shape or self.is_array != other.is_array:
            raise NotImplementedError(
                "a sum of sparse matrices of two shapes, or of a csr_matrix and a csr_array: make both of one kind"
            )
        return Sum(self, other)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rsub__(self, other: Any) -> Any:
        return self + other

    def __neg__(self) -> Any:
        return self._scaled(-1)

    def __imul__(self, other: Any) -> Any:
        raise NotImplementedError("an in-place product of a sparse matrix: write A = A * c")

    def __itruediv__(self, other: Any) -> Any:
        raise NotImplementedError("an in-place quotient of a sparse matrix: write A = A / c")

    def _divided(self, divisor: Any) -> Any:
        return self._with_data(self.data / divisor)

    def _scaled(self, factor: Any) -> Any:
        return self._with_data(self.data * factor)

    def copy(self) -> Any:
        return self._with_data(self.data.copy())

    def conj(self) -> Any:
        return self._with_data(np.conj(self.data))

    def conjugate(self) -> Any:
        return self.conj()

    def astype(self, dtype: Any) -> Any:
        return self._with_data(self.data.astype(dtype))

    def toarray(self) -> Any:
        return self._dense()

    def todense(self) -> Any:
        if not self.is_array:
            raise NotImplementedError("todense() of a sparse matrix would be an np.matrix: write A.toarray()")
        return self._dense()


@dataclass
class Compressed(Sparse):
    """Compressed sparse rows or columns: those of entry k are `indices[k]` and the line of `indptr` that holds k."""

    indices: Any
    indptr: Any

    @property
    def has_sorted_indices(self) -> Any:
        raise NotImplementedError("has_sorted_indices is not supported: read it outside of the function")


@dataclass
class CSR(Compressed):
    """Compressed sparse rows."""

    format = "csr"
    is_stored = True

    def _with_data(self, data: Any) -> Any:
        return CSR(data, self.shape, self.is_array, self.indices, self.indptr)

    def transpose(self) -> Any:
        return CSC(self.data, (self.shape[1], self.shape[0]), self.is_array, self.indices, self.indptr)

    def _product(self, x: Any) -> Any:
        return by_lines(self.data, self.indices, self.indptr, self.shape[0], x)

    def _entries(self) -> Any:
        lines = lines_of(self.indptr)[0]
        return COO(self.data, self.shape, self.is_array, lines, self.indices)

    tocsr = Sparse._itself

    def tocsc(self, copy: Any = False) -> Any:
        order, indices, indptr = turned_places(lines_of(self.indptr)[0], self.indices, self.shape[1])
        return CSC(self.data[order], self.shape, self.is_array, indices, indptr)

    def _dense(self) -> Any:
        return dense_lines(self.data, self.indices, self.indptr, self.shape)

    def diagonal(self, k: Any = 0) -> Any:
        return diagonal_of_lines(self.data, self.indices, self.indptr, self.shape, k)


@dataclass
class CSC(Compressed):
    """Compressed sparse columns."""

    format = "csc"
    is_stored = True

    def _with_data(self, data: Any) -> Any:
        return CSC(data, self.shape, self.is_array, self.indices, self.indptr)

    def transpose(self) -> Any:
        return CSR(self.data, (self.shape[1], self.shape[0]), self.is_array, self.indices, self.indptr)

    def _product(self, x: Any) -> Any:
        return across_lines(self.data, self.indices, self.indptr, self.shape[0], x)

    def _entries(self) -> Any:
        lines = lines_of(self.indptr)[0]
        return COO(self.data, self.shape, self.is_array, self.indices, lines)

    def tocsr(self, copy: Any = False) -> Any:
        return self.T.tocsc().T

    def tocoo(self, copy: Any = True) -> Any:
        # Of SciPy's conversions to entries this one alone copies them (1.17).
        return self._entries().copy() if copy else self._entries()

    tocsc = Sparse._itself

    def _dense(self) -> Any:
        return dense_lines(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0])).T

    def diagonal(self, k: Any = 0) -> Any:
        return diagonal_of_lines(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0]), -k)


@dataclass
class COO(Sparse):
    """Coordinates: entry k is in row `row[k]` and column `col[k]`."""

    row: Any
    col: Any

    format = "coo"
    is_stored = True

    tocoo = Sparse._itself

    def _entries(self) -> Any:
        return self

    def _with_data(self, data: Any) -> Any:
        return COO(data, self.shape, self.is_array, self.row, self.col)

    def transpose(self) -> Any:
        return COO(self.data, (self.shape[1], self.shape[0]), self.is_array, self.col, self.row)

    def _product(self, x: Any) -> Any:
        y = np.zeros((self.shape[0], *x.shape[1:]), np.result_type(self.data.dtype, x.dtype))
        for k in range(self.data.size):
            y[self.row[k]] += self.data[k] * x[self.col[k]]
        return y

    def _dense(self) -> Any:
        dense = np.zeros(self.shape, self.data.dtype)
        for k in range(self.data.size):
            dense[self.row[k], self.col[k]] += self.data[k]
        return dense

    def diagonal(self, k: Any = 0) -> Any:
        result = np.zeros(diagonal_length(self.shape, k), self.data.dtype)
        for entry in range(self.data.size):
            if self.col[entry] - self.row[entry] == k:
                result[min(self.row[entry], self.col[entry])] += self.data[entry]
        return result


class Sum(Sparse):
    """The sum of two sparse matrices, whose entries stay where they are."""

    def __init__(self, first: Any, second: Any) -> None:
        self.shape, self.is_array = first.shape, first.is_array
        self.first, self.second = first, second

    format = "csr"

    @property
    def data(self) -> Any:
        return self.tocsr().data

    @property
    def indices(self) -> Any:
        return self.tocsr().indices

    @property
    def indptr(self) -> Any:
        return self.tocsr().indptr

    def _entries(self) -> Any:
        first, second = self.first._entries(), self.second._entries()
        row, col = np.concatenate((first.row, second.row)), np.concatenate((first.col, second.col))
        return COO(np.concatenate((first.data, second.data)), self.shape, self.is_array, row, col)

    @property
    def dtype(self) -> Any:
        return np.result_type(self.first.dtype, self.second.dtype)

    def _scaled(self, factor: Any) -> Any:
        return Sum(self.first * factor, self.second * factor)

    def _divided(self, divisor: Any) -> Any:
        return Sum(self.first / divisor, self.second / divisor)

    def copy(self) -> Any:
        return Sum(self.first.copy(), self.second.copy())

    def conj(self) -> Any:
        return Sum(self.first.conj(), self.second.conj())

    def astype(self, dtype: Any) -> Any:
        return Sum(self.first.astype(dtype), self.second.astype(dtype))

    def transpose(self) -> Any:
        return Sum(self.first.T, self.second.T)

    def _product(self, x: Any) -> Any:
        return self.first.dot(x) + self.second.dot(x)

    def _dense(self) -> Any:
        return self.first.toarray() + self.second.toarray()

    def diagonal(self, k: Any = 0) -> Any:
        return self.first.diagonal(k) + self.second.diagonal(k)


class Diagonals(Sparse):
    """Diagonals, whose entries are held as compressed rows."""

    format = "dia"

    def __init__(self, rows: Any) -> None:
        self.shape, self.is_array, self.rows = rows.shape, rows.is_array, rows

    @property
    def data(self) -> Any:
        raise NotImplementedError(".data of a matrix of diagonals is not supported: write A.tocsr().data")

    @property
    def dtype(self) -> Any:
        return self.rows.dtype

    @property
    def nnz(self) -> Any:
        return self.rows.nnz

    def sum(self, axis: Any = None) -> Any:
        return self.rows.sum(axis)

    def _scaled(self, factor: Any) -> Any:
        return Diagonals(self.rows._scaled(factor))

    def _divided(self, divisor: Any) -> Any:
        return Diagonals(self.rows._divided(divisor))

    def copy(self) -> Any:
        return Diagonals(self.rows.copy())

    def conj(self) -> Any:
        return Diagonals(self.rows.conj())

    def astype(self, dtype: Any) -> Any:
        return Diagonals(self.rows.astype(dtype))

    def transpose(self) -> Any:
        return Diagonals(self.rows.T.tocsr())

    def _product(self, x: Any) -> Any:
        return self.rows._product(x)

    def _dense(self) -> Any:
        return self.rows._dense()

    def diagonal(self, k: Any = 0) -> Any:
        return self.rows.diagonal(k)

    def _entries(self) -> Any:
        return self.rows._entries()
