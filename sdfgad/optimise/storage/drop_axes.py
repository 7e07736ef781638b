"""Array contraction by invariance: temporaries lose the axes along which all their elements are equal.

``for p, q: t[p, q] = exp(a[p])`` becomes ``for p: t[p] = exp(a[p])``, and what reads ``t[i, j]`` reads ``t[i]``: each
value is computed and stored once.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.regions import is_whole
from sdfgad.ir.expr import Lin, symbols_of
from sdfgad.ir.program import Call, Compute, Program, buffers_of, touching, transform, writes_of
from sdfgad.optimise.storage.axes import less_axes


def drop_axes(program: Program) -> Program:
    """The program without such axes."""
    for name in program.buffers:
        while name not in program.interface and (found := _removable(program, name)) is not None:
            program = _narrowed(program, *found)
    return program


def _removable(program: Program, name: str) -> tuple[Compute, int] | None:
    """The statement that fills a buffer, and an axis along which its value is constant."""
    made = _maker(program, name)
    if made is None or made.accumulate or not is_whole(program.buffers, made):
        return None
    used = symbols_of(made.value)
    is_known = all(extent.is_const and extent.const > 0 for _, extent in made.params)
    alike = (axis for axis, lin in enumerate(made.target.index) if str(lin) not in used)
    axis = next(alike, None) if is_known else None
    return None if axis is None else (made, axis)


def _narrowed(program: Program, made: Compute, axis: int) -> Program:
    target = made.target
    params = tuple(item for item in made.params if item[0] != str(target.index[axis]))
    index = (*target.index[:axis], Lin(0), *target.index[axis + 1 :])
    first = replace(made, params=params, target=replace(target, index=index))
    body = transform(program.body, lambda s: (first,) if s is made else (s,), {target.buffer})
    return less_axes(program.with_body(body), {target.buffer: axis})


def _maker(program: Program, name: str) -> Compute | None:
    """The only statement that writes a buffer, if no library function uses the buffer."""
    found = [s for s in touching(program.users, name) if name in buffers_of(s)]
    makers = [s for s in found if any(access.buffer == name for access, _ in writes_of(s))]
    if len(makers) != 1 or any(isinstance(s, Call) for s in found):
        return None
    return makers[0] if isinstance(makers[0], Compute) else None
