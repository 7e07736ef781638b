"""Passes before automatic differentiation: they reduce the program's work, and with it the work of its adjoint."""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.ir.program import Program
from sdfgad.optimise.factor_sums import factor_sums
from sdfgad.optimise.pass_manager import Pass, pass_of, run_passes
from sdfgad.optimise.scale_once import scale_once
from sdfgad.optimise.spread_loops import spread_loops
from sdfgad.optimise.sum_loops import sum_loops

EARLY: tuple[Pass, ...] = tuple(map(pass_of, (factor_sums, scale_once, spread_loops, sum_loops)))


def prepare(program: Program, without: Collection[str] = ()) -> Program:
    """The program after all passes before differentiation, except those named in `without`."""
    return run_passes(program, EARLY, without)
