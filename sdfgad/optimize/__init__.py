"""Optimise: programs that compute the same, faster."""

from __future__ import annotations

import islpy as isl

from sdfgad.ir.program import Program


def optimise(program: Program, context: isl.Set) -> Program:
    """All passes, in order."""
    return program
