"""Systems of equations by LU factors that are kept for several right sides, and banded ones, as library calls.

Factors are opaque: only calls read them, and their tangents and cotangents are those of the matrix. So is what the
interpreter has instead of them. Those of a band have no derivative: the call that solves with them takes the band, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor, as_tensor, astype

Sizes = tuple[int, ...]


def factors(a: Any) -> Any:
    """The factors of a matrix, and the rows that were exchanged."""
    return a, np.zeros(a.shape[0], np.int32)


@function(factors)
def factors_call(b: Builder, a: Any) -> tuple[Tensor, ...]:
    _, (a,) = _in_double(a)
    n = b.constant(a.shape[0])
    return tuple(b.call("factor", [a], [((n, n), a.dtype), ((n,), np.dtype(np.int32))], (n,)))


def solution_by_factors(lu: Any, exchanged: Any, b: Any, is_adjoint: int = 0) -> Any:
    """The solution of ``a @ x == b``, or of ``a.conj().T @ x == b``, by what `factors` returned for `a`.

    Where `b` is complex, so is the matrix that was factored.
    """
    return np.linalg.solve(np.conj(lu.T) if is_adjoint else lu, b)


@function(solution_by_factors)
def solution_by_factors_call(b: Builder, lu: Any, exchanged: Any, right: Any, is_adjoint: Any = 0) -> Tensor:
    right = astype(as_tensor(right), lu.dtype)
    is_vector = right.ndim == 1
    column = right.reindexed((*right.shape, Lin(1)), lambda p: p[:-1]) if is_vector else right
    shape = [b.constant(extent) for extent in column.shape]
    sizes = (*shape, b.constant(is_adjoint))
    (x,) = b.call("solve_factored", [lu, exchanged, column], [(shape, lu.dtype)], sizes)
    return x.reindexed(x.shape[:-1], lambda p: (*p, Lin(0))) if is_vector else x


def inverse_by_factors(lu: Any, exchanged: Any) -> Any:
    """The inverse of a matrix, by what `factors` returned."""
    return np.linalg.inv(lu)


@function(inverse_by_factors)
def inverse_by_factors_call(b: Builder, lu: Any, exchanged: Any) -> Tensor:
    n = b.constant(lu.shape[0])
    return b.call("inverse_factored", [lu, exchanged], [((n, n), lu.dtype)], (n,))[0]


def banded_solution(ab: Any, b: Any, low: int, high: int, is_adjoint: int = 0) -> Any:
    """The solution of ``A @ x == b``, or of ``A.conj().T @ x == b``, for the diagonals of A from the uppermost one.

    Args:
        ab: ``ab[high + i - j, j]`` is ``A[i, j]``; of shape (low + high + 1, n).
        b: of shape (n,) or (n, m).
        low, high: the numbers of diagonals below and above the main one.

    Raises:
        LinAlgError: A is singular.
    """
    n = ab.shape[1]
    i, j = np.indices((n, n))
    inside = (i - j <= low) & (j - i <= high)
    dense = np.where(inside, ab[np.clip(high + i - j, 0, low + high), j], 0.0)
    return np.linalg.solve(np.conj(dense.T) if is_adjoint else dense, b)


@function(banded_solution)
def banded_solution_call(b: Builder, ab: Any, right: Any, low: Any, high: Any, is_adjoint: Any = 0) -> Tensor:
    dtype, (ab, right) = _in_double(ab, right)
    shape, sizes = _sizes_of_band(b, right, low, high, is_adjoint)
    return astype(b.call("solve_banded", [ab, right], [(shape, ab.dtype)], sizes)[0], dtype)


def banded_factors(ab: Any, low: int, high: int) -> Any:
    """The factors of a matrix in LAPACK's layout and the rows that were exchanged; only compiled code has them."""
    return None, None


@function(banded_factors)
def banded_factors_call(b: Builder, ab: Any, low: Any, high: Any) -> tuple[Tensor, ...]:
    _, (ab,) = _in_double(ab)
    n, low, high = b.constant(ab.shape[1]), b.constant(low), b.constant(high)
    outputs = [((n, 4 if low == high == 1 else 2 * low + high + 1), ab.dtype), ((n,), np.dtype(np.int32))]
    return tuple(b.call("factor_banded", [ab], outputs, (n, low, high)))


def solution_by_band(ab: Any, factors: Any, exchanged: Any, b: Any, low: int, high: int, is_adjoint: int = 0) -> Any:
    """`banded_solution`, by what `banded_factors` returned."""
    return banded_solution(ab, b, low, high, is_adjoint)


@function(solution_by_band)
def solution_by_band_call(
    b: Builder, ab: Any, factors: Any, exchanged: Any, right: Any, low: Any, high: Any, is_adjoint: Any = 0
) -> Tensor:
    # The factors are of the matrix alone, which may be real where the right side is complex.
    dtype, (ab, right) = _in_double(ab, right)
    if ab.dtype != factors.dtype:
        return banded_solution_call(b, ab, right, low, high, is_adjoint)
    shape, sizes = _sizes_of_band(b, right, low, high, is_adjoint)
    inputs = [ab, factors, exchanged, right]
    return astype(b.call("solve_factored_band", inputs, [(shape, ab.dtype)], sizes)[0], dtype)


def _in_double(*tensors: Any) -> tuple[np.dtype[Any], list[Tensor]]:
    """The dtype of the result, and the tensors in double precision."""
    tensors = tuple(map(as_tensor, tensors))
    dtype = np.result_type(*(tensor.dtype for tensor in tensors))
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    double = np.result_type(dtype, np.float64)
    return dtype, [astype(tensor, double) for tensor in tensors]


def _sizes_of_band(
    b: Builder, right: Tensor, low: Any, high: Any, is_adjoint: Any
) -> tuple[list[int], tuple[int, ...]]:
    """The shape of the right side, and the sizes of the call."""
    shape = [b.constant(extent) for extent in right.shape]
    m = shape[1] if len(shape) > 1 else 1
    return shape, (shape[0], b.constant(low), b.constant(high), m, b.constant(is_adjoint))


def band_of(left: Any, right: Any, low: Any, high: Any) -> Any:
    """The diagonals of ``left @ right.conj().T`` for matrices of shape (n, m), or for vectors."""
    left, right = np.reshape(left, (left.shape[0], -1)), np.reshape(right, (right.shape[0], -1))
    n, m = left.shape
    above, below = np.zeros((high, m), left.dtype), np.zeros((low, m), left.dtype)
    padded = np.concatenate((above, left, below))
    rows = np.arange(low + high + 1)[:, None] + np.arange(n)[None, :]
    return np.sum(padded[rows] * np.conj(right), axis=-1)
