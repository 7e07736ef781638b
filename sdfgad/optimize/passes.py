"""All passes over a program that is about to be compiled, in their order."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.ir.program import Program
from sdfgad.optimize.apart import take_apart
from sdfgad.optimize.clears import clear_early
from sdfgad.optimize.collect import collect
from sdfgad.optimize.contract import contract
from sdfgad.optimize.copies import forward_copies, make_in_place
from sdfgad.optimize.dead_code import remove_dead_code
from sdfgad.optimize.divide_late import divide_late
from sdfgad.optimize.factors import add_factors
from sdfgad.optimize.first_assign import assign_first
from sdfgad.optimize.flatten import flatten
from sdfgad.optimize.fuse import fuse
from sdfgad.optimize.gather import gather
from sdfgad.optimize.hoist import hoist
from sdfgad.optimize.hoist_indices import hoist_indices
from sdfgad.optimize.implied import remove_implied
from sdfgad.optimize.inline import inline
from sdfgad.optimize.jam import jam
from sdfgad.optimize.jam_inner import jam_inner
from sdfgad.optimize.late_checks import check_late
from sdfgad.optimize.layout import arrange
from sdfgad.optimize.lift import lift
from sdfgad.optimize.merge import merge_products
from sdfgad.optimize.mirror import merge_mirrored
from sdfgad.optimize.narrow import narrow
from sdfgad.optimize.ranges import remove_decided
from sdfgad.optimize.reorder import reorder
from sdfgad.optimize.reshapes import forward_reshapes
from sdfgad.optimize.reuse import reuse
from sdfgad.optimize.save_late import save_late
from sdfgad.optimize.selects import join_selects
from sdfgad.optimize.share import share
from sdfgad.optimize.sink import sink_clears
from sdfgad.optimize.skew import skew
from sdfgad.optimize.split import split
from sdfgad.optimize.strip import strip
from sdfgad.optimize.tile import tile
from sdfgad.optimize.turn import turn
from sdfgad.optimize.unfold import unfold
from sdfgad.optimize.unravel import unravel
from sdfgad.optimize.unroll import unroll, write_rows

Pass = Callable[[Program], Program]

# In this order; each can be left out.
PASSES: tuple[Pass, ...] = (
    remove_decided,
    remove_dead_code,
    save_late,
    take_apart,
    forward_copies,
    forward_reshapes,
    remove_dead_code,
    make_in_place,
    arrange,
    inline,
    clear_early,
    flatten,
    unravel,
    narrow,
    share,
    gather,
    assign_first,
    forward_copies,
    forward_reshapes,
    remove_dead_code,
    make_in_place,
    unroll,
    reorder,
    write_rows,
    add_factors,
    merge_mirrored,
    lift,
    assign_first,
    inline,
    remove_dead_code,
    remove_implied,
    join_selects,
    check_late,
    turn,
    merge_products,
    skew,
    fuse,
    collect,
    tile,
    split,
    contract,
    sink_clears,
    divide_late,
    hoist,
    jam,
    jam_inner,
    strip,
    unfold,
    hoist_indices,
    reuse,
)

# Before statements share loops, each of them can still run in pieces by itself.
BEFORE_LOOPS = PASSES[: PASSES.index(fuse)]
FROM_LOOPS = PASSES[len(BEFORE_LOOPS) :]


def optimise(program: Program, passes: tuple[Pass, ...] = PASSES) -> Program:
    """All passes, in order."""
    for one in passes:
        program = one(program)
    return program
