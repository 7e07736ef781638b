"""Integrators of scipy.integrate: the coefficients of its explicit pairs, and what to write instead of the others."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function, optional


def tableau(method: Any) -> Any:
    """The coefficients of an explicit pair of Runge and Kutta by its name, for definitions in `library`.

    Returns:
        The nodes; the matrix, whose row after those of the stages has the weights of the result, and then those of the
        extra stages of a dense output; the weights of the estimates of the error; those of the dense output; the number
        of stages before the result; the order of the estimate.
    """


@function(tableau)
def _tableau(b: Builder, method: str) -> tuple[Any, ...]:
    # The user's SciPy has them as attributes of its classes.
    pair: Any = getattr(importlib.import_module("scipy.integrate"), method)
    stages = pair.n_stages
    extra = getattr(pair, "A_EXTRA", np.zeros((0, stages + 1)))
    size = stages + 1 + len(extra)
    nodes, matrix = np.ones(size), np.zeros((size, size))
    nodes[:stages] = pair.C
    nodes[stages + 1 :] = getattr(pair, "C_EXTRA", np.zeros(0))
    matrix[:stages, : pair.A.shape[1]] = pair.A
    matrix[stages, :stages] = pair.B
    matrix[stages + 1 :, : extra.shape[1]] = extra
    is_853 = len(extra) > 0
    errors = np.stack((pair.E5, pair.E3)) if is_853 else pair.E[None]
    dense = pair.D if is_853 else pair.P
    arrays = (nodes, matrix, errors, dense)
    return (*(b.constant_array(np.ascontiguousarray(array, np.float64)) for array in arrays), stages, size, pair.order)


@optional("scipy.integrate", "ode", static=False)
def integrate(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refuse an integrator that is an object."""
    raise b.unsupported(
        "scipy.integrate.ode is not supported", "Call scipy.integrate.solve_ivp(f, (t0, t1), y0, t_eval=times)."
    )


@optional("scipy.integrate", "dblquad", "tplquad", "nquad", "quad_vec", static=False)
def quadrature(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refuse an adaptive quadrature in several dimensions."""
    what = "an adaptive quadrature in several dimensions chooses its points while it runs, which is not supported"
    raise b.unsupported(
        what,
        "Write scipy.integrate.simpson(f(x), x=x) on a grid, or sum up weights of np.polynomial.legendre.leggauss(n).",
    )
