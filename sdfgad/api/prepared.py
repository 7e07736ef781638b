"""What a program is before it is differentiated: as it was written, or with less work."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.api.wishes import Wishes
from sdfgad.frontend.parse import Primal
from sdfgad.optimize.early import prepare


def prepared(primal: Primal, wishes: Wishes) -> Primal:
    """The program that computes the same with less work, if it has all values that the user names."""
    before, after = primal.program, prepare(primal.program)
    gone = {buffer.source for name, buffer in before.buffers.items() if name not in after.buffers}
    if after == before or gone & wishes.overrides.keys():
        return primal
    if wishes.limit is not None and primal.integers:
        # With other numbers of trips only the program as it is may keep the limit.
        return primal
    return replace(primal, program=after)
