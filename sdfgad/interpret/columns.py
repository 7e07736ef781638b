"""Steps of linear algebra on stacks of column-major matrices by NumPy, for the interpreter: see `columns.h`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
KINDS: tuple[Callable[[Array], Array], ...] = (lambda a: a, lambda a: a.T, lambda a: np.conj(a.T))


def _stack(a: Array, *shape: int) -> Array:
    return np.reshape(a, (-1, *shape))


def lu_columns(a: Array, batch: int, n: int) -> tuple[Array, Array, Array]:
    """Factors with partial pivoting, exchanged rows from 1 on, and the first pivot that is 0, from 1 on."""
    lu, pivots, failed = np.array(_stack(a, n, n)), np.zeros((batch, n), np.int32), np.zeros(batch, np.int32)
    for number in range(batch):
        matrix = lu[number].T
        for k in range(n):
            best = k + int(np.argmax(np.abs(matrix[k:, k])))
            pivots[number, k] = best + 1
            matrix[[k, best]] = matrix[[best, k]]
            if matrix[k, k] == 0:
                failed[number] = failed[number] or k + 1
                continue
            matrix[k + 1 :, k] /= matrix[k, k]
            matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    stack = a.shape[:-2]
    return lu.reshape(a.shape), pivots.reshape(*stack, n), failed.reshape(stack)


def lu_solve_columns(lu: Array, pivots: Array, b: Array, batch: int, n: int, m: int, kind: int) -> Array:
    x = np.empty((batch, m, n), b.dtype)
    for number in range(batch):
        matrix, rows = _stack(lu, n, n)[number].T, np.arange(n)
        for k, pivot in enumerate(_stack(pivots, n)[number] - 1):
            rows[[k, pivot]] = rows[[pivot, k]]
        product = np.empty_like(matrix)
        product[rows] = (np.tril(matrix, -1) + np.eye(n)) @ np.triu(matrix)
        x[number] = np.linalg.solve(KINDS[kind](product), _stack(b, m, n)[number].T).T
    return x.reshape(b.shape)


def cholesky_columns(a: Array, batch: int, n: int) -> tuple[Array, int]:
    """Of row-major lower triangles."""
    lower = np.tril(a)
    return np.linalg.cholesky(lower + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))), 0


def upper_solve_columns(u: Array, b: Array, batch: int, n: int, m: int, kind: int) -> Array:
    x = np.empty((batch, m, n), b.dtype)
    for number in range(batch):
        upper = np.triu(_stack(u, n, n)[number].T)
        x[number] = np.linalg.solve(KINDS[kind](upper), _stack(b, m, n)[number].T).T
    return x.reshape(b.shape)


def hermitian_columns(a: Array, batch: int, n: int, is_upper: int) -> tuple[Array, Array, int]:
    w, v = np.linalg.eigh(np.swapaxes(a, -1, -2), "U" if is_upper else "L")
    return w, np.swapaxes(v, -1, -2), 0


def singular_columns(a: Array, batch: int, m: int, n: int, has_all: int) -> tuple[Array, Array, Array, int]:
    u, s, vh = np.linalg.svd(np.swapaxes(a, -1, -2), full_matrices=bool(has_all))
    return np.swapaxes(u, -1, -2), s, np.swapaxes(vh, -1, -2), 0


def qr_columns(a: Array, batch: int, m: int, n: int) -> tuple[Array, Array]:
    q, r = np.linalg.qr(np.swapaxes(a, -1, -2))
    whole = np.zeros(a.shape, a.dtype)
    whole[..., : min(m, n)] = np.swapaxes(r, -1, -2)
    return np.swapaxes(q, -1, -2), whole


COLUMNS: Mapping[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        lu_columns,
        lu_solve_columns,
        cholesky_columns,
        upper_solve_columns,
        hermitian_columns,
        singular_columns,
        qr_columns,
    )
}
