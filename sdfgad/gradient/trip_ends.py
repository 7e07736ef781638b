"""Privatisation for tapes: what each trip of a loop assigns anew is stored at the trip's end, instead of when the next
trip overwrites it.

If the first statement of a trip that mentions a buffer assigns all of it, and nothing outside the loop uses it, what
the adjoints of a trip need is what the trip leaves. Where that is stored at its end, and restored where its reversal
begins, no value goes from trip to trip, and threads can share the loop. Buffers that `tape_slots` keeps in their slots
need no copies at all; a library call needs an array.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.dependence.regions import overwrites
from sdfgad.gradient.tapes import Tape
from sdfgad.ir.expr import Int, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import Buffer, Loop, Statement, reads_of, touch_counts
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Residual
from sdfgad.reverse.save_points import Key

# Key -> the buffer that it is restored into: one of its own, since nothing flows from the forward to the reverse sweep.
Ends = Mapping[Key, str]


def trip_ends(adjoint: Adjoint, tapes: Mapping[Key, Tape], slots: Collection[Key], names: Names) -> dict[int, Ends]:
    """The residuals that can be stored at the end of a trip, by the number of the loop.

    Args:
        slots: the residuals that are in tape slots from the start.
    """
    primal, found = adjoint.primal, dict[int, dict[Key, str]]()
    outside, everywhere = {*primal.inputs, *primal.outputs.values()}, touch_counts(primal.body)
    for key, residual in adjoint.residuals.items():
        if key in slots or key not in tapes or key[1] in outside or not residual.loops:
            continue
        number, loop = residual.loops[-1]
        statement, buffer = adjoint.save_points.statements[key[0]], primal.buffers[key[1]]
        begins = _begins(loop, statement, buffer) and _is_fixed(residual, loop)
        if begins and touch_counts((loop,))[buffer.name] == everywhere[buffer.name]:
            found.setdefault(number, {})[key] = names.fresh(buffer.name)
    return dict(found)


def _begins(loop: Loop, statement: Statement, buffer: Buffer) -> bool:
    """Whether a statement is the first of a loop's trips to mention a buffer, of which it assigns all."""
    if loop.users[buffer.name][0] is not statement or not overwrites(statement, buffer):
        return False
    return not any(read.buffer == buffer.name for one in (loop, statement) for read in reads_of(one))


def _is_fixed(residual: Residual, loop: Loop) -> bool:
    """Whether the elements that are stored are the same in all trips."""
    forms = [*residual.access.index, *(extent for _, extent in residual.params)]
    return loop.var not in symbols_of(*map(Int, forms))
