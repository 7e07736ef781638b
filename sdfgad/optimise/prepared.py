"""Choice of the program to differentiate: as it was written, or after the passes that reduce its work."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.optimise.before_ad import prepare
from sdfgad.options import Options
from sdfgad.parse.parse import Primal


def prepared(primal: Primal, options: Options) -> Primal:
    """The program after the passes before differentiation, unless overrides or a memory limit need the original."""
    before, after = primal.program, prepare(primal.program, without=options.without)
    gone = {buffer.source for name, buffer in before.buffers.items() if name not in after.buffers}
    if after == before or gone & options.overrides.keys():
        return primal
    if options.limit is not None and primal.integers:
        # With other numbers of trips only the program as it is may keep the limit.
        return primal
    return replace(primal, program=after)
