"""Passes before automatic differentiation: the program is made to do less, so that the adjoint has less to do, too."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.ir.program import Program
from sdfgad.optimise.factor_sums import factor_sums
from sdfgad.optimise.scale_once import scale_once
from sdfgad.optimise.spread_loops import spread_loops
from sdfgad.optimise.sum_loops import sum_loops

EARLY: tuple[Callable[[Program], Program], ...] = (factor_sums, scale_once, spread_loops, sum_loops)


def prepare(program: Program, passes: tuple[Callable[[Program], Program], ...] = EARLY) -> Program:
    """What is worth more before the program is differentiated."""
    for one in passes:
        program = one(program)
    return program
