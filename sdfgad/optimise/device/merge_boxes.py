"""If-conversion of rims: statements over overlapping boxes of one array become one, with conditions for each box.

A stencil's adjoint clears borders, assigns the inside, and adds neighbours, each over a box of its own, and each needs
what the one before it has done. In one thread for each element of the smallest box around them they are ``x[i] = (i in
rest ? … + … : …)``, in their order: one launch, and one store of each element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from sdfgad.dependence.boxes import is_covered
from sdfgad.dependence.order import commute
from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Program, Statement
from sdfgad.optimise.accumulation.gather import gather
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.names import names_of
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.stores import is_sometimes

BOOL = np.dtype(bool)
# The box around all may have so many times the points of the largest one, or so many in all, which cost no more than a
# launch.
MOST_POINTS = 1.5
FEW_POINTS = 1 << 13
# How many groups back a statement may join one, and the statements of a group.
WINDOW = 16
MOST = 32
# Statements that aligned contributions may become; in three dimensions it would be dozens.
FEW_BORDERS = 8

# The first and the last index + 1 of each axis.
Ranges = tuple[tuple[int, int], ...]


@dataclass
class Group:
    """Statements that write one array, with the ranges of their boxes."""

    members: list[Compute]
    ranges: list[Ranges]

    @property
    def assigned(self) -> list[Ranges]:
        """The ranges of what assigns."""
        return [ranges for one, ranges in zip(self.members, self.ranges, strict=True) if one.accumulate is None]

    @property
    def around(self) -> Ranges:
        axes = zip(*self.ranges, strict=True)
        return tuple((min(a for a, _ in axis), max(b for _, b in axis)) for axis in axes)


def gather_few(program: Program) -> Program:
    """Scatter-to-gather conversion with few borders; `merge_boxes` takes contributions with many as they are."""
    return gather(program, FEW_BORDERS)


def merge_boxes(program: Program) -> Program:
    """The program with such statements merged."""
    each = partial(_merged, buffers=program.buffers, names=names_of(program))
    return program.with_body(everywhere(program.body, each))


def _merged(block: Block, buffers: Mapping[str, Buffer], names: Names) -> Block:
    found: list[Group | Statement] = []
    for statement in block:
        ranges = _ranges_of(statement, buffers)
        if ranges is None:
            found.append(statement)
            continue
        assert isinstance(statement, Compute)
        home = _home(found, statement, ranges, buffers)
        if home is None:
            found.append(Group([statement], [ranges]))
        else:
            home.members.append(statement)
            home.ranges.append(ranges)
    return tuple(_emitted(one, buffers, names) if isinstance(one, Group) else one for one in found)


def _ranges_of(statement: Statement, buffers: Mapping[str, Buffer]) -> Ranges | None:
    """The ranges of a statement's target, each axis by a parameter of its own; None where it is no box of this kind."""
    if not isinstance(statement, Compute) or form_of(statement, buffers) is not Form.POINTS:
        return None
    extents, target = dict(statement.params), statement.target
    is_sum = statement.accumulate in (None, "add") and not statement.fresh
    if not is_sum or any(read.buffer == target.buffer for read in statement.read):
        return None
    axes = [next(iter(form.symbols & extents.keys()), None) for form in target.index]
    if None in axes or len(set(axes)) != len(extents) or len(axes) != len(extents):
        return None
    starts = [form - Lin.symbol(str(name)) for form, name in zip(target.index, axes, strict=True)]
    lengths = [extents[str(name)] for name in axes]
    if not all(one.is_const for one in (*starts, *lengths)):
        return None
    return tuple((s.const, s.const + n.const) for s, n in zip(starts, lengths, strict=True))


def _home(
    found: list[Group | Statement], statement: Compute, ranges: Ranges, buffers: Mapping[str, Buffer]
) -> Group | None:
    """The latest group of the same array, at the end of what is found, if a statement can join it.

    The statement moves up to the group, or the group down to the statement.
    """
    between: list[Statement] = []
    for place in range(len(found) - 1, max(len(found) - 1 - WINDOW, -1), -1):
        group = found[place]
        if not isinstance(group, Group) or group.members[0].target.buffer != statement.target.buffer:
            between += group.members if isinstance(group, Group) else [group]
            continue
        if not _fits(group, statement, ranges, buffers):
            return None
        if all(commute(one, statement) for one in between):
            return group
        if all(commute(one, member) for one in between for member in group.members):
            found.append(found.pop(place))
            return group
        return None
    return None


def _fits(group: Group, statement: Compute, ranges: Ranges, buffers: Mapping[str, Buffer]) -> bool:
    together = Group([*group.members, statement], [*group.ranges, ranges])
    largest, dtype = max(_size(one) for one in together.ranges), buffers[statement.target.buffer].dtype
    if len(together.members) > MOST or _size(together.around) > max(MOST_POINTS * largest, FEW_POINTS):
        return False
    # One that leaves elements as they are may find nothing there, and the others read what they find.
    are_sometimes = any(is_sometimes(one, dtype) for one in together.members)
    return not are_sometimes or is_covered(together.around, together.assigned)


def _size(ranges: Ranges) -> int:
    return math.prod(max(last - first, 0) for first, last in ranges)


def _emitted(group: Group, buffers: Mapping[str, Buffer], names: Names) -> Statement:
    first = group.members[0]
    if len(group.members) == 1:
        return first
    dtype = buffers[first.target.buffer].dtype
    around = group.around
    params = [(names.fresh("q"), Lin(last - start)) for start, last in around]
    index = tuple(Lin.symbol(name) + start for (name, _), (start, _) in zip(params, around, strict=True))
    target = Access(first.target.buffer, index)
    is_new = is_covered(around, group.assigned)
    value: Expr = Const(dtype.type(0).item(), dtype) if is_new else target.read(dtype)
    for member, ranges in zip(group.members, group.ranges, strict=True):
        own, condition = rewrite(member.value, _at(member, index)), _is_in(index, ranges, around)
        if member.accumulate is None:
            value = own if condition is None else Op("select", (condition, own, value), dtype)
        else:
            zero = Const(dtype.type(0).item(), dtype)
            added = own if condition is None else Op("select", (condition, own, zero), dtype)
            value = Op("add", (value, added), dtype)
    # Between the boxes nothing is assigned, and there may be no value yet.
    if not is_covered(around, group.ranges):
        conditions = [_is_in(index, ranges, around) for ranges in group.ranges]
        is_any = reduce(lambda a, b: Op("logical_or", (a, b), BOOL), dict.fromkeys(filter(None, conditions)))
        value = Op("select", (is_any, value, target.read(dtype)), dtype)
    return replace(first, params=tuple(params), target=target, value=value, accumulate=None)


def _at(member: Compute, index: tuple[Lin, ...]) -> dict[str, Lin]:
    """A member's parameters as forms of the index of the element."""
    extents = dict(member.params)
    found = {}
    for form, at in zip(member.target.index, index, strict=True):
        (name,) = form.symbols & extents.keys()
        found[name] = at - (form - Lin.symbol(name))
    return found


def _is_in(index: tuple[Lin, ...], ranges: Ranges, around: Ranges) -> Expr | None:
    """Whether an element is in a box; None if all are."""
    conditions: list[Expr] = []
    for at, (first, last), (start, end) in zip(index, ranges, around, strict=True):
        if first != start:
            conditions.append(Op("greater_equal", (Int(at), Int(Lin(first))), BOOL))
        if last != end:
            conditions.append(Op("less", (Int(at), Int(Lin(last))), BOOL))
    return reduce(lambda a, b: Op("logical_and", (a, b), BOOL), conditions) if conditions else None
