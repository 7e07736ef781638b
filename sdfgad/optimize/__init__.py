"""Optimise: programs that compute the same, faster."""

from __future__ import annotations

from sdfgad.ir.program import Program
from sdfgad.optimize.dead_code import remove_dead_code


def optimise(program: Program) -> Program:
    """All passes, in order."""
    return remove_dead_code(program)
