"""Linear algebra by factorisations: least squares, matrix powers, ranks and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, is_known, most
from sdfgad.parse.registry import in_numpy


@in_numpy(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The least-squares solution of least norm; differentiable where the rank is constant around the matrix.

    The sums of squared residuals assume full rank. Where the number of equations is data, equations of zeros follow.
    """
    if not is_known(a.shape[0]):
        a, b = _with_zeros(a), _with_zeros(b)
    a = array_like(a)
    a = a if np.issubdtype(a.dtype, np.inexact) else a.astype(float)
    m, n = a.shape
    cut = max(m, n) * float(np.finfo(a.dtype).eps) if rcond is None else rcond
    # A negative one stands for the machine precision.
    cut = float(np.finfo(a.dtype).eps) if cut < 0 else cut
    x = np.linalg.pinv(a, cut) @ b
    s = np.linalg.svd(a, compute_uv=False)
    rank = np.sum(s > cut * s[0])
    if m <= n:
        return x, np.zeros(0), rank, s
    left = b - a @ x
    squares = np.sum(np.real(left * np.conj(left)), axis=0, keepdims=b.ndim == 1)
    return x, squares, rank, s


def _with_zeros(x: Any) -> Any:
    """Rows whose number is data, and then rows of zeros, as many as there may be."""
    whole = np.zeros((most(x.shape[0]), *x.shape[1:]), x.dtype)
    whole[: x.shape[0]] = x
    return whole


@in_numpy(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """Exponentiation by squaring, of the inverse if `n` is negative."""
    if n == 0:
        return np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    if n == 1:
        return a
    base = a if n > 0 else np.linalg.inv(a)
    left = abs(n)
    result: Any = None
    while left > 0:
        if left % 2 == 1:
            result = base if result is None else result @ base
        left = left // 2
        if left > 0:
            base = base @ base
    return result


@in_numpy(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Any:
    s = np.linalg.svd(A, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        return np.sum(s > _for_each(tol), axis=-1)
    cut = max(A.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else _for_each(rtol)
    return np.sum(s > cut * s[..., :1], axis=-1)


def _for_each(limit: Any) -> Any:
    """A limit for all matrices of a stack, or one for each."""
    return limit if np.ndim(limit) == 0 else array_like(limit)[..., None]


@in_numpy(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    if p is not None and p != 2:
        return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))
    s = np.linalg.svd(x, compute_uv=False)
    return s[..., 0] / s[..., -1]
