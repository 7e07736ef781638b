"""Functions of scipy.linalg: those that NumPy has, too, factorisations with their solvers, and structured systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.factored import banded_solution, factors, solution_by_factors
from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import optional


def _linalg(name: str) -> Any:
    return optional("scipy.linalg", name, is_definition=True)


@_linalg("inv")
def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return np.linalg.inv(a)


@_linalg("det")
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """In double precision, as in SciPy."""
    return np.linalg.det(array_like(a).astype(np.complex128 if np.iscomplexobj(a) else np.float64))


@_linalg("pinv")
def pinv(a: Any) -> Any:
    return np.linalg.pinv(a, max(a.shape) * float(np.finfo(a.dtype).eps))


@_linalg("norm")
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any:
    return np.linalg.norm(a, ord, axis, keepdims)


@_linalg("svdvals")
def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return np.linalg.svd(a, compute_uv=False)


@_linalg("svd")
def svd(
    a: Any, full_matrices: Any = True, compute_uv: Any = True, overwrite_a: Any = False, check_finite: Any = True
) -> Any:
    return np.linalg.svd(a, full_matrices, compute_uv)


@_linalg("lstsq")
def lstsq(a: Any, b: Any, cond: Any = None) -> Any:
    return np.linalg.lstsq(a, b, float(np.finfo(a.dtype).eps) if cond is None else cond)


@_linalg("qr")
def qr(a: Any, overwrite_a: Any = False, lwork: Any = None, mode: Any = "full") -> Any:
    if mode == "economic" or (mode == "full" and a.shape[0] <= a.shape[1]):
        return np.linalg.qr(a)
    raise ValueError("this mode of scipy.linalg.qr is not supported: pass mode='economic'")


@_linalg("eigvalsh")
def eigvalsh(a: Any, b: Any = None, *, lower: Any = True) -> Any:
    return eigh(a, b, lower=lower)[0]


@_linalg("eigh")
def eigh(a: Any, b: Any = None, *, lower: Any = True, eigvals_only: Any = False) -> Any:
    """Of a generalised problem, by the Cholesky factor of the second matrix."""
    side: Any = "L" if lower else "U"
    if b is None:
        values, vectors = np.linalg.eigh(a, side)
    else:
        factor = np.linalg.inv(np.linalg.cholesky(_from_triangle(b, lower)))
        values, vectors = np.linalg.eigh(factor @ _from_triangle(a, lower) @ np.conjugate(factor.T))
        vectors = np.conjugate(factor.T) @ vectors
    return values if eigvals_only else (values, vectors)


@_linalg("cholesky")
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return np.linalg.cholesky(a) if lower else np.linalg.cholesky(a, upper=True)


@_linalg("solve")
def solve(
    a: Any,
    b: Any,
    lower: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    assume_a: Any = None,
    transposed: Any = False,
) -> Any:
    """Of a matrix that is assumed to be symmetric, Hermitian or triangular, one triangle is read, as in SciPy."""
    a = array_like(a)
    if assume_a in ("lower triangular", "upper triangular"):
        return solve_triangular(a, b, 1 if transposed else 0, assume_a == "lower triangular")
    if assume_a in ("sym", "symmetric") and np.iscomplexobj(a):
        part = np.tril(a, -1) if lower else np.triu(a, 1)
        a = part + part.T + np.diag(np.diag(a))
    elif assume_a in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        a = _from_triangle(a, lower)
    elif assume_a not in (None, "gen", "general"):
        raise ValueError("this assume_a is not supported: leave it out")
    return np.linalg.solve(a.T if transposed else a, b)


def _from_triangle(a: Any, lower: Any) -> Any:
    """The Hermitian matrix of which one triangle is read."""
    part = np.tril(a, -1) if lower else np.triu(a, 1)
    return part + np.conjugate(part.T) + np.diag(np.diag(a))


@_linalg("solve_triangular")
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any:
    """Reads one triangle; it is solved as a general matrix."""
    a = array_like(a)
    if unit_diagonal:
        a = (np.tril(a, -1) if lower else np.triu(a, 1)) + np.eye(a.shape[0], dtype=a.dtype)
    else:
        a = np.tril(a) if lower else np.triu(a)
    if trans in (1, "T"):
        a = a.T
    if trans in (2, "C"):
        a = np.conjugate(a.T)
    return np.linalg.solve(a, b)


# --- factors for several right sides


class LU:
    """What ``lu_factor`` returns here: only ``lu_solve`` takes it. A derivative is one of the matrix."""

    def __init__(self, matrix: Any) -> None:
        # The factors are those of the matrix as it is now, also where it is updated later.
        self.matrix = np.copy(matrix)
        self.factors, self.exchanged = factors(self.matrix)

    def solve(self, b: Any, trans: Any) -> Any:
        is_turned = trans == 1 and np.iscomplexobj(self.matrix)
        right = np.conj(b) if is_turned else b
        kept = self.factors, self.exchanged
        if np.iscomplexobj(b) and not np.iscomplexobj(self.matrix):
            kept = factors(self.matrix.astype(np.complex128))
        x = solution_by_factors(*kept, right, 0 if trans == 0 else 1)
        x = x.astype(np.result_type(self.matrix, b, np.float32))
        return np.conj(x) if is_turned else x


@_linalg("lu_factor")
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return LU(array_like(a)), None


@_linalg("lu_solve")
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    made = lu_and_piv[0]
    if not isinstance(made, LU):
        raise ValueError("lu_solve takes what lu_factor returned: call lu_factor inside of the function, too")
    return made.solve(array_like(b), trans)


@_linalg("cho_factor")
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    return cholesky(a, lower), lower


@_linalg("cho_solve")
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    factor, lower = c_and_lower
    factor = np.tril(factor) if lower else np.conjugate(np.triu(factor).T)
    return np.linalg.solve(np.conjugate(factor.T), np.linalg.solve(factor, b))


# --- matrices of a structure


@_linalg("block_diag")
def block_diag(*arrs: Any) -> Any:
    blocks = [np.atleast_2d(array_like(one)) for one in arrs]
    rows, columns = sum([one.shape[0] for one in blocks]), sum([one.shape[1] for one in blocks])
    result = np.zeros((rows, columns), np.result_type(*[one.dtype for one in blocks]))
    i, j = 0, 0
    for one in blocks:
        result[i : i + one.shape[0], j : j + one.shape[1]] = one
        i, j = i + one.shape[0], j + one.shape[1]
    return result


@_linalg("toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    c = np.ravel(array_like(c))
    r = np.conjugate(c) if r is None else np.ravel(array_like(r))
    values = np.concatenate((np.flip(c), r[1:]))
    m, n = c.shape[0], r.shape[0]
    return values[np.arange(m - 1, -1, -1)[:, None] + np.arange(n)[None, :]]


@_linalg("hankel")
def hankel(c: Any, r: Any = None) -> Any:
    c = np.ravel(array_like(c))
    r = np.zeros_like(c) if r is None else np.ravel(array_like(r))
    return np.concatenate((c, r[1:]))[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])[None, :]]


@_linalg("circulant")
def circulant(c: Any) -> Any:
    n = c.shape[0]
    return c[(np.arange(n)[:, None] - np.arange(n)[None, :]) % n]


@_linalg("solve_banded")
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, check_finite: Any = True
) -> Any:
    ab, b = array_like(ab), array_like(b)
    low, high = (fixed_int(l_and_u[0]), fixed_int(l_and_u[1]))
    if ab.ndim != 2 or low + high + 1 != ab.shape[0]:
        raise ValueError("solve_banded takes l + u + 1 diagonals as the rows of a matrix")
    if ab.shape[1] != b.shape[0]:
        raise ValueError("the diagonals of a banded matrix have another length than the right side")
    return banded_solution(ab, b, low, high)


@optional("scipy.linalg.lapack", "dgtsv", is_definition=True)
def dgtsv(dl: Any, d: Any, du: Any, b: Any, *overwrite: Any, **keywords: Any) -> Any:
    """The solution, without the factors that LAPACK leaves of the diagonals."""
    n = fixed_int(array_like(d).shape[0])
    band = np.zeros((3, n))
    band[0, 1:] = du
    band[1] = d
    band[2, :-1] = dl
    return None, None, None, solve_banded((1, 1), band, b), 0


@_linalg("solveh_banded")
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, lower: Any = False, check_finite: Any = True
) -> Any:
    ab = array_like(ab)
    width, n = (fixed_int(ab.shape[0]) - 1, fixed_int(ab.shape[1]))
    full = np.zeros((2 * width + 1, n), ab.dtype)
    for k in range(width + 1):
        above = ab[k, : n - k] if lower else ab[width - k, k:]
        full[width - k, k:] = np.conjugate(above) if lower else above
        full[width + k, : n - k] = above if lower else np.conjugate(above)
    return solve_banded((width, width), full, b)


# --- functions of matrices


# The approximant is exact to rounding up to this norm.
MOST_SCALED = 5.37
PADE = (
    *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0),
    *(10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0),
)


@_linalg("expm")
def expm(A: Any) -> Any:
    """The exponential by scaling and squaring of the Padé approximant of order 13 (Higham, SIAM Journal on Matrix
    Analysis and Applications 26 (2005), 1179); the scaling is by fixed 2**-6, for norms up to 340: NaN beyond."""
    a = array_like(A)
    a = (a.astype(np.float64) if a.dtype.kind in "iub" else a) / 64.0
    one = np.eye(a.shape[-1], dtype=a.dtype)
    b = PADE
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    u = a @ odd
    v = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    result = np.linalg.solve(v - u, v + u)
    for _ in range(6):
        result = result @ result
    return np.where(np.max(np.sum(np.abs(a), axis=-2)) > MOST_SCALED, np.nan, result)
