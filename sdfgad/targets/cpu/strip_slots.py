"""Storage of strips by thread: what a trip of a parallel loop keeps in a strip of its own, each thread has once.

``loop parallel s < 8: for t: for p < 80: tape[t, p + 80*s] = …; for t backwards: … tape[t, p + 80*s]`` fills the tape
of one strip, reads it, and never again. If nothing else mentions the array, the next strip that the thread runs may use
the same elements, which are still in its core's cache, ``tape[t, p + 80*slot]`` with the thread's number as slot.
Other strips' elements are not touched, so nothing is written to memory that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdfgad.dependence.uses import UNKNOWN, Use
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Buffer, Loop
from sdfgad.optimise.storage.axes import shifted
from sdfgad.schedule.bounds import is_below
from sdfgad.schedule.thread_independence import uses_by_buffer

SLOT = "slot_"
DECLARED = f"const int64_t {SLOT} = sdfgad::slot(trips_, first_);"


def strips_of(loop: Loop, alone: Iterable[str], buffers: Mapping[str, Buffer]) -> dict[str, tuple[int, int]]:
    """The arrays of which each trip of a loop only touches a strip of its own: the axis that is cut, and the width.

    Args:
        alone: the arrays that nothing but the loop mentions.
    """
    uses, found = uses_by_buffer(loop), dict[str, tuple[int, int]]()
    for name in alone:
        axes = range(len(buffers[name].shape)) if name in uses else ()
        strips = ((axis, uses[name][0].index[axis].coefficient(loop.var)) for axis in axes)
        strip = next((one for one in strips if all(_is_in_strip(use, loop.var, *one) for use in uses[name])), None)
        if strip is not None:
            found[name] = strip
    return found


def _is_in_strip(use: Use, var: str, axis: int, width: int) -> bool:
    """Whether an access is in the trip's strip: elements ``width * var`` to ``width * (var + 1) - 1`` of an axis."""
    rest = [lin - Lin.symbol(var).scaled(width) if k == axis else lin for k, lin in enumerate(use.index)]
    if width < 1 or any(var in lin.symbols for lin in rest):
        return False
    ranges = {name: (Lin(0), extent - 1) for name, extent in use.bound if extent != UNKNOWN}
    return is_below(rest[axis], Lin(width), ranges)


def in_slots(block: Block, var: str, strips: Mapping[str, tuple[int, int]]) -> Block:
    """The body of a loop with the thread's strip of some arrays in place of the trip's."""
    for name, (axis, width) in strips.items():
        block = shifted(block, {name: axis}, (Lin.symbol(SLOT) - Lin.symbol(var)).scaled(width))
    return block
