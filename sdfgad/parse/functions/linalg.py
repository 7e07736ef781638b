"""Linear algebra: LAPACK's solvers and factorisations as library calls."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import BOOL, Expr, Int, Lin, Op
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions import parts
from sdfgad.parse.functions.grids import tril
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Index, Tensor, as_tensor, astype, cast


class _SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


class _QRResult(NamedTuple):
    Q: Any
    R: Any


class _SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


class _EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class _EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


def _matrix(b: Builder, a: Any, name: str, is_square: bool = True) -> tuple[Tensor, list[int], np.dtype[Any]]:
    """A stack of matrices in LAPACK's dtype, its shape, and the dtype of its real numbers."""
    a = stacked(b, a)
    sizes = [b.constant(extent) for extent in a.shape]
    if a.ndim < 2 or (is_square and sizes[-1] != sizes[-2]):
        kind = "square matrices" if is_square else "matrices"
        todo = f"Pass an array of shape {'(n, n)' if is_square else '(m, n)'}; NumPy raises here, too."
        raise ShapeMismatch(f"np.linalg.{name} takes {kind}, not an array of shape {tuple(sizes)}", b.where, todo)
    dtype = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    return astype(a, dtype), sizes, np.empty(0, dtype).real.dtype


def _batch(sizes: list[int]) -> int:
    return math.prod(sizes[:-2])


@function(np.linalg.solve)
def solve(b: Builder, a: Any, right: Any) -> Tensor:
    """Solve ``a @ x == right``; a right side of one dimension is a vector."""
    a, sizes, _ = _matrix(b, a, "solve")
    right = stacked(b, right)
    dtype = np.result_type(a.dtype, right.dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    is_vector = right.ndim == 1
    column = right.reindexed((*right.shape, Lin(1)), lambda p: p[:-1]) if is_vector else right
    stack = broadcast_shapes(b, a.shape[:-2], column.shape[:-2])
    wide_a = broadcast_to(b, astype(a, dtype), (*stack, *a.shape[-2:]))
    if not b.is_zero(column.shape[-2] - a.shape[-1]):
        raise ShapeMismatch(
            "np.linalg.solve: the right side has another number of rows",
            b.where,
            "Pass A of shape (n, n), and b of shape (n,) or (n, k).",
        )
    wide = broadcast_to(b, astype(column, dtype), (*stack, *column.shape[-2:]))
    shape = [b.constant(extent) for extent in wide.shape]
    (x,) = b.call("solve", [wide_a, wide], [(shape, dtype)], (_batch(shape), sizes[-1], shape[-1]))
    return x.reindexed(x.shape[:-1], lambda p: (*p, Lin(0))) if is_vector else x


def solve_pullback(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], bar: np.ndarray[Any, Any]) -> Any:
    """The cotangents of `a` and `b` from the cotangent `bar` of ``np.linalg.solve(a, b)``, without the solution."""
    b_bar = np.linalg.solve(np.conj(np.swapaxes(a, -1, -2)), bar)
    inner = np.linalg.solve(a, b @ np.conj(np.swapaxes(b_bar, -1, -2)))
    return -np.conj(np.swapaxes(inner, -1, -2)), b_bar


@function(solve_pullback)
def solve_pullback_handler(b: Builder, a: Any, right: Any, bar: Any) -> Any:
    a, sizes, _ = _matrix(b, a, "solve")
    inputs = [a, *(astype(as_tensor(side), a.dtype) for side in (right, bar))]
    shape = [b.constant(extent) for extent in inputs[1].shape]
    outputs = [(sizes, a.dtype), (shape, a.dtype)]
    return tuple(b.call("solve_pullback", inputs, outputs, (_batch(sizes), *shape[-2:])))


@function(np.linalg.inv)
def inv(b: Builder, a: Any) -> Tensor:
    a, sizes, _ = _matrix(b, a, "inv")
    return b.call("inverse", [a], [(sizes, a.dtype)], (_batch(sizes), sizes[-1]))[0]


_NOT_GIVEN: Any = object()


@function(np.linalg.pinv)
def pinv(b: Builder, a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN) -> Tensor:
    """The pseudo-inverse; differentiable where no singular value is at the cut-off."""
    a, sizes, real = _matrix(b, a, "pinv", is_square=hermitian)
    a = _of_lower_triangle(b, a) if hermitian else a
    cut = rcond if rcond is not None else 1e-15 if rtol is _NOT_GIVEN else rtol
    if cut is None:
        cut = max(sizes[-2:]) * float(np.finfo(real).eps)
    if not isinstance(cut, (int, float)):
        raise b.unsupported(
            "np.linalg.pinv takes only a cut-off that is a constant",
            "Write a number, rcond=1e-12, say, or leave it out.",
        )
    m, n = sizes[-2:]
    # Sizes are integers: the cut-off travels as its bits.
    bits = int(np.float64(cut).view(np.int64))
    return b.call("pseudo_inverse", [a], [((*sizes[:-2], n, m), a.dtype)], (_batch(sizes), m, n, bits))[0]


@function(np.linalg.det)
def det(b: Builder, a: Any) -> Tensor:
    a, sizes, _ = _matrix(b, a, "det")
    (d,) = b.call("determinant", [a], [(sizes[:-2], a.dtype)], (_batch(sizes), sizes[-1]))
    return d.result


@function(np.linalg.slogdet)
def slogdet(b: Builder, a: Any) -> Any:
    a, sizes, real = _matrix(b, a, "slogdet")
    outputs = [(sizes[:-2], a.dtype), (sizes[:-2], real)]
    results = b.call("sign_log_determinant", [a], outputs, (_batch(sizes), sizes[-1]))
    return _SlogdetResult(*(part.result for part in results))


@function(np.linalg.cholesky)
def cholesky(b: Builder, a: Any, *, upper: bool = False) -> Tensor:
    """The Cholesky factor; reads only the lower triangle, as NumPy does, or the upper one if `upper`."""
    a, sizes, _ = _matrix(b, a, "cholesky")
    a = _adjoint(b, a) if upper else a
    (lower,) = b.call("cholesky", [a], [(sizes, a.dtype)], (_batch(sizes), sizes[-1]))
    return _adjoint(b, lower) if upper else lower


def cholesky_pullback(low: np.ndarray[Any, Any], bar: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The cotangent of the lower triangle of ``low @ low.conj().T``, from that of `low`; real on the diagonal."""
    upper, one = np.conj(np.swapaxes(low, -1, -2)), np.eye(low.shape[-1], dtype=bool)
    part = np.tril(upper @ np.tril(bar))
    whole = np.where(one, np.real(part), part + np.conj(np.swapaxes(part, -1, -2)))
    whole = np.linalg.solve(upper, whole) @ np.linalg.inv(low)
    return np.where(one, 0.5 * np.real(whole), np.tril(whole))


@function(cholesky_pullback)
def cholesky_pullback_handler(b: Builder, low: Any, bar: Any) -> Tensor:
    low, sizes, _ = _matrix(b, low, "cholesky")
    inputs = [low, astype(as_tensor(bar), low.dtype)]
    return b.call("cholesky_pullback", inputs, [(sizes, low.dtype)], (_batch(sizes), sizes[-1]))[0]


def _adjoint(b: Builder, a: Tensor) -> Tensor:
    swapped = a.reindexed((*a.shape[:-2], a.shape[-1], a.shape[-2]), lambda p: (*p[:-2], p[-1], p[-2]))
    return elementwise(b, "conjugate", swapped) if a.dtype.kind == "c" else swapped


def _of_lower_triangle(b: Builder, a: Tensor) -> Tensor:
    """The Hermitian matrix that the lower triangle describes, which is all that NumPy reads of a Hermitian one."""
    whole = elementwise(b, "add", tril(b, a), _adjoint(b, tril(b, a, -1)))
    if a.dtype.kind != "c":
        return whole

    def element(p: Index) -> Expr:
        is_diagonal = Op("equal", (Int(p[-2]), Int(p[-1])), BOOL)
        kept = Op("real", (a.element(p),), np.empty(0, a.dtype).real.dtype)
        return Op("select", (is_diagonal, cast(kept, a.dtype), whole.element(p)), a.dtype)

    return Tensor(a.shape, a.dtype, element)


@function(np.linalg.qr)
def qr(b: Builder, a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "r"):
        raise b.unsupported(f"np.linalg.qr with mode={mode!r} is not supported", "Leave `mode` out: np.linalg.qr(a).")
    a, sizes, _ = _matrix(b, a, "qr", is_square=False)
    m, n = sizes[-2:]
    k = min(m, n)
    outputs = [((*sizes[:-2], m, k), a.dtype), ((*sizes[:-2], k, n), a.dtype)]
    q, r = b.call("qr", [a], outputs, (_batch(sizes), m, n))
    return r if mode == "r" else _QRResult(q, r)


@function(np.linalg.svd)
def svd(b: Builder, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    a, sizes, real = _matrix(b, a, "svd", is_square=hermitian)
    if hermitian and compute_uv:
        what = "np.linalg.svd of a Hermitian matrix with its vectors is not supported"
        raise b.unsupported(what, "Write np.linalg.eigh(a), or leave `hermitian` out.")
    a = _of_lower_triangle(b, a) if hermitian else a
    m, n = sizes[-2:]
    k = min(m, n)
    name, left, right = "singular_values", k, k
    if compute_uv and full_matrices and m != n:
        name, left, right = "all_singular_vectors", m, n
    outputs = [((*sizes[:-2], m, left), a.dtype), ((*sizes[:-2], k), real), ((*sizes[:-2], right, n), a.dtype)]
    u, s, vh = b.call(name, [a], outputs, (_batch(sizes), m, n))
    return _SVDResult(u, s, vh) if compute_uv else s


@function(np.linalg.svdvals)
def svdvals(b: Builder, x: Any) -> Any:
    return svd(b, x, compute_uv=False)


@function(np.linalg.eigh)
def eigh(b: Builder, a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors; reads only the lower triangle, as NumPy does, or the upper one if UPLO is 'U'."""
    a, sizes, real = _matrix(b, a, "eigh")
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise b.unsupported(f"np.linalg.eigh with UPLO={UPLO!r} is not known", "Use 'L' or 'U'.")
    outputs = [(sizes[:-1], real), (sizes, a.dtype)]
    return _EighResult(*b.call("symmetric_eigen", [a], outputs, (_batch(sizes), sizes[-1], int(UPLO.upper() == "U"))))


@function(np.linalg.eigvalsh)
def eigvalsh(b: Builder, a: Any, UPLO: str = "L") -> Any:
    return eigh(b, a, UPLO)[0]


@function(np.linalg.eig)
def eig(b: Builder, a: Any) -> Any:
    """Eigenvalues and right eigenvectors, which are complex (see `eigenvalue_uses`).

    Versions of LAPACK differ in the signs of a real matrix's complex eigenvectors.
    """
    a, sizes, _ = _matrix(b, a, "eig")
    outputs = [(shape, np.result_type(a.dtype, np.complex64)) for shape in (sizes[:-1], sizes)]
    w, v = b.call("eigen", [a], outputs, (_batch(sizes), sizes[-1]))
    if a.dtype.kind == "f" and math.prod(sizes) == 0:
        return _EigResult(parts.real(b, w), parts.real(b, v))
    return _EigResult(w, v)


@function(np.linalg.eigvals)
def eigvals(b: Builder, a: Any) -> Any:
    return eig(b, a)[0]
