"""Matrix equations and functions of scipy.linalg: of Sylvester, Lyapunov and Riccati, square roots, exponentials.

Linear equations are solved by Kronecker products, as SciPy's discrete Lyapunov solver does for small matrices; so
matrices are limited in size. Others are solved by two Newton steps from a solution by eigenvectors: as a step doubles
the order of an error, derivatives are right up to the third, though the first guess has none (Griewank and Walther,
Evaluating Derivatives, 2nd edition (2008), section 15.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.functions.special import held
from sdfgad.parse.functions.truth import must_hold
from sdfgad.parse.library.solvers import expm
from sdfgad.parse.registry import optional

# An unknown matrix has at most so many elements: the system of equations has their square.
MOST_UNKNOWNS = 32 * 32


def _linalg(*names: str) -> Any:
    return optional("scipy.linalg", *names, is_definition=True)


def _floating(*arrays: Any) -> Any:
    """The arrays as matrices of one floating dtype."""
    kind = np.result_type(np.float32, *[array_like(one).dtype for one in arrays])
    return [array_like(one).astype(kind) for one in arrays]


def _require_small(count: Any) -> None:
    if fixed_int(count) > MOST_UNKNOWNS:
        raise ValueError("matrix equations of more than 1,024 unknowns are not supported: write an iteration")


# --- linear equations


@_linalg("solve_sylvester")
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Sylvester's equation ``a @ x + x @ b == q``."""
    a, b, q = _floating(a, b, q)
    m, n = a.shape[0], b.shape[0]
    _require_small(m * n)
    system = np.kron(a, np.eye(n, dtype=a.dtype)) + np.kron(np.eye(m, dtype=a.dtype), b.T)
    return np.reshape(np.linalg.solve(system, np.ravel(q)), (m, n))


@_linalg("solve_continuous_lyapunov", "solve_lyapunov")
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """Lyapunov's equation ``a @ x + x @ a.conj().T == q``."""
    return solve_sylvester(a, np.conj(array_like(a)).T, q)


@_linalg("solve_discrete_lyapunov")
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """Stein's equation ``a @ x @ a.conj().T - x + q == 0``."""
    a, q = _floating(a, q)
    n = a.shape[0]
    _require_small(n * n)
    system = np.eye(n * n, dtype=a.dtype) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), (n, n))


# --- others


def _held(x: Any) -> Any:
    """A matrix without a derivative."""
    return held(np.real(x)) + 1j * held(np.imag(x)) if np.iscomplexobj(x) else held(x)


def _require_solved(left: Any, terms: Any) -> None:
    """A check at run time that Newton's steps have arrived."""
    most = float(np.sqrt(np.finfo(left.dtype).eps))
    must_hold(
        np.max(np.abs(left)) <= most * np.max(np.abs(terms)),
        "a matrix equation is not solved, as a matrix has no basis of eigenvectors, or nearly so",
        "Write an iteration, such as X, Y = (X + inv(Y)) / 2, (Y + inv(X)) / 2 for a square root.",
    )


@_linalg("sqrtm")
def sqrtm(A: Any) -> Any:
    """The principal square root of a matrix without an eigenvalue 0; what is not solved so is an error at run time."""
    (a,) = _floating(A)
    n, is_real = a.shape[0], not np.iscomplexobj(a)
    _require_small(n * n)
    values, vectors = np.linalg.eig(a.astype(np.complex128))
    if is_real:
        size = np.max(np.abs(values))
        must_hold(
            (np.real(values) > 1e-14 * size) | (np.abs(np.imag(values)) > 1e-14 * size),
            "the square root of a real matrix with negative or zero eigenvalues is complex, or has no derivative",
            "Pass the matrix as complex numbers: a.astype(complex).",
        )
    guess = (vectors * np.sqrt(values)) @ np.linalg.inv(vectors)
    x = _held(np.real(guess) if is_real else guess).astype(a.dtype)
    for _ in range(2):
        x = x + solve_sylvester(x, x, a - x @ x)
    # From here on with a guess that is as good as a solution: derivatives are right only then.
    x = _held(x)
    _require_solved(x @ x - a, a)
    for _ in range(2):
        x = x + solve_sylvester(x, x, a - x @ x)
    return x


@_linalg("solve_continuous_are")
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    """The stabilising solution of Riccati's equation of real matrices, by Newton's method (Kleinman, IEEE Transactions
    on Automatic Control 13 (1968), 114).
    """
    if e is not None or s is not None:
        raise ValueError("solve_continuous_are with e or s is not supported: transform the matrices before")
    a, b, q, r = _floating(a, b, q, r)
    if np.iscomplexobj(a):
        raise ValueError("solve_continuous_are of complex matrices is not supported: write the iteration")
    n = fixed_int(a.shape[0])
    gain = b @ np.linalg.solve(r, b.T)
    whole = np.concatenate((np.concatenate((a, -gain), 1), np.concatenate((-q, -a.T), 1)), 0)
    values, vectors = np.linalg.eig(whole.astype(np.complex128))
    stable = vectors[:, np.argsort(np.real(values))[:n]]
    x = held(np.real(stable[n:] @ np.linalg.inv(stable[:n]))).astype(a.dtype)
    for k in range(4):
        if k == 2:
            x = held(x)
            turned = a.T @ x
            _require_solved(turned + turned.T - x @ gain @ x + q, np.stack([turned, q, x @ gain @ x]))
        closed = a - gain @ x
        x = solve_sylvester(closed.T, closed, -(q + x @ gain @ x))
    return 0.5 * (x + x.T)


@_linalg("expm_frechet")
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """The derivative of the exponential along E, as a block of that of a block triangular matrix."""
    a, e = _floating(A, E)
    n = fixed_int(a.shape[0])
    below = np.concatenate((np.zeros_like(a), a), 1)
    whole = expm(np.concatenate((np.concatenate((a, e), 1), below), 0))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


@_linalg("cosm")
def cosm(A: Any) -> Any:
    (a,) = _floating(A)
    if np.iscomplexobj(a):
        return 0.5 * (expm(1j * a) + expm(-1j * a))
    return np.real(expm(1j * a))


@_linalg("sinm")
def sinm(A: Any) -> Any:
    (a,) = _floating(A)
    if np.iscomplexobj(a):
        return -0.5j * (expm(1j * a) - expm(-1j * a))
    return np.imag(expm(1j * a))


@_linalg("coshm")
def coshm(A: Any) -> Any:
    (a,) = _floating(A)
    return 0.5 * (expm(a) + expm(-a))


@_linalg("sinhm")
def sinhm(A: Any) -> Any:
    (a,) = _floating(A)
    return 0.5 * (expm(a) - expm(-a))


@_linalg("logm", "fractional_matrix_power", "funm", "signm")
def logm(A: Any, *more: Any, **options: Any) -> Any:
    """Refused: there is no solver that has its derivative for all matrices."""
    raise ValueError(
        "this function of matrices is not supported: "
        "of a symmetric matrix write w, v = np.linalg.eigh(a) and (v * np.log(w)) @ v.T"
    )


# --- eigenvalues, and matrices of a structure


@_linalg("eigvals")
def eigvals(a: Any, b: Any = None, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    if b is not None:
        raise ValueError("generalised eigenvalues are not supported: write np.linalg.eigvals(np.linalg.solve(b, a))")
    values = np.linalg.eigvals(array_like(a))
    # SciPy makes complex numbers of real ones, too.
    return values.real + 1j * values.imag


@_linalg("eigvalsh_tridiagonal")
def eigvalsh_tridiagonal(d: Any, e: Any, select: Any = "a") -> Any:
    if select != "a":
        raise ValueError("eigvalsh_tridiagonal takes all eigenvalues: leave select out, and take a part of them")
    d, e = (array_like(d), array_like(e))
    return np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))


@_linalg("pinvh")
def pinvh(a: Any) -> Any:
    a = array_like(a)
    return np.linalg.pinv(a, max(a.shape) * float(np.finfo(a.dtype).eps), True)


@_linalg("companion")
def companion(a: Any) -> Any:
    a = array_like(a)
    n = fixed_int(a.shape[0]) - 1
    return np.concatenate((np.reshape(-a[1:] / a[0], (1, n)), np.eye(n - 1, n, dtype=a.dtype)), axis=0)


@_linalg("khatri_rao")
def khatri_rao(a: Any, b: Any) -> Any:
    a, b = (array_like(a), array_like(b))
    return np.reshape(a[:, None, :] * b[None, :, :], (a.shape[0] * b.shape[0], a.shape[1]))


@_linalg("solve_circulant")
def solve_circulant(c: Any, b: Any) -> Any:
    """By Fourier transforms, of vectors."""
    c, b = (array_like(c), array_like(b))
    if c.ndim != 1 or b.ndim != 1:
        raise ValueError("solve_circulant is only supported of two vectors: loop over the columns")
    x = np.fft.ifft(np.fft.fft(b) / np.fft.fft(c))
    return x if np.iscomplexobj(c) or np.iscomplexobj(b) else np.real(x)
