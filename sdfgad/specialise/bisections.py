"""Warnings of loops that narrow an interval by comparisons alone, as bisection does (`sdfgad.analysis.bracketing`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from sdfgad.analysis.bracketing import bracketings
from sdfgad.errors import BisectionWarning
from sdfgad.parse.primal import Primal
from sdfgad.reverse.adjoint import dependences


def warn_of_bisections(parsed: Primal, wrt: Iterable[str], output: str) -> None:
    """Warn where a derivative by an argument has no part through the place that such a loop finds."""
    inputs = {parsed.inputs[name]: name for name in wrt}
    program = parsed.program
    for found in bracketings(program, inputs, program.outputs[output], dependences):
        names = ", ".join(sorted(f"`{inputs[one]}`" for one in found.inputs))
        warnings.warn(
            f"this loop finds a place by comparisons alone, as bisection does, so that the place has no derivative by "
            f"{names}, which decides them: {found.where}. Call scipy.optimize.brentq, whose result has one, or add a "
            "step of Newton's method behind the loop, x = x - f(x) / df(x).",
            BisectionWarning,
            stacklevel=2,
        )
