"""The table of passes, in the order in which they run; those before differentiation are in `before_ad`."""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.ir.program import Program
from sdfgad.optimise.accumulation.clears import clear_early
from sdfgad.optimise.accumulation.first_assign import assign_first
from sdfgad.optimise.accumulation.gather import gather
from sdfgad.optimise.accumulation.share import share
from sdfgad.optimise.before_ad import EARLY
from sdfgad.optimise.cleaning.copies import forward_copies, make_in_place
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.cleaning.held import drop_held
from sdfgad.optimise.cleaning.hoist_checks import hoist_checks
from sdfgad.optimise.cleaning.implied import remove_implied
from sdfgad.optimise.cleaning.ranges import remove_decided
from sdfgad.optimise.cleaning.reshapes import forward_reshapes
from sdfgad.optimise.cleaning.rotations import turn
from sdfgad.optimise.cleaning.unravel import unravel
from sdfgad.optimise.cleaning.values_alone import compute_values_alone
from sdfgad.optimise.device.block_loops import block_loops
from sdfgad.optimise.device.exact_scatters import exact_scatters
from sdfgad.optimise.device.expand_sums import expand_sums
from sdfgad.optimise.device.fuse_points import fuse_points
from sdfgad.optimise.device.fuse_rows import fuse_rows
from sdfgad.optimise.device.grid_loops import grid_loops
from sdfgad.optimise.device.interchange import interchange as interchange_for_threads
from sdfgad.optimise.device.lower_calls import lower_calls
from sdfgad.optimise.device.merge_boxes import gather_few, merge_boxes
from sdfgad.optimise.device.place import place
from sdfgad.optimise.device.raise_loops import raise_loops
from sdfgad.optimise.device.running_sums import running_sums
from sdfgad.optimise.device.split_sums import split_sums
from sdfgad.optimise.device.spread_scatters import spread_scatters
from sdfgad.optimise.loops.fuse import fuse
from sdfgad.optimise.loops.hoist import hoist
from sdfgad.optimise.loops.lanes import run_in_lanes
from sdfgad.optimise.loops.tile import tile
from sdfgad.optimise.loops.unroll_and_jam import unroll_and_jam
from sdfgad.optimise.loops.unwrap_rows import unwrap_rows
from sdfgad.optimise.loops.widen import widen
from sdfgad.optimise.pass_manager import Pass, Phase, in_order, pass_of, run_passes
from sdfgad.optimise.products.extract_gemm import extract_gemm
from sdfgad.optimise.products.factors import add_factors
from sdfgad.optimise.products.inline import inline
from sdfgad.optimise.products.invert_divisors import invert_divisors
from sdfgad.optimise.products.merge import merge_products
from sdfgad.optimise.products.mirror import merge_mirrored
from sdfgad.optimise.products.reorient_sums import reorient_sums
from sdfgad.optimise.products.unfold import unfold
from sdfgad.optimise.products.unroll import unroll
from sdfgad.optimise.storage.contract import contract
from sdfgad.optimise.storage.drop_axes import drop_axes
from sdfgad.optimise.storage.layout import arrange
from sdfgad.optimise.storage.reuse import reuse
from sdfgad.optimise.storage.split import split
from sdfgad.optimise.sums.reductions import recognise_sums
from sdfgad.options import Device
from sdfgad.parse.procedures import expanded
from sdfgad.progress import stage

_CLEAN = pass_of(
    Phase.STATEMENTS,
    forward_copies,
    forward_reshapes,
    remove_dead_code,
    compute_values_alone,
    make_in_place,
    name="clean",
    motive="Copy propagation and dead-code elimination: what is a copy, a view, or read by nothing, is not computed.",
)

# A pass that other passes leave work for runs again.
PASSES: tuple[Pass, ...] = in_order(
    (
        pass_of(Phase.STATEMENTS, drop_held),
        pass_of(
            Phase.STATEMENTS,
            remove_decided,
            hoist_checks,
            remove_implied,
            name="remove_checks",
            motive="Check elimination: removes checks that value ranges decide, or that an earlier check implies; "
            "those that are the same in each trip of a loop are made once.",
        ),
        _CLEAN,
        pass_of(
            Phase.STATEMENTS,
            arrange,
            unravel,
            drop_axes,
            name="layout",
            needs=("clean",),
            motive="Data layout: axes of temporaries follow the innermost loops, flat counters become nested ones, and "
            "axes along which all elements are equal go.",
        ),
        pass_of(Phase.STATEMENTS, share, needs=("clean",)),
        pass_of(
            Phase.STATEMENTS,
            turn,
            gather,
            name="gather",
            needs=("share",),
            motive="Scatter-to-gather conversion: contributions of a stencil's adjoint to neighbours are aligned by "
            "their targets.",
        ),
        pass_of(
            Phase.STATEMENTS,
            clear_early,
            assign_first,
            name="assign_first",
            needs=("gather",),
            motive="Dead-store elimination of clears: the first contribution to a cleared buffer assigns it.",
        ),
        _CLEAN,
        pass_of(Phase.STATEMENTS, unroll),
        pass_of(
            Phase.STATEMENTS,
            invert_divisors,
            add_factors,
            merge_mirrored,
            reorient_sums,
            extract_gemm,
            name="products",
            needs=("assign_first", "unroll"),
            motive="Sums of products: those with a common factor become one, divisors are inverted, sums run along "
            "memory, and matrix products (GEMM) leave loops.",
        ),
        pass_of(Phase.STATEMENTS, inline, assign_first, merge_products, needs=("products",)),
        _CLEAN,
        pass_of(Phase.LOOPS, fuse, needs=("gather", "products", "inline")),
        pass_of(Phase.LOOPS, run_in_lanes, needs=("fuse",)),
        pass_of(Phase.LOOPS, tile, needs=("fuse",)),
        pass_of(
            Phase.LOOPS,
            split,
            contract,
            reuse,
            name="contract",
            needs=("fuse", "tile"),
            motive="Storage: values of one trip get buffers of their own, down to scalars, which share memory.",
        ),
        pass_of(Phase.LOOPS, hoist, needs=("contract",)),
        pass_of(Phase.LOOPS, unroll_and_jam, needs=("fuse", "contract")),
        pass_of(Phase.LOOPS, unfold),
        pass_of(Phase.LOOPS, unwrap_rows, needs=("contract",)),
        pass_of(Phase.LOOPS, widen, needs=("contract",)),
        pass_of(Phase.LOOPS, recognise_sums, name="sums", needs=("contract",)),
    )
)

# All of them, those before differentiation first.
TABLE: tuple[Pass, ...] = (*EARLY, *PASSES)

_GATHER = pass_of(Phase.STATEMENTS, turn, gather_few, name="gather", needs=("share",))
# For a GPU each statement is a kernel of its own, or several of one launch: it needs threads more than caches.
DEVICE: tuple[Pass, ...] = in_order(
    (
        *(_GATHER if one.name == "gather" else one for one in PASSES if one.phase is Phase.STATEMENTS),
        pass_of(Phase.DEVICE, lower_calls),
        pass_of(Phase.DEVICE, running_sums),
        pass_of(Phase.DEVICE, raise_loops, remove_dead_code, name="raise_loops"),
        pass_of(Phase.DEVICE, spread_scatters, exact_scatters, name="scatters"),
        pass_of(Phase.DEVICE, expand_sums),
        pass_of(Phase.DEVICE, split_sums),
        pass_of(Phase.DEVICE, merge_boxes),
        pass_of(Phase.DEVICE, fuse_points, contract, name="fuse_points", needs=("split_sums",)),
        pass_of(Phase.DEVICE, interchange_for_threads, needs=("fuse_points",), name="threads"),
        pass_of(Phase.DEVICE, grid_loops, needs=("fuse_points",)),
        pass_of(Phase.DEVICE, block_loops, needs=("fuse_points",)),
        pass_of(Phase.DEVICE, fuse_rows, needs=("fuse_points", "block_loops")),
        pass_of(Phase.DEVICE, place, needs=("fuse_points",)),
    )
)

# Before statements share loops, each of them can still run in pieces by itself.
BEFORE_LOOPS = tuple(one for one in PASSES if one.phase is Phase.STATEMENTS)


def passes_for(device: Device) -> tuple[Pass, ...]:
    """All passes of a program that runs on a device."""
    return PASSES if device == "cpu" else DEVICE


def before_loops(device: Device) -> tuple[Pass, ...]:
    """The passes for statements by themselves, with which `passes_for` begins."""
    return passes_for(device)[: len(BEFORE_LOOPS)]


def from_loops(device: Device) -> tuple[Pass, ...]:
    """The passes after these."""
    return passes_for(device)[len(BEFORE_LOOPS) :]


def optimise(program: Program, passes: tuple[Pass, ...] | None = None, without: Collection[str] = ()) -> Program:
    """The program after some passes, all by default, in order, except those named in `without`."""
    with stage("optimising"):
        chosen = passes_for(program.device) if passes is None else passes
        return run_passes(expanded(program), chosen, without)
