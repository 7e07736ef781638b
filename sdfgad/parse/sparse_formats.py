"""Sparse matrix formats, as the parser inlines them: SciPy's storage schemes with their methods in plain NumPy.
An object of one of these classes stands for a sparse matrix or array of SciPy's in that format. All products go over
the stored entries only; entries that are stored twice count twice, as in SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.parse.sparse_products import across_lines, by_lines, dense_lines, diagonal_of_lines


@dataclass
class Sparse:
    """What all formats have.

    Attributes:
        data: the values of the stored entries.
        shape: rows and columns.
        is_array: whether it is one of SciPy's sparse arrays, whose ``*`` is element-wise, and not a sparse matrix.
    """

    data: Any
    shape: Any
    is_array: Any

    def _with_data(self, data: Any) -> Any:
        raise NotImplementedError

    def _product(self, x: Any) -> Any:
        raise NotImplementedError

    def _dense(self) -> Any:
        raise NotImplementedError

    def transpose(self) -> Any:
        raise NotImplementedError

    def diagonal(self) -> Any:
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
            raise NotImplementedError("a product of two sparse matrices: write A @ (B @ x), or multiply them before")
        if np.ndim(other) == 0:
            return self * other
        if np.ndim(other) > 2:
            raise NotImplementedError("a product of a sparse matrix with an array of more than 2 axes")
        if np.shape(other)[0] != self.shape[1]:
            raise ValueError("a sparse matrix and what it is multiplied by do not have matching shapes")
        return self._product(np.asarray(other))

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
            if self.is_array:
                raise NotImplementedError("an element-wise product with a sparse array: multiply its .data")
            return self.dot(other)
        return self._scaled(other)

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) > 0:
            if self.is_array:
                raise NotImplementedError("an element-wise product with a sparse array: multiply its .data")
            return self.__rmatmul__(other)
        return self._scaled(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) > 0:
            raise NotImplementedError("a sparse matrix divided by an array: divide its .data")
        return self._divided(other)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            raise NotImplementedError("a sparse matrix plus an array is dense: write A.toarray() + x")
        if self.shape != other.shape or self.is_array != other.is_array:
            raise NotImplementedError("a sum of sparse matrices of two shapes, or of a matrix and an array")
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
        raise NotImplementedError("a sparse matrix is changed in place: write A = A * c")

    def __itruediv__(self, other: Any) -> Any:
        raise NotImplementedError("a sparse matrix is changed in place: write A = A / c")

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
            raise NotImplementedError("todense() of a sparse matrix is an np.matrix: write .toarray()")
        return self._dense()


@dataclass
class Compressed(Sparse):
    """Compressed sparse rows or columns: those of entry k are `indices[k]` and the line of `indptr` that holds k."""

    indices: Any
    indptr: Any

    @property
    def has_sorted_indices(self) -> Any:
        raise NotImplementedError("what is known of the order of a sparse matrix: ask before the program")


@dataclass
class CSR(Compressed):
    """Compressed sparse rows."""

    format = "csr"

    def _with_data(self, data: Any) -> Any:
        return CSR(data, self.shape, self.is_array, self.indices, self.indptr)

    def transpose(self) -> Any:
        return CSC(self.data, (self.shape[1], self.shape[0]), self.is_array, self.indices, self.indptr)

    def _product(self, x: Any) -> Any:
        return by_lines(self.data, self.indices, self.indptr, self.shape[0], x)

    def _dense(self) -> Any:
        return dense_lines(self.data, self.indices, self.indptr, self.shape)

    def diagonal(self) -> Any:
        return diagonal_of_lines(self.data, self.indices, self.indptr, self.shape)


@dataclass
class CSC(Compressed):
    """Compressed sparse columns."""

    format = "csc"

    def _with_data(self, data: Any) -> Any:
        return CSC(data, self.shape, self.is_array, self.indices, self.indptr)

    def transpose(self) -> Any:
        return CSR(self.data, (self.shape[1], self.shape[0]), self.is_array, self.indices, self.indptr)

    def _product(self, x: Any) -> Any:
        return across_lines(self.data, self.indices, self.indptr, self.shape[0], x)

    def _dense(self) -> Any:
        return dense_lines(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0])).T

    def diagonal(self) -> Any:
        return diagonal_of_lines(self.data, self.indices, self.indptr, (self.shape[1], self.shape[0]))


@dataclass
class COO(Sparse):
    """Coordinates: entry k is in row `row[k]` and column `col[k]`."""

    row: Any
    col: Any

    format = "coo"

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

    def diagonal(self) -> Any:
        result = np.zeros(min(self.shape), self.data.dtype)
        for k in range(self.data.size):
            if self.row[k] == self.col[k]:
                result[self.row[k]] += self.data[k]
        return result


class Sum(Sparse):
    """The sum of two sparse matrices, whose entries stay where they are."""

    def __init__(self, first: Any, second: Any) -> None:
        self.shape, self.is_array = first.shape, first.is_array
        self.first, self.second = first, second

    @property
    def data(self) -> Any:
        raise NotImplementedError("the entries of a sum of sparse matrices: add them before the program")

    @property
    def format(self) -> Any:
        return self.data

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

    def diagonal(self) -> Any:
        return self.first.diagonal() + self.second.diagonal()
