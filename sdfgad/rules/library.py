"""Adjoints of library calls, said in NumPy.

A rule takes the inputs, the outputs and the outputs' cotangents (None for one that nothing depends on), and as many
of the last sizes as it has further parameters; it returns the cotangents of the inputs. Matrices are the last two
axes. Formulas: Giles, "Collected matrix derivative results for forward and reverse mode AD" (2008), and for complex
matrices with the inner product Re tr(X^H Y).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.parse.functions.factored import (
    band_of,
    banded_solution,
    inverse_by_factors,
    solution_by_band,
    solution_by_factors,
)
from sdfgad.parse.functions.fourier import axis_of, half_transform, real_transform, transform
from sdfgad.parse.functions.linalg import cholesky_pullback, solve_pullback
from sdfgad.rules import spectral
from sdfgad.rules.spectral import adjoint

CallRule = Callable[..., Any]
CALL_RULES: dict[str, CallRule] = {}


def call_rule(name: str) -> Callable[[CallRule], CallRule]:
    """Register the rule of a library function."""

    def register(rule: CallRule) -> CallRule:
        CALL_RULES[name] = rule
        return rule

    return register


for _rule in (spectral.symmetric_eigen, spectral.eigen, spectral.singular_values, spectral.all_singular_vectors):
    call_rule(_rule.__name__)(_rule)


@call_rule("solve")
def solve(a: Any, b: Any, x: Any, x_bar: Any) -> Any:
    b_bar = np.linalg.solve(adjoint(a), x_bar)
    return -(b_bar @ adjoint(x)), b_bar


def solve_by_operands(a: Any, b: Any, x: Any, x_bar: Any) -> Any:
    """The same without the solution: ``x @ adjoint(b_bar)`` is the solution for ``b @ adjoint(b_bar)``."""
    return solve_pullback(a, b, x_bar)


def is_wide(batch: int, n: int, m: int) -> bool:
    """Whether there are more right-hand sides than unknowns."""
    return m > n


@call_rule("solve_pullback")
def pullback_of_solve(a: Any, b: Any, bar: Any, a_bar: Any, b_bar: Any, a_2: Any, b_2: Any) -> Any:
    """Of ``b_bar = solve(adjoint(a), bar)`` and ``a_bar = -b_bar @ adjoint(solve(a, b))``, with cotangents a_2, b_2."""
    x = np.linalg.solve(a, b)
    through_a = np.zeros_like(b) if a_2 is None else -(a_2 @ x)
    through_b = np.zeros_like(b) if b_2 is None else b_2
    bar_2 = np.linalg.solve(a, through_a + through_b)
    right = -(b_bar @ adjoint(bar_2))
    if a_2 is None:
        return right, None, bar_2
    of_b = np.linalg.solve(adjoint(a), -(adjoint(a_2) @ b_bar))
    return right - of_b @ adjoint(x), of_b, bar_2


@call_rule("solve_banded")
def solve_banded(ab: Any, b: Any, x: Any, x_bar: Any, low: Any, high: Any, m: Any, is_adjoint: Any) -> Any:
    b_bar = banded_solution(ab, x_bar, low, high, 1 - is_adjoint)
    return -(band_of(x, b_bar, low, high) if is_adjoint else band_of(b_bar, x, low, high)), b_bar


@call_rule("inverse_factored")
def inverse_factored(lu: Any, rows: Any, y: Any, y_bar: Any) -> Any:
    return inverse(lu, y, y_bar), None


@call_rule("factor")
def factor(a: Any, lu: Any, rows: Any, lu_bar: Any, rows_bar: Any) -> Any:
    """Factors are opaque: their cotangent is that of the matrix."""
    return lu_bar


@call_rule("solve_factored")
def solve_factored(lu: Any, rows: Any, b: Any, x: Any, x_bar: Any, is_adjoint: Any) -> Any:
    b_bar = solution_by_factors(lu, rows, x_bar, 1 - is_adjoint)
    return -(x @ adjoint(b_bar) if is_adjoint else b_bar @ adjoint(x)), None, b_bar


def solve_factored_by_operands(lu: Any, rows: Any, b: Any, x: Any, x_bar: Any, is_adjoint: Any) -> Any:
    """The same without the solution, as above."""
    b_bar = solution_by_factors(lu, rows, x_bar, 1 - is_adjoint)
    product = solution_by_factors(lu, rows, b @ adjoint(b_bar), is_adjoint)
    return -(product if is_adjoint else adjoint(product)), None, b_bar


def is_wide_by_factors(n: int, m: int, is_adjoint: int) -> bool:
    return m > n


# Rules that do without the outputs, and for which of the last sizes of a call they take less than making these again.
OPERAND_RULES: dict[str, tuple[CallRule, Callable[..., bool]]] = {
    "solve": (solve_by_operands, is_wide),
    "solve_factored": (solve_factored_by_operands, is_wide_by_factors),
}


@call_rule("solve_factored_band")
def solve_factored_band(
    ab: Any, lu: Any, rows: Any, b: Any, x: Any, x_bar: Any, low: Any, high: Any, m: Any, is_adjoint: Any
) -> Any:
    b_bar = solution_by_band(ab, lu, rows, x_bar, low, high, 1 - is_adjoint)
    ab_bar = -(band_of(x, b_bar, low, high) if is_adjoint else band_of(b_bar, x, low, high))
    return ab_bar, None, None, b_bar


@call_rule("lu")
def lu(a: Any, factors: Any, exchanged: Any, factors_bar: Any, exchanged_bar: Any) -> Any:
    """Which rows are exchanged is constant; with P for it, ``P a == low @ high`` and ``P^H low^-H == a^-H high^H``.

    The change of ``low^-1 P a high^-1`` is that of `low` below its diagonal, and that of `high` from there on.
    """
    low, high = np.tril(factors, -1) + np.eye(a.shape[0], dtype=factors.dtype), np.triu(factors)
    inner = np.tril(adjoint(low) @ factors_bar, -1) + np.triu(factors_bar @ adjoint(high))
    right = adjoint(np.linalg.solve(high, adjoint(inner)))
    return np.linalg.solve(adjoint(a), adjoint(high) @ right)


@call_rule("inverse")
def inverse(a: Any, y: Any, y_bar: Any) -> Any:
    return -(adjoint(y) @ (y_bar @ adjoint(y)))


@call_rule("pseudo_inverse")
def pseudo_inverse(a: Any, p: Any, p_bar: Any) -> Any:
    """By divided differences of the singular values, some of which count as zero without being zero.

    With 1 / s for those that are kept and 0 for the others the pseudo-inverse is a generalised matrix function; its
    derivative is the one of Noferini, "A formula for the Frechet derivative of a generalized matrix function" (2017).
    Where all that is dropped is zero, it is that of Golub and Pereyra (1973).
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inner, bar_adjoint = vh @ p_bar @ u, adjoint(p_bar)
    kept = (np.real(np.sum(vh * np.swapaxes(p @ u, -1, -2), axis=-1)) * s > 0.5).astype(s.dtype)
    f = kept / np.where(kept > 0.5, s, 1.0)
    # 1 where a value is kept and the other one is not, -1 the other way round.
    sign = kept[..., :, None] - kept[..., None, :]
    gap = np.where(sign != 0.0, s[..., :, None] ** 2 - s[..., None, :] ** 2, 1.0)
    part, f_squared = sign / gap, f**2
    ratio = part * s[..., :, None] * s[..., None, :] * (f_squared[..., :, None] + f_squared[..., None, :])
    core = (ratio - f[..., :, None] * f[..., None, :]) * inner + part * adjoint(inner)
    result = u @ (core @ vh)
    # What is outside of the span of square factors is zero, of which rounding leaves much where a value is small.
    if a.shape[-2] > s.shape[-1]:
        result = result + (bar_adjoint - u @ (adjoint(u) @ bar_adjoint)) @ (p @ adjoint(p))
    if a.shape[-1] > s.shape[-1]:
        result = result + (adjoint(p) @ p) @ (bar_adjoint - (bar_adjoint @ adjoint(vh)) @ vh)
    return result


@call_rule("determinant")
def determinant(a: Any, d: Any, d_bar: Any) -> Any:
    return (d_bar * np.conj(d))[..., None, None] * adjoint(np.linalg.inv(a))


@call_rule("determinant_factored")
def determinant_factored(lu: Any, rows: Any, is_singular: Any, d: Any, d_bar: Any) -> Any:
    return d_bar * np.conj(d) * adjoint(inverse_by_factors(lu, rows)), None, None


@call_rule("sign_log_determinant")
def sign_log_determinant(a: Any, sign: Any, log: Any, sign_bar: Any, log_bar: Any) -> Any:
    return scale_of_inverse(sign, sign_bar, log_bar)[..., None, None] * adjoint(np.linalg.inv(a))


@call_rule("sign_log_factored")
def sign_log_factored(lu: Any, rows: Any, is_singular: Any, sign: Any, log: Any, sign_bar: Any, log_bar: Any) -> Any:
    return scale_of_inverse(sign, sign_bar, log_bar) * adjoint(inverse_by_factors(lu, rows)), None, None


def scale_of_inverse(sign: Any, sign_bar: Any, log_bar: Any) -> Any:
    """The sign of a real determinant is constant; that of a complex one turns."""
    scale = np.zeros(np.shape(sign)) if log_bar is None else log_bar
    if sign_bar is not None and np.iscomplexobj(sign):
        scale = scale - 1j * np.imag(np.conj(sign_bar) * sign)
    return scale


@call_rule("cholesky")
def cholesky(a: Any, y: Any, y_bar: Any) -> Any:
    return cholesky_pullback(y, y_bar)


@call_rule("cholesky_pullback")
def pullback_of_cholesky(low: Any, bar: Any, y: Any, c: Any) -> Any:
    """Of ``y = lower(L^-H hermitian(L^H bar) L^-1)``, with half of the diagonal, step by step."""
    n = low.shape[-1]
    one = np.eye(n, dtype=bool)
    whole, z = y + adjoint(y), np.where(one, np.real(c), np.tril(c, -1) + adjoint(np.tril(c, -1)))
    h = adjoint(np.linalg.solve(low, adjoint(np.linalg.solve(low, z))))
    part = np.where(one, 0.5 * np.real(h), np.tril(h, -1))
    low_bar = np.tril(bar) @ adjoint(part) - adjoint(np.linalg.solve(low, z @ whole))
    return np.tril(low_bar), np.tril(low @ part)


@call_rule("qr")
def qr(a: Any, q: Any, r: Any, q_bar: Any, r_bar: Any) -> Any:
    """Walter, Lehmann and Lamour (2012), for full rank; a wide matrix is the square one and what follows from it."""
    n = r.shape[-2]
    q_bar = np.zeros_like(q) if q_bar is None else q_bar
    r_bar = np.zeros_like(r) if r_bar is None else r_bar
    if a.shape[-1] == n:
        return of_square_r(q, r, q_bar, r_bar)
    rest = r_bar[..., n:]
    square = of_square_r(q, r[..., :n], q_bar + a[..., n:] @ adjoint(rest), r_bar[..., :n])
    return np.concatenate([square, q @ rest], axis=-1)


def of_square_r(q: Any, r: Any, q_bar: Any, r_bar: Any) -> Any:
    m = r @ adjoint(r_bar) - adjoint(q_bar) @ q
    lower = np.tril(m, -1)
    n = m.shape[-1]
    hermitian = lower + adjoint(lower) + np.where(np.eye(n, dtype=bool), np.real(m), 0.0)
    return adjoint(np.linalg.solve(r, adjoint(q_bar + q @ hermitian)))


@call_rule("fourier")
def fourier(x: Any, y: Any, y_bar: Any, outer: Any, n: Any, inner: Any, sign: Any) -> Any:
    return transform(y_bar, axis_of(x, outer, n, inner), -sign)


def inner_frequencies(x: Any, axis: Any, n: Any) -> Any:
    """Which of the first `n // 2 + 1` frequencies have a conjugate partner, in an array to be multiplied with `x`."""
    k = np.arange(n // 2 + 1)
    return np.reshape((k > 0) & (2 * k < n), (n // 2 + 1,) + (1,) * (x.ndim - 1 - axis))


@call_rule("real_fourier")
def real_fourier(x: Any, y: Any, y_bar: Any, outer: Any, n: Any, inner: Any) -> Any:
    """The transform back adds the partners; the adjoint has each frequency once."""
    axis = axis_of(x, outer, n, inner)
    return half_transform(np.where(inner_frequencies(x, axis, n), 0.5 * y_bar, y_bar), axis, n)


@call_rule("half_fourier")
def half_fourier(x: Any, y: Any, y_bar: Any, outer: Any, n: Any, inner: Any) -> Any:
    axis = axis_of(y, outer, n, inner)
    spectrum = real_transform(y_bar, axis)
    return np.where(inner_frequencies(x, axis, n), 2.0 * spectrum, spectrum)
