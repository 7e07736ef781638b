"""Methods of sparse matrices of all formats that are made of others, in plain NumPy, as the parser inlines them."""

from __future__ import annotations

from typing import Any

import numpy as np


class Methods:
    """What `sparse_formats.Sparse` has besides products, sums and conversions."""

    def _each(self, function: Any) -> Any:
        """A function with ``f(0) == 0`` of each element, with entries in one place summed first, as in SciPy."""
        matrix: Any = self
        summed = matrix.tocsr()._entries() if matrix.format in ("dia", "bsr") else matrix._entries()
        rows = (summed.T.tocsr().T if matrix.format == "csc" else summed.tocsr())._entries()
        made = rows._with_data(function(rows.data))
        return made.asformat("csr" if matrix.format in ("dia", "bsr") else matrix.format)

    def __abs__(self) -> Any:
        return self._each(np.abs)

    def power(self, n: Any, dtype: Any = None) -> Any:
        if np.ndim(n) > 0 or n <= 0:
            raise NotImplementedError("a power of a sparse matrix takes a positive number: write A.toarray() ** n")
        made = self._each(lambda data: data**n)
        return made if dtype is None else made.astype(dtype)

    def __pow__(self, n: Any) -> Any:
        matrix: Any = self
        if matrix.is_array:
            return self.power(n)
        if n < 1:
            raise NotImplementedError("a sparse matrix to the power of 0 or less: write np.linalg.matrix_power")
        result = matrix
        for _ in range(n - 1):
            result = result @ matrix
        return result

    def sqrt(self) -> Any:
        return self._each(np.sqrt)

    def sin(self) -> Any:
        return self._each(np.sin)

    def tan(self) -> Any:
        return self._each(np.tan)

    def sinh(self) -> Any:
        return self._each(np.sinh)

    def tanh(self) -> Any:
        return self._each(np.tanh)

    def arctan(self) -> Any:
        return self._each(np.arctan)

    def expm1(self) -> Any:
        return self._each(np.expm1)

    def log1p(self) -> Any:
        return self._each(np.log1p)

    def mean(self, axis: Any = None) -> Any:
        matrix: Any = self
        count = matrix.shape[0] * matrix.shape[1] if axis is None else matrix.shape[axis]
        return (matrix * (1.0 / count)).sum(axis)

    def trace(self, offset: Any = 0) -> Any:
        matrix: Any = self
        return np.sum(matrix.diagonal(offset))

    def getH(self) -> Any:
        matrix: Any = self
        return matrix.conj().T

    def getrow(self, i: Any) -> Any:
        matrix: Any = self
        return matrix.tocsr()[[i]]

    def getcol(self, j: Any) -> Any:
        matrix: Any = self
        return matrix.tocsr()[:, [j]]

    def getformat(self) -> Any:
        matrix: Any = self
        return matrix.format

    def max(self, axis: Any = None) -> Any:
        raise NotImplementedError("the largest element of a sparse matrix is not supported: write A.toarray().max()")

    def min(self, axis: Any = None) -> Any:
        raise NotImplementedError("the least element of a sparse matrix is not supported: write A.toarray().min()")

    def setdiag(self, values: Any, k: Any = 0) -> Any:
        raise NotImplementedError(
            "the diagonal of a sparse matrix is set: write A + scipy.sparse.diags(values - A.diagonal())"
        )

    def sum_duplicates(self) -> Any:
        raise NotImplementedError(
            "entries of a sparse matrix are summed in place: conversions sum them, A = A.tocoo().tocsr()"
        )

    def eliminate_zeros(self) -> Any:
        raise NotImplementedError(
            "which entries of a sparse matrix are zero is data: leave eliminate_zeros() out, as it changes no product"
        )

    def nonzero(self) -> Any:
        raise NotImplementedError(
            "which entries of a sparse matrix are zero is data: write A.tocoo().row and A.tocoo().col for all entries"
        )
