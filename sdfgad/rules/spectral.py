"""Adjoints of spectral decompositions: eigenvalues and eigenvectors, singular values and singular vectors.

Rules as in `library`. Vectors of which only a subspace or a line is determined have derivatives only in functions that
do not depend on the choice: where one does, the cotangent is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def of_triangle(g: Any, is_upper: Any) -> Any:
    """The gradient by the triangle that is read of a Hermitian matrix, from that by the whole matrix."""
    n = g.shape[-1]
    whole = np.triu(g + adjoint(g)) if is_upper else np.tril(g + adjoint(g))
    return np.where(np.eye(n, dtype=bool), 0.5 * whole, whole)


def symmetric_eigen(a: Any, w: Any, v: Any, w_bar: Any, v_bar: Any, is_upper: Any) -> Any:
    """For vectors as LAPACK turns them: the first (for 'U' the last) component is real.

    Where eigenvalues are equal, for functions of the span of their vectors.
    """
    n = w.shape[-1]
    inner = np.zeros_like(v)
    if w_bar is not None:
        inner = inner + np.where(np.eye(n, dtype=bool), w_bar[..., None, :], 0.0)
    if v_bar is not None:
        bar = of_phases(v, v_bar, -1 if is_upper else 0) if np.iscomplexobj(a) else v_bar
        inner = inner + over_gaps(adjoint(v) @ bar, w, all_of(bar))
    return of_triangle(v @ (inner @ adjoint(v)), is_upper)


def over_gaps(turn: Any, w: Any, size: Any) -> Any:
    """The turns of pairs of eigenvectors, by a cotangent of this size, over the gaps of their eigenvalues.

    Vectors of one eigenvalue may turn within their span; a function of the span does not vary with that. Then both are
    rounding errors, and so would be their quotient.
    """
    gaps, epsilon = w[..., None, :] - w[..., :, None], float(np.finfo(w.dtype).eps)
    turn = 0.5 * (turn - adjoint(turn))
    is_one = np.abs(gaps) <= 8 * epsilon * np.sum(np.abs(w), axis=-1)[..., None, None]
    is_free = is_one & (np.abs(turn) <= epsilon**0.5 * size[..., None, None])
    return np.where(is_free, 0.0, turn * of_gaps(np.where(is_free, 1.0, gaps)))


def of_phases(v: Any, v_bar: Any, row: Any) -> Any:
    """The cotangent by vectors that keep their phase, from that by vectors that turn to keep v[row] real.

    NaN where v[row] is 0, which leaves the phase free, and the function varies with it.
    """
    turn = np.imag(np.sum(np.conj(v) * v_bar, axis=-2))
    limit = float(np.finfo(turn.dtype).eps) ** 0.5
    real = np.real(v[..., row, :])
    is_free = np.abs(real) < limit
    turned = turn / np.where(is_free, 1.0, real)
    varies = np.abs(turn) > limit * np.sum(np.abs(v_bar), axis=-2)
    turned = np.where(is_free, np.where(varies, np.nan, 0.0), turned)
    row_of = np.arange(v.shape[-2]) == row % v.shape[-2]
    return v_bar - 1j * np.where(row_of[:, None], turned[..., None, :], 0.0)


def of_gaps(gaps: Any) -> Any:
    """The reciprocals off the diagonal."""
    one = np.eye(gaps.shape[-1], dtype=bool)
    return np.where(one, 0.0, 1.0 / np.where(one, 1.0, gaps))


def eigen(a: Any, w: Any, v: Any, w_bar: Any, v_bar: Any) -> Any:
    """For distinct eigenvalues, and vectors of length 1 whose largest component is real, as LAPACK returns them."""
    one = np.eye(w.shape[-1], dtype=bool)
    inner = np.zeros_like(v)
    if w_bar is not None:
        inner = inner + np.where(one, w_bar[..., None, :], 0.0)
    if v_bar is not None:
        # Of two components that are equally large it is the one that LAPACK has made real.
        size = np.where(np.imag(v) == 0.0, np.abs(v), 0.0)
        largest = (size > 0.0) & (size == np.max(size, axis=-2, keepdims=True))
        share = largest / (np.sum(largest, axis=-2, keepdims=True) * np.where(largest, np.real(v), 1.0))
        along = np.sum(np.conj(v) * v_bar, axis=-2, keepdims=True)
        free = v_bar - np.real(along) * v - 1j * np.imag(along) * share
        inner = inner + np.conj(of_gaps(w[..., None, :] - w[..., :, None])) * (adjoint(v) @ free)
    result = np.linalg.solve(adjoint(v), inner @ adjoint(v))
    return result if np.iscomplexobj(a) else np.real(result)


def singular_values(a: Any, u: Any, s: Any, vh: Any, u_bar: Any, s_bar: Any, vh_bar: Any) -> Any:
    """For singular values that are not zero; a pair of complex vectors has a free phase.

    Where singular values are equal, for functions of the spans of their vectors.
    """
    k = s.shape[-1]
    one = np.eye(k, dtype=bool)
    inner, turns = np.zeros_like(vh[..., :k]), np.zeros_like(vh[..., :k])
    differences = np.zeros_like(turns)
    if s_bar is not None:
        inner = inner + np.where(one, s_bar[..., None, :], 0.0)
    if u_bar is not None:
        turn = adjoint(u) @ u_bar
        turns, differences = turns + turn, differences + turn
        if np.iscomplexobj(a):
            inner = inner + np.where(one, 1j * np.imag(turn) / s[..., None, :], 0.0)
    if vh_bar is not None:
        turn = vh @ adjoint(vh_bar)
        turns, differences = turns + turn, differences - turn
    if u_bar is not None or vh_bar is not None:
        # Where vectors of both sides turn alike over the gaps, and what is left over the sums of singular values.
        sums = np.where(one, 1.0, s[..., None, :] + s[..., :, None])
        inner = inner + over_gaps(turns, s, all_of(u_bar) + all_of(vh_bar))
        inner = inner + 0.5 * np.where(one, 0.0, (differences - adjoint(differences)) / sums)
    result = u @ (inner @ vh)
    # What is outside of the span of square factors is zero, of which rounding leaves much where a value is small.
    if u_bar is not None and u.shape[-2] > k:
        scaled = u_bar / s[..., None, :]
        result = result + (scaled - u @ (adjoint(u) @ scaled)) @ vh
    if vh_bar is not None and vh.shape[-1] > k:
        scaled = vh_bar / s[..., :, None]
        result = result + u @ (scaled - (scaled @ adjoint(vh)) @ vh)
    if np.iscomplexobj(a):
        phases = np.where(one, np.abs(np.imag(turns)), 0.0)
        result = result + nan_where_free(phases, all_of(u_bar) + all_of(vh_bar))
    return result


def all_of(bar: Any) -> Any:
    """The sum of the sizes of a cotangent's elements, for each matrix."""
    return 0.0 if bar is None else np.sum(np.abs(bar), axis=(-2, -1))


def nan_where_free(turns: Any, size: Any) -> Any:
    """NaN for each matrix where a function of this cotangent's size varies with what is not determined."""
    limit = float(np.finfo(turns.dtype).eps) ** 0.5 * size
    return np.where(np.sum(turns, axis=(-2, -1)) > limit, np.nan, 0.0)[..., None, None]


def all_singular_vectors(a: Any, u: Any, s: Any, vh: Any, u_bar: Any, s_bar: Any, vh_bar: Any) -> Any:
    """Those that belong to no singular value span the complement of the others, and turn with it."""
    k = s.shape[-1]
    result: Any = 0.0
    thin_u_bar, thin_vh_bar = u_bar, vh_bar
    if u_bar is not None and u.shape[-1] > k:
        rest, rest_bar = u[..., k:], u_bar[..., k:]
        thin_u_bar = u_bar[..., :k] - rest @ (adjoint(rest_bar) @ u[..., :k])
        result = nan_where_turned(adjoint(rest) @ rest_bar, rest_bar)
    if vh_bar is not None and vh.shape[-2] > k:
        rest, rest_bar = vh[..., k:, :], vh_bar[..., k:, :]
        thin_vh_bar = vh_bar[..., :k, :] - (vh[..., :k, :] @ adjoint(rest_bar)) @ rest
        result = nan_where_turned(rest @ adjoint(rest_bar), rest_bar)
    if u_bar is not None:
        thin_u_bar = thin_u_bar[..., :k]
    if vh_bar is not None:
        thin_vh_bar = thin_vh_bar[..., :k, :]
    return result + singular_values(a, u[..., :k], s, vh[..., :k, :], thin_u_bar, s_bar, thin_vh_bar)


def nan_where_turned(turn: Any, rest_bar: Any) -> Any:
    """NaN where a function varies as the vectors turn within their span."""
    return nan_where_free(np.abs(turn - adjoint(turn)), all_of(rest_bar))
