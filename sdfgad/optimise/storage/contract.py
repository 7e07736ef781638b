"""Array contraction: temporaries of a parallel loop lose the axis that its trips run along, down to scalars.

``for f: t[f] = …; y[f] = … t[f] …`` becomes ``for f: t = …; y[f] = … t …``, with `t` in a register or a small array
that stays in the cache: no trip reads what another one wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sdfgad.dependence.private import is_privatisable
from sdfgad.dependence.uses import uses_of_buffer
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Branch, Call, Loop, Program, reads_of, touching
from sdfgad.optimise.storage.axes import less_axes


def contract(program: Program) -> Program:
    """The program with temporaries contracted, one axis of each at a time."""
    names: Collection[str] = program.buffers.keys() - program.interface
    while axes := _one_axis_of_each(program, names):
        program, names = less_axes(program, axes), axes.keys()
    return program


def _one_axis_of_each(program: Program, names: Collection[str]) -> dict[str, int]:
    found = {name: next(removable(program, name), None) for name in program.buffers if name in names}
    return {name: axis for name, axis in found.items() if axis is not None}


def removable(program: Program, name: str) -> Iterator[int]:
    """The axes of a buffer that contraction may remove."""
    rank = len(program.buffers[name].shape)
    loop = _only_loop(program.users.get(name, ()), name) if rank else None
    while loop is not None:
        axes = axes_of_trip(loop, name, rank)
        if axes and is_privatisable(loop.users.get(name, ()), name):
            yield from axes
        loop = _only_loop(loop.users.get(name, ()), name)


def _only_loop(found: Block, name: str) -> Loop | None:
    """The only loop that mentions a buffer, at the top or inside of the only branch that does."""
    if len(found) == 1 and isinstance(found[0], Branch):
        branch = found[0]
        is_asked = any(read.buffer == name for read in reads_of(branch))
        nested = tuple(s for s in branch.then + branch.orelse if name in s.mentioned)
        return None if is_asked else _only_loop(nested, name)
    return found[0] if len(found) == 1 and isinstance(found[0], Loop) else None


def axes_of_trip(loop: Loop, name: str, rank: int) -> list[int]:
    """The axes at which all uses of a buffer in a parallel loop have one index, which moves with the loop's counter."""
    if not loop.is_parallel or any(read.buffer == name for read in reads_of(loop)):
        return []
    if any(isinstance(s, Call) for s in touching(loop.users, name)):
        return []
    uses = [use for s in loop.users[name] for use in uses_of_buffer(s, name)]
    inside = {counter for use in uses for counter in use.names} - {loop.var}
    first = uses[0].index
    shared = [axis for axis in range(rank) if all(use.index[axis] == first[axis] for use in uses)]
    return [axis for axis in shared if _is_trip(first[axis], loop.var, inside)]


def _is_trip(form: Lin, var: str, inside: set[str]) -> bool:
    return form.coefficient(var) != 0 and form.is_affine and form.symbols.isdisjoint(inside)
