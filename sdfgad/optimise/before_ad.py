"""Passes before automatic differentiation: they reduce the program's work, and with it the work of its adjoint."""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.ir.program import Program
from sdfgad.optimise.cleaning.complex_parts import split_complex
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.cleaning.rotations import forward_rotations
from sdfgad.optimise.invariants.move_invariants import move_invariants
from sdfgad.optimise.invariants.share_factors import share_factors
from sdfgad.optimise.pass_manager import Pass, Phase, in_order, pass_of, run_passes
from sdfgad.optimise.sums.factor_sums import factor_sums
from sdfgad.optimise.sums.scale_once import scale_once
from sdfgad.optimise.sums.spread_loops import spread_loops
from sdfgad.optimise.sums.sum_loops import sum_loops

# Those that every program takes: of `clean`, what must not wait, as the adjoint of a dead value may be NaN.
LIVE: tuple[Pass, ...] = (pass_of(Phase.PRIMAL, remove_dead_code, name="clean"),)

EARLY: tuple[Pass, ...] = in_order(
    (
        *LIVE,
        pass_of(Phase.PRIMAL, split_complex),
        pass_of(Phase.PRIMAL, forward_rotations),
        pass_of(Phase.PRIMAL, factor_sums),
        pass_of(Phase.PRIMAL, scale_once),
        pass_of(Phase.PRIMAL, spread_loops, sum_loops),
        pass_of(Phase.PRIMAL, share_factors),
        pass_of(Phase.PRIMAL, move_invariants, needs=("share_factors",)),
    )
)


def prepare(program: Program, without: Collection[str] = ()) -> Program:
    """The program after all passes before differentiation, except those named in `without`."""
    return run_passes(program, EARLY, without)
