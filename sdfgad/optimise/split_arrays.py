"""Array splitting (scalar replacement of aggregates): a temporary that is only used in parts becomes an array for each.

If all uses of `t` are at ``t[0, ...]`` and ``t[1, ...]``, the two become separate arrays, about which other passes can
tell more: that each is written by one statement, say.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Call, Program, buffers_of, reads_of, touching, writes_of
from sdfgad.optimise.axes import without_axes
from sdfgad.optimise.names import names_of


def split_arrays(program: Program) -> Program:
    """The program with such arrays split."""
    names = names_of(program)
    for name in [name for name in program.buffers if name not in program.interface]:
        axis = next(iter(_fixed_axes(program, name)), None)
        if axis is not None:
            program = _in_parts(program, name, axis, names)
    return program


def _fixed_axes(program: Program, name: str) -> list[int]:
    """The axes of more than one element along which all indices are constants."""
    found = [s for s in touching(program.users, name) if name in buffers_of(s)]
    if any(isinstance(s, Call) for s in found):
        return []
    accesses: list[Access | Read] = [access for s in found for access, _ in writes_of(s) if access.buffer == name]
    accesses += [read for s in found for read in reads_of(s) if read.buffer == name]
    shape = program.buffers[name].shape
    axes = [axis for axis, extent in enumerate(shape) if extent.is_const and extent.const > 1]
    return [axis for axis in axes if accesses and all(_is_inside(a.index[axis], shape[axis]) for a in accesses)]


def _is_inside(lin: Lin, extent: Lin) -> bool:
    return lin.is_const and 0 <= lin.const < extent.const


def _in_parts(program: Program, name: str, axis: int, names: Names) -> Program:
    buffer, buffers = program.buffers[name], dict(program.buffers)
    parts: dict[int, str] = {}

    def part(_: str, index: tuple[Lin, ...]) -> str:
        at = index[axis].const
        if at not in parts:
            parts[at] = names.fresh(f"{name}_{at}")
        return parts[at]

    body = without_axes(program.body, {name: axis}, part)
    less = replace(buffer, shape=buffer.shape[:axis] + buffer.shape[axis + 1 :])
    del buffers[name]
    buffers |= {new: replace(less, name=new) for new in parts.values()}
    return replace(program, buffers=buffers, body=body)
