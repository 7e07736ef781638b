"""Systems of equations of scipy.sparse.linalg: by a banded factorisation in the order that makes the band narrow.

Solvers that iterate in SciPy are direct here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.factored import banded_factors, banded_solution, solution_by_band
from sdfgad.parse.functions.facts import is_known
from sdfgad.parse.functions.special import held, root_of_squares
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


@_solver("spsolve_triangular")
def spsolve_triangular(
    A: Any, b: Any, lower: Any = True, overwrite_A: Any = False, overwrite_b: Any = False, unit_diagonal: Any = False
) -> Any:
    if unit_diagonal:
        raise NotImplementedError(
            "spsolve_triangular with unit_diagonal is not supported: write spsolve(A + scipy.sparse.eye(n), b)"
        )
    return _factors(A).solve_once(np.asarray(b))


# --- solvers that iterate in SciPy

# SciPy's own tolerance, up to which its result is that of a direct solution.
USUAL_TOLERANCE = 1e-5


def _direct(A: Any, b: Any, rtol: Any, maxiter: Any, callback: Any) -> Any:
    """The exact solution, which SciPy's iteration approximates up to its tolerance, and 0 for success.

    It does not depend on the first guess, or on a preconditioner, and its gradient is that of the exact solution.
    """
    if maxiter is not None or callback is not None:
        raise NotImplementedError(
            "an iterative solver with maxiter or callback is not supported, as the exact solution is computed instead: "
            "leave them out, or write the steps of the iteration as a loop"
        )
    if not is_known(rtol) or rtol > USUAL_TOLERANCE:
        raise NotImplementedError(
            "an iterative solver with rtol above 1e-5 is not supported, as the exact solution is computed instead: "
            "write spsolve(A, b), or the steps of the iteration as a loop"
        )
    b = np.asarray(b)
    x = _factors(A).solve_once(b if b.ndim == 1 else np.ravel(b))
    return x, 0


@optional("scipy.sparse.linalg", "cg", "bicg", "bicgstab", "cgs", "qmr", "tfqmr", is_definition=True, static=False)
def cg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, M1: Any = None, M2: Any = None
) -> Any:  # fmt: skip
    return _direct(A, b, rtol, maxiter, callback)


@optional("scipy.sparse.linalg", "gmres", "lgmres", is_definition=True, static=False)
def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, restart: Any = None, maxiter: Any = None,
    M: Any = None, callback: Any = None, callback_type: Any = None
) -> Any:  # fmt: skip
    return _direct(A, b, rtol, maxiter, callback)


@optional("scipy.sparse.linalg", "minres", is_definition=True, static=False)
def minres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, shift: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, show: Any = False, check: Any = False
) -> Any:  # fmt: skip
    if is_known(shift) and shift == 0:
        return _direct(A, b, rtol, maxiter, callback)
    raise NotImplementedError("minres with a shift is not supported: write spsolve(A - shift * eye(n), b)")


@optional("scipy.sparse.linalg", "spilu", "lsqr", "lsmr", "gcrotmk", static=False)
def iterative(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: what it computes depends on how far it goes."""
    todo = "Write spsolve(A, b) or splu(A), or the iteration itself with a fixed number of steps."
    raise b.unsupported("this solver of scipy.sparse.linalg is not supported: how far it goes depends on data", todo)


# --- functions of matrices


@optional("scipy.sparse.linalg", "norm", is_definition=True, static=False)
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Frobenius norms, 1-norms and infinity norms."""
    if not isinstance(x, Sparse):
        raise NotImplementedError("scipy.sparse.linalg.norm takes a sparse matrix: write np.linalg.norm(x)")
    size = abs(x)
    if axis is None and ord in (None, "fro", "f"):
        return root_of_squares((size.multiply(size)).sum())
    if axis is None and ord in (1, np.inf):
        return np.max(np.ravel(_sums(size, 0 if ord == 1 else 1)))
    if axis in (0, 1, -1) and ord in (None, 2):
        return root_of_squares(_sums(size.multiply(size), axis))
    if axis in (0, 1, -1) and ord == 1:
        return _sums(size, axis)
    raise NotImplementedError("this norm of a sparse matrix is not supported: write np.linalg.norm(A.toarray(), ord)")


def _sums(matrix: Any, axis: Any) -> Any:
    return np.ravel(matrix.sum(axis=axis) if matrix.is_array else matrix.sum(axis=axis).A1)


# With as many terms the Taylor series of the exponential is exact to rounding for norms up to MOST_NORM:
# MOST_NORM ** 31 / 31! is 9e-18.
TERMS = 30
MOST_NORM = 3.5


@optional("scipy.sparse.linalg", "expm_multiply", is_definition=True, static=False)
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    """The action of the matrix exponential, by Taylor series in steps of bounded 1-norm, of the matrix with its mean
    eigenvalue subtracted (Al-Mohy and Higham, SIAM Journal on Scientific Computing 33 (2011), 488).
    """
    if start is not None or stop is not None or num is not None:
        raise NotImplementedError(
            "expm_multiply over an interval is not supported: write a loop of x = expm_multiply(A * dt, x)"
        )
    n, kind = A.shape[0], np.result_type(A.dtype, B.dtype, np.float32)
    mean = np.sum(A.diagonal()) / n
    lengths = _sums(abs(A), 0) if isinstance(A, Sparse) else np.sum(np.abs(A), axis=0)
    # One step at least, also of a matrix of zeros: its derivative is none.
    steps = 1 + int(np.floor(held(np.max(lengths) + abs(mean)) / MOST_NORM))
    f = B.astype(kind)
    for _ in range(steps):
        term = f
        for k in range(1, TERMS + 1):
            term = (A @ term - mean * term) / (steps * k)
            f = f + term
        f = f * np.exp(mean / steps)
    return f


@optional("scipy.sparse.linalg", "eigsh", "eigs", "svds")
def spectral(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: a few eigenvalues of a sparse matrix come from an iteration."""
    todo = "For a small matrix write np.linalg.eigh(A.toarray()), or eig or svd."
    raise b.unsupported("eigenvalues and singular values of a sparse matrix are not supported", todo)
