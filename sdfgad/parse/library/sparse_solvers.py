"""Systems of equations of scipy.sparse.linalg: by a banded factorisation in the order that makes the band narrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.factored import banded_factors, banded_solution, solution_by_band
from sdfgad.parse.library.solvers import LU
from sdfgad.parse.registry import optional
from sdfgad.parse.sparse_formats import Sparse
from sdfgad.parse.sparse_patterns import band_places


class SparseFactors:
    """What ``scipy.sparse.linalg.splu`` returns here: the factors of a band that holds the matrix, or the matrix."""

    def __init__(self, matrix: Any) -> None:
        coo = matrix._entries()
        self.shape = coo.shape
        order, place, diagonals, columns, low, high, is_narrow = band_places(coo.row, coo.col, coo.shape[0])
        self.order, self.place, self.low, self.high, self.is_narrow = order, place, low, high, is_narrow
        data = coo.data.astype(np.result_type(coo.data.dtype, np.float32))
        if is_narrow:
            self.band = np.zeros((low + high + 1, coo.shape[0]), data.dtype)
            np.add.at(self.band, (diagonals, columns), data)
        else:
            self.band = coo.toarray().astype(data.dtype)

    def factor(self) -> Any:
        """With factors that are kept, for several right sides."""
        if self.is_narrow:
            self.factors, self.exchanged = banded_factors(self.band, self.low, self.high)
        else:
            self.whole = LU(self.band)
        return self

    def solve_once(self, b: Any) -> Any:
        """With factors that are not kept."""
        if not self.is_narrow:
            return np.linalg.solve(self.band, b)
        return banded_solution(self.band, b[self.order], self.low, self.high)[self.place]

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        if trans not in ("N", "T", "H"):
            raise ValueError("trans= is 'N', 'T' or 'H'")
        rhs = np.asarray(rhs)
        if not self.is_narrow:
            return self.whole.solve(rhs, "NTH".index(trans))
        is_turned = trans == "T" and np.iscomplexobj(self.band)
        right = (np.conj(rhs) if is_turned else rhs)[self.order]
        kept = (self.band, self.factors, self.exchanged)
        x = solution_by_band(*kept, right, self.low, self.high, 0 if trans == "N" else 1)[self.place]
        return np.conj(x) if is_turned else x


def _solver(name: str) -> Any:
    return optional("scipy.sparse.linalg", name, is_definition=True)


def _factors(A: Any) -> Any:
    if not isinstance(A, Sparse):
        raise NotImplementedError("a dense matrix is given to a sparse solver: write np.linalg.solve(A, b)")
    if A.shape[0] != A.shape[1]:
        raise ValueError("a system of equations needs a square matrix")
    return SparseFactors(A)


@_solver("spsolve")
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    if isinstance(b, Sparse):
        raise NotImplementedError("a sparse right side is not supported: write b.toarray()")
    b = np.asarray(b)
    if b.ndim == 2 and b.shape[1] == 1:
        b = np.ravel(b)
    return _factors(A).solve_once(b)


@_solver("splu")
def splu(A: Any, permc_spec: Any = None, *options: Any, **more: Any) -> Any:
    return _factors(A).factor()


@_solver("factorized")
def factorized(A: Any) -> Any:
    return _factors(A).factor().solve


@optional("scipy.sparse.linalg", "cg", "gmres", "bicgstab", "minres", "spilu", "lsqr")
def iterative(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: how far it iterates is data, and its result is exact only up to a tolerance."""
    todo = "Write spsolve(A, b), or the iteration itself with a fixed number of steps."
    raise b.unsupported(
        "iterative solvers of scipy.sparse.linalg are not supported: how often they iterate depends on data", todo
    )


@optional("scipy.sparse.linalg", "eigsh", "eigs", "svds")
def spectral(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: a few eigenvalues of a sparse matrix come from an iteration."""
    todo = "For a small matrix write np.linalg.eigh(A.toarray()), or eig or svd."
    raise b.unsupported("eigenvalues and singular values of a sparse matrix are not supported", todo)
