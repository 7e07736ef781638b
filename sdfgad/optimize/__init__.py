"""Optimise: programs that compute the same, faster."""

from __future__ import annotations

from sdfgad.ir.program import Program
from sdfgad.optimize.dead_code import remove_dead_code
from sdfgad.optimize.first_assign import assign_first


def optimise(program: Program) -> Program:
    """All passes, in order."""
    return assign_first(remove_dead_code(program))
