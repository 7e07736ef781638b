"""Sparse matrix formats that store more than single entries, diagonals and blocks, as the parser inlines them.

Products and what else is made of them go by compressed rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.parse.sparse_formats import COO, Diagonals, Sparse
from sdfgad.parse.sparse_patterns import block_places, diagonal_places, lines_of, turned_places


@dataclass
class Packed(Sparse):
    """What both formats have."""

    is_stored = True

    def _product(self, x: Any) -> Any:
        return self.tocsr()._product(x)

    def _dense(self) -> Any:
        return self._entries()._dense()

    def diagonal(self, k: Any = 0) -> Any:
        return self._entries().diagonal(k)

    @property
    def nnz(self) -> Any:
        return self._entries().nnz

    def sum(self, axis: Any = None) -> Any:
        return self._entries().sum(axis)


@dataclass
class DIA(Packed):
    """Diagonals: ``data[k, j]`` is in column j and row ``j - offsets[k]``, if there is one."""

    offsets: Any

    format = "dia"

    def _with_data(self, data: Any) -> Any:
        return DIA(data, self.shape, self.is_array, self.offsets)

    def _entries(self) -> Any:
        width = self.data.shape[1]
        numbers, row, col = diagonal_places(self.offsets, self.shape[0], self.shape[1], width)
        return COO(np.ravel(self.data)[numbers], self.shape, self.is_array, row, col)

    def transpose(self) -> Any:
        return Diagonals(self._entries().T.tocsr())


@dataclass
class BSR(Packed):
    """Blocks in compressed rows of blocks."""

    indices: Any
    indptr: Any

    format = "bsr"

    def _with_data(self, data: Any) -> Any:
        return BSR(data, self.shape, self.is_array, self.indices, self.indptr)

    def _entries(self) -> Any:
        row, col = block_places(self.indices, self.indptr, self.data.shape[1], self.data.shape[2])
        return COO(np.ravel(self.data), self.shape, self.is_array, row, col)

    def transpose(self) -> Any:
        columns = self.shape[1] // self.data.shape[2]
        order, indices, indptr = turned_places(lines_of(self.indptr)[0], self.indices, columns)
        blocks = np.swapaxes(self.data[order], 1, 2)
        return BSR(blocks, (self.shape[1], self.shape[0]), self.is_array, indices, indptr)
