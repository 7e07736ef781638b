"""Choice of the program to differentiate: as it was written, or after the passes that reduce its work."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.program import reads_of, walk
from sdfgad.optimise.before_ad import EARLY, LIVE, prepare
from sdfgad.optimise.pass_manager import Pass, run_passes
from sdfgad.options import Options
from sdfgad.parse.primal import Primal


def live(primal: Primal, options: Options) -> Primal:
    """The program without dead code: a derivative of what nothing reads may overflow, and 0 times infinity is NaN."""
    return replace(primal, program=run_passes(primal.program, LIVE, options.without))


def prepared(primal: Primal, options: Options) -> Primal:
    """A live program after the passes before differentiation, unless overrides need the original."""
    if passes_of(primal, options) == LIVE:
        return primal
    after = prepare(primal.program, without=options.without)
    return primal if after == primal.program else replace(primal, program=after)


def passes_of(primal: Primal, options: Options) -> tuple[Pass, ...]:
    """The passes before differentiation that may run."""
    if options.accumulate is not None:
        # A factor that is taken out of a sum leaves a sum in single precision, which the adjoint would use.
        return LIVE
    if options.overrides:
        before, after = primal.program, prepare(primal.program, without=options.without)
        gone = {buffer.source for name, buffer in before.buffers.items() if name not in after.buffers}
        return LIVE if gone & options.overrides.keys() else EARLY
    return EARLY


def without_deciding(primal: Primal, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The groups of arguments but those that decide an integer: with another one the output may depend on them.

    Where a mask selects nothing, say, the gradient is zero.
    """
    if primal.guard is None:
        return groups
    guard = primal.guard.primal
    read = {one.buffer for statement in walk(run_passes(guard.program, LIVE).body) for one in reads_of(statement)}
    deciding = {name for name, buffer in guard.inputs.items() if buffer in read}
    return tuple(group for group in groups if deciding.isdisjoint(group))
