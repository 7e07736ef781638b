"""The pass pipeline: all passes over a program that is about to be compiled, in their order."""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.ir.program import Program
from sdfgad.optimise.clears import clear_early
from sdfgad.optimise.collect import collect
from sdfgad.optimise.contract import contract
from sdfgad.optimise.copies import forward_copies, make_in_place
from sdfgad.optimise.dead_code import remove_dead_code
from sdfgad.optimise.drop_axes import drop_axes
from sdfgad.optimise.extract_gemm import extract_gemm
from sdfgad.optimise.factors import add_factors
from sdfgad.optimise.first_assign import assign_first
from sdfgad.optimise.fuse import fuse
from sdfgad.optimise.gather import gather
from sdfgad.optimise.hoist import hoist
from sdfgad.optimise.hoist_indices import hoist_indices
from sdfgad.optimise.implied import remove_implied
from sdfgad.optimise.inline import inline
from sdfgad.optimise.layout import arrange
from sdfgad.optimise.merge import merge_products
from sdfgad.optimise.mirror import merge_mirrored
from sdfgad.optimise.pass_manager import Pass, pass_of, run_passes
from sdfgad.optimise.ranges import remove_decided
from sdfgad.optimise.reorient_sums import reorient_sums
from sdfgad.optimise.reshapes import forward_reshapes
from sdfgad.optimise.reuse import reuse
from sdfgad.optimise.share import share
from sdfgad.optimise.sink import sink_clears
from sdfgad.optimise.split import split
from sdfgad.optimise.split_arrays import split_arrays
from sdfgad.optimise.tile import tile
from sdfgad.optimise.unfold import unfold
from sdfgad.optimise.unravel import unravel
from sdfgad.optimise.unroll import unroll
from sdfgad.optimise.unroll_and_jam import unroll_and_jam
from sdfgad.optimise.unroll_and_jam_inner import unroll_and_jam_inner

_IN_ORDER = (
    remove_decided,
    remove_dead_code,
    split_arrays,
    forward_copies,
    forward_reshapes,
    remove_dead_code,
    make_in_place,
    arrange,
    inline,
    clear_early,
    unravel,
    drop_axes,
    share,
    gather,
    assign_first,
    forward_copies,
    forward_reshapes,
    remove_dead_code,
    make_in_place,
    unroll,
    add_factors,
    merge_mirrored,
    extract_gemm,
    assign_first,
    inline,
    remove_dead_code,
    remove_implied,
    reorient_sums,
    merge_products,
    fuse,
    collect,
    tile,
    split,
    contract,
    sink_clears,
    hoist,
    unroll_and_jam,
    unroll_and_jam_inner,
    unfold,
    hoist_indices,
    reuse,
)

# In this order; each can be left out.
PASSES: tuple[Pass, ...] = tuple(map(pass_of, _IN_ORDER))

# Before statements share loops, each of them can still run in pieces by itself.
BEFORE_LOOPS = PASSES[: _IN_ORDER.index(fuse)]
FROM_LOOPS = PASSES[len(BEFORE_LOOPS) :]


def optimise(program: Program, passes: tuple[Pass, ...] = PASSES, without: Collection[str] = ()) -> Program:
    """The program after all passes in order, except those named in `without`."""
    return run_passes(program, passes, without)
