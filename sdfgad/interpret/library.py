"""Library functions and elementary operations by NumPy, for the interpreter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.interpret.columns import COLUMNS, lu_columns
from sdfgad.parse.functions.factored import banded_solution, factors, solution_by_factors
from sdfgad.parse.functions.fourier import axis_of, half_transform, real_transform, transform
from sdfgad.parse.functions.linalg import cholesky_pullback, solve_pullback

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

# Operations whose names are not NumPy's.
OPERATIONS: Mapping[str, Function] = {
    **{
        f"airy_{name}": lambda x, k=k: _special("airy")(x)[k]
        for k, name in enumerate(("ai", "ai_slope", "bi", "bi_slope"))
    },
    "bessel_i": lambda x, order: _special("iv")(order, x),
    "bessel_ie": lambda x, order: _special("ive")(order, x),
    **dict.fromkeys(("bessel_j", "bessel_jv"), lambda x, order: _special("jv")(order, x)),
    "bessel_k": lambda x, order: _special("kv")(order, x),
    "bessel_ke": lambda x, order: _special("kve")(order, x),
    "bessel_y": lambda x, order: _special("yv")(order, x),
    "beta_density": lambda a, b, x: np.exp(
        _special("xlogy")(a - 1, x) + _special("xlog1py")(b - 1, -x) - _special("betaln")(a, b)
    ),
    "betainc_by_shape": lambda a, b, x: _slope(lambda t: _special("betainc")(t, b, x), a),
    "dawsn_slope": lambda x: 1 - 2 * x * _special("dawsn")(x),
    "expn_of": lambda x, order: _special("expn")(order, x),
    "fractional": lambda x: np.modf(x)[0],
    "gamma_density": lambda a, x: np.exp(_special("xlogy")(a - 1, x) - x - _special("gammaln")(a)),
    "gammainc_by_shape": lambda a, x: _slope(lambda t: _special("gammainc")(t, x), a),
    "held": lambda x: x,
    "hurwitz_zeta": lambda x, order: _special("zeta")(order, x),
    "hyp0f1": lambda x, b: _special("hyp0f1")(b, x),
    "hyp1f1": lambda x, a, b: _special("hyp1f1")(a, b, x),
    "ieee_remainder": math.remainder,
    "lambert_w": lambda x, order: _special("lambertw")(x, int(order)).real,
    "later_if_greater": max,
    "later_if_less": min,
    "vanishes": np.equal,
    "polygamma_of": lambda x, order: _special("polygamma")(order, x),
    "root_of_squares": np.sqrt,
    "round_decimals": round,
    "sinc_derivative": lambda x, order: _sinc_derivative(np.pi * float(x), int(order)),
    **{
        f"bessel_{kind}_quotient": lambda x, order, kind=kind: _bessel_quotient(kind, float(x), int(order))
        for kind in ("j", "i", "ie")
    },
    **{
        f"spherical_{kind}": lambda x, order, kind=kind: _special(f"spherical_{kind}n")(int(order), x)
        for kind in "jyik"
    },
    "stdtr_by_shape": lambda df, t: _slope(lambda d: _special("stdtr")(d, t), df),
    "trigamma": lambda x: _special("polygamma")(1, x),
}


@cache
def operation(name: str) -> Function:
    """The function of scalars that an operation is.

    Raises:
        SdfgadError: it is one of scipy's, which is not installed.
    """
    found: Function | None = OPERATIONS.get(name) or getattr(np, name, None)
    return found or _special(name)


def _sinc_derivative(y: float, order: int) -> float:
    """The derivative of ``sin(y) / y`` times a power of pi: that is the mean of ``cos(t y)`` for t from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(40 + int(abs(y)))
    t = (nodes + 1) / 2
    return float(np.pi**order * np.sum(weights / 2 * t**order * np.cos(t * y + order * np.pi / 2)))


def _bessel_quotient(kind: str, x: float, order: int) -> float:
    """A Bessel function of an order n over ``x**n``; of small numbers by ``0F1``."""
    if abs(x) >= 1:
        return float(_special({"j": "jv", "i": "iv", "ie": "ive"}[kind])(order, x)) / x**order
    sign = -1 if kind == "j" else 1
    found = float(_special("hyp0f1")(order + 1, sign * x * x / 4)) / (2**order * math.factorial(order))
    return found * math.exp(-abs(x)) if kind == "ie" else found


def _slope(f: Callable[[float], float], a: float) -> float:
    """A derivative by differences of fourth order: scipy has no function of it."""
    h = 1e-3 * min(a, 1.0)
    return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)


def _special(name: str) -> Function:
    try:
        from scipy import special
    except ImportError:
        todo = "Install it: pip install scipy."
        raise SdfgadError(f"the interpreter takes `{name}` from scipy, which is not installed", todo=todo) from None
    found: Function = getattr(special, name)
    return found


def _half_fourier(x: Array, outer: int, n: int, inner: int) -> Array:
    return half_transform(x, axis_of(x, outer, n // 2 + 1, inner), n)


def _nonzero(mask: Array, size: int) -> tuple[Array, int]:
    found = np.flatnonzero(mask)
    return np.pad(found, (0, size - found.size)), found.size


def _lu(a: Array, n: int) -> tuple[Array, Array]:
    columns, pivots, failed = lu_columns(np.asarray(a.T, np.result_type(a, np.float64)), 1, n)
    if failed:
        raise np.linalg.LinAlgError("Singular matrix")
    return columns.T.astype(a.dtype), pivots


# The functions of `sdfgad.ir.library`, given the inputs and then the sizes.
LIBRARY: Mapping[str, Function] = {
    "solve": lambda a, b, *_: np.linalg.solve(a, b),
    "solve_pullback": lambda a, b, bar, *_: solve_pullback(a, b, bar),
    "solve_banded": lambda ab, b, _n, low, high, _m, adjoint: banded_solution(ab, b, low, high, adjoint),
    # The interpreter has no factors of a band: whoever solves with them has the band, too.
    "factor_banded": lambda ab, n, low, high: (
        np.zeros((n, 4 if low == high == 1 else 2 * low + high + 1), ab.dtype),
        np.zeros(n, np.int32),
    ),
    "solve_factored_band": lambda ab, _lu, _rows, b, _n, low, high, _m, is_adjoint: banded_solution(
        ab, b, low, high, is_adjoint
    ),
    "factor": lambda a, _n: factors(a),
    "solve_factored": lambda lu, rows, b, _n, _m, is_adjoint: solution_by_factors(lu, rows, b, is_adjoint),
    "inverse_factored": lambda lu, _rows, _n: np.linalg.inv(lu),
    "determinant_factored": lambda lu, *_: np.linalg.det(lu),
    "sign_log_factored": lambda lu, *_: tuple(np.linalg.slogdet(lu)),
    "lu": _lu,
    "inverse": lambda a, *_: np.linalg.inv(a),
    "regular": lambda a, *_: np.linalg.inv(a) is None or (),
    # The cut-off travels as its bits.
    "pseudo_inverse": lambda a, *sizes: np.linalg.pinv(a, float(np.int64(sizes[-1]).view(np.float64))),
    "determinant": lambda a, *_: np.linalg.det(a),
    "sign_log_determinant": lambda a, *_: tuple(np.linalg.slogdet(a)),
    "cholesky": lambda a, *_: np.linalg.cholesky(a),
    "cholesky_pullback": lambda low, bar, *_: cholesky_pullback(low, bar),
    "qr": lambda a, *_: tuple(np.linalg.qr(a)),
    "singular_values": lambda a, *_: tuple(np.linalg.svd(a, full_matrices=False)),
    "all_singular_vectors": lambda a, *_: tuple(np.linalg.svd(a)),
    "eigen": lambda a, *_: tuple(np.linalg.eig(a)),
    "only_singular_values": lambda a, *_: np.linalg.svd(a, compute_uv=False),
    "only_eigenvalues": lambda a, *_: np.linalg.eigvals(a),
    "only_symmetric_eigenvalues": lambda a, _batch, _n, is_upper: np.linalg.eigvalsh(a, "U" if is_upper else "L"),
    "symmetric_eigen": lambda a, _batch, _n, is_upper: tuple(np.linalg.eigh(a, "U" if is_upper else "L")),
    "fourier": lambda x, *numbers: transform(x, axis_of(x, *numbers[:3]), numbers[3]),
    "real_fourier": lambda x, *numbers: real_transform(x, axis_of(x, *numbers)),
    "half_fourier": _half_fourier,
    "argsort": lambda a, *_: np.argsort(a, kind="stable"),
    "nonzero": _nonzero,
    "searchsorted": lambda a, v, n, m, right: np.searchsorted(a, v, "right" if right else "left"),
    **COLUMNS,
}
