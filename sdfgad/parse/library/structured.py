"""Structured matrices of scipy.linalg, further functions of matrices, and products of stacks with vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, is_sequence
from sdfgad.parse.library.matrix_equations import coshm, cosm, sinhm, sinm
from sdfgad.parse.library.solvers import toeplitz
from sdfgad.parse.registry import definitions, in_numpy

_linalg = definitions("scipy.linalg")


def _toeplitz_of(c_or_cr: Any) -> Any:
    """The matrix of a first column, or of a first column and a first row."""
    if is_sequence(c_or_cr):
        return toeplitz(c_or_cr[0], c_or_cr[1])
    return toeplitz(c_or_cr)


@_linalg("solve_toeplitz")
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any:
    """As a general matrix: stable where Levinson's recursion is not."""
    matrix, b = _toeplitz_of(c_or_cr), array_like(b)
    kind = np.result_type(matrix.dtype, b.dtype, np.float64)
    return np.linalg.solve(matrix.astype(kind), b.astype(kind))


@_linalg("matmul_toeplitz")
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    matrix, x = _toeplitz_of(c_or_cr), array_like(x)
    kind = np.result_type(matrix.dtype, x.dtype, np.float64)
    return matrix.astype(kind) @ x.astype(kind)


@_linalg("convolution_matrix")
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    """The matrix that convolves a vector of n elements with `a`."""
    a, n = array_like(a), fixed_int(n)
    if a.ndim != 1 or mode not in ("full", "same", "valid"):
        raise ValueError("convolution_matrix takes a vector, and the mode 'full', 'same' or 'valid'")
    m = fixed_int(a.shape[0])
    zeros = np.zeros(n - 1, a.dtype)
    whole = toeplitz(np.concatenate((a, zeros)), np.concatenate((a[:1], zeros)))
    if mode == "full":
        return whole
    count = max(m, n) if mode == "same" else max(m, n) - min(m, n) + 1
    first = (min(m, n) - 1) // 2 if mode == "same" else min(m, n) - 1
    return whole[first : first + count]


@_linalg("tanm")
def tanm(A: Any) -> Any:
    return np.linalg.solve(cosm(A), sinm(A))


@_linalg("tanhm")
def tanhm(A: Any) -> Any:
    return np.linalg.solve(coshm(A), sinhm(A))


if hasattr(np, "matvec"):

    @in_numpy(np.matvec)
    def matvec(x1: Any, x2: Any, /) -> Any:
        return np.sum(array_like(x1) * array_like(x2)[..., None, :], axis=-1)

    @in_numpy(np.vecmat)
    def vecmat(x1: Any, x2: Any, /) -> Any:
        """Of complex numbers, of the conjugate vector."""
        return np.sum(np.conj(array_like(x1))[..., :, None] * array_like(x2), axis=-2)
