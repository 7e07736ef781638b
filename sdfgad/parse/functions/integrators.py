"""Adaptive integrators of SciPy, which choose their steps and call the program back: what to write instead."""

from __future__ import annotations

from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import optional


@optional("scipy.integrate", "odeint", "solve_ivp", "ode", static=False)
def integrate(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refuse an integrator of differential equations."""
    what = "an integrator of SciPy chooses its steps while it runs, which is not supported"
    raise b.unsupported(
        what,
        "Write a loop of fixed steps, such as `for _ in range(n): y = y + h * f(y)`, or those of Runge and Kutta.",
    )


@optional("scipy.integrate", "quad", "dblquad", "tplquad", "nquad", "quad_vec", static=False)
def quadrature(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refuse an adaptive quadrature."""
    what = "an adaptive quadrature of SciPy chooses its points while it runs, which is not supported"
    raise b.unsupported(
        what,
        "Write scipy.integrate.simpson(f(x), x=x) on a grid, or sum up weights of np.polynomial.legendre.leggauss(n).",
    )
