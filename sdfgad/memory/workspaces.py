"""Workspaces of library functions: what the headers of ``targets/cpu/include`` allocate while they run."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.ir.program import Call
from sdfgad.memory.allocation import Types, array
from sdfgad.memory.transforms import TRANSFORMS, transform_workspace


def workspace(call: Call) -> int:
    """An upper bound of the bytes that a library function allocates while it runs, and releases at its end."""
    if call.name in TRANSFORMS:
        return transform_workspace(call)
    made = WORKSPACE.get(call.name)
    return 0 if made is None else made(Types(call), *call.sizes)


def _factors(t: Types, n: int) -> int:
    return array(n * n, t.wide) + array(n, 4)


def _solve(t: Types, _batch: int, n: int, m: int) -> int:
    return _factors(t, n) + t.result(n * m)


def _solve_pullback(t: Types, _batch: int, n: int, m: int) -> int:
    return _factors(t, n) + 2 * t.result(n * m) + array(n * n, t.wide)


def _solve_banded(t: Types, n: int, low: int, high: int, m: int, _is_adjoint: int) -> int:
    rows = 4 if low == high == 1 else 2 * low + high + 1
    return array(rows * n, t.wide) + array(n, 4) + _columns(t, n, m)


def _columns(t: Types, n: int, m: int) -> int:
    return array(n * m, t.wide)


def _inverse(t: Types, _batch: int, n: int) -> int:
    return _factors(t, n) + t.result(n * n)


def _determinant(t: Types, _batch: int, n: int) -> int:
    return _factors(t, n)


def _cholesky(t: Types, _batch: int, n: int) -> int:
    return t.result(n * n)


def _cholesky_pullback(t: Types, _batch: int, n: int) -> int:
    return 2 * t.result(n * n) + array(min(n, BLOCK) ** 2, t.wide)


# LAPACK works on blocks of at most this many columns, and keeps one block's reflectors.
BLOCK = 64
REFLECTORS = (BLOCK + 1) * BLOCK


def _qr(t: Types, _batch: int, m: int, n: int) -> int:
    return array(m * n, t.wide) + array(min(m, n), t.wide) + array(max(m, n) * BLOCK, t.wide)


def _singular_values(t: Types, _batch: int, m: int, n: int) -> int:
    k = min(m, n)
    return _singular_vectors(t, m, n, k, k)


def _all_singular_vectors(t: Types, _batch: int, m: int, n: int) -> int:
    return _singular_vectors(t, m, n, m, n)


def _singular_vectors(t: Types, m: int, n: int, left: int, right: int) -> int:
    k, most = min(m, n), max(m, n)
    work = k * k + 3 * k + max((m + n) * BLOCK + REFLECTORS, 3 * k * k + 4 * k)
    wide = sum(array(size, t.wide) for size in (m * n, m * left, right * n, work))
    reals = array(k * max(5 * k + 5, 2 * most + 2 * k + 1), 8)
    return wide + reals + array(8 * k, 4) + t.real_result(k)


def _only_singular_values(t: Types, _batch: int, m: int, n: int) -> int:
    k, most = min(m, n), max(m, n)
    work = 10 * k + (m + n) * BLOCK + REFLECTORS
    reals = array(k * max(5 * k + 5, 2 * most + 2 * k + 1), 8)
    return (
        array(m * n, t.wide) + array(work, t.wide) + 2 * array(0, t.wide) + reals + array(8 * k, 4) + t.real_result(k)
    )


# Eigenvectors of triangular matrices are made in blocks of at most this many.
VECTORS = 128


def _eigen(t: Types, _batch: int, n: int) -> int:
    work = n + 2 * n * VECTORS + 2 * REFLECTORS
    return 2 * array(n * n, t.wide) + array(work, t.wide) + array(2 * n, 8) + array(n, 16)


def _symmetric_eigen(t: Types, _batch: int, n: int, _is_upper: int) -> int:
    is_complex, integers = t.wide > 8, 3 + 5 * n
    work = max(2 * n + n * n if is_complex else 1 + 6 * n + 2 * n * n, 2 * n + n * BLOCK)
    reals = 1 + 5 * n + 2 * n * n if is_complex else 0
    return array(n * n, t.wide) + array(work, t.wide) + array(reals, 8) + array(integers, 4) + t.real_result(n)


def _only_eigenvalues(t: Types, _batch: int, n: int) -> int:
    work = 3 * n + n * BLOCK + 2 * REFLECTORS
    return array(n * n, t.wide) + array(0, t.wide) + array(work, t.wide) + array(2 * n, 8) + array(n, 16)


def _only_symmetric_eigenvalues(t: Types, _batch: int, n: int, _is_upper: int) -> int:
    reals = n if t.wide > 8 else 0
    work = 2 * n + 1 + n * BLOCK
    return array(n * n, t.wide) + array(work, t.wide) + array(reals, 8) + array(1, 4) + t.real_result(n)


def _pseudo_inverse(t: Types, _batch: int, m: int, n: int, _cut: int) -> int:
    k = min(m, n)
    factors = array(m * k, t.item) + array(k * n, t.item) + array(k, t.real)
    return factors + _singular_values(t, 1, m, n)


def _argsort(t: Types, _batch: int, n: int) -> int:
    # A value and its place; complex numbers take more than 8 bytes.
    entry = max(t.item, 8) + 8
    return array(n, entry) + array((n + 1) // 2, entry)


WORKSPACE: dict[str, Callable[..., int]] = {
    "solve": _solve,
    "solve_pullback": _solve_pullback,
    "solve_banded": _solve_banded,
    "solve_factored_band": lambda t, n, _low, _high, m, _is_adjoint: _columns(t, n, m),
    "lu": lambda t, n: array(n * n, t.wide),
    "inverse": _inverse,
    "pseudo_inverse": _pseudo_inverse,
    "regular": _determinant,
    "determinant": _determinant,
    "sign_log_determinant": _determinant,
    "cholesky": _cholesky,
    "cholesky_pullback": _cholesky_pullback,
    "qr": _qr,
    "singular_values": _singular_values,
    "all_singular_vectors": _all_singular_vectors,
    "eigen": _eigen,
    "symmetric_eigen": _symmetric_eigen,
    "only_singular_values": _only_singular_values,
    "only_eigenvalues": _only_eigenvalues,
    "only_symmetric_eigenvalues": _only_symmetric_eigenvalues,
    "argsort": _argsort,
}
