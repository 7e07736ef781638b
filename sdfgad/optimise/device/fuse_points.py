"""Vertical fusion for a device: statements over the same box run in one thread for each point.

``for p: t[p] = …`` and ``for q: y[q] = … t[q] …`` become ``parallel for p: t[p] = …; y[p] = … t[p] …``: what a
statement stores, the next one has in a register, and temporaries lose all their axes (`contract`). Each point may need
of the other statements only the same point: threads do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import permutations

from sdfgad.dependence.order import commute, run_in_step
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Program, Statement, reindexed
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.device.sub_boxes import in_box, part_of
from sdfgad.schedule.device_sums import Sum
from sdfgad.schedule.kernels import Form, form_of

# How many columns back a statement may join one.
WINDOW = 16
# Arrays of more axes are not turned.
MOST_AXES = 4
# The statements of a column have their operands in a thread's registers.
MOST = 32

Column = list[Compute]


def fuse_points(program: Program) -> Program:
    """The program with such statements in parallel loops, one for each axis of their box."""
    return program.with_body(everywhere(program.body, partial(_fused, buffers=program.buffers)))


def _fused(block: Block, buffers: Mapping[str, Buffer]) -> Block:
    found: list[Column | Statement] = []
    for statement in block:
        if not isinstance(statement, Compute) or not (_has_points(statement, buffers) or _is_element(statement)):
            found.append(statement)
            continue
        home = _home(found, statement, buffers)
        if home is not None:
            column, together = home
            column[:] = together
        else:
            found.append([statement] if _has_points(statement, buffers) else statement)
    return tuple(_emitted(one) if isinstance(one, list) else one for one in _joined(found))


def _joined(found: list[Column | Statement]) -> list[Column | Statement]:
    """Columns whose statements can all join one before them, which they had no reason to until a later one came."""
    result: list[Column | Statement] = []
    for one in found:
        if not isinstance(one, list) or not _join(result, one):
            result.append(one)
    return result


def _join(found: list[Column | Statement], column: Column) -> bool:
    for before in list(reversed(found))[:WINDOW]:
        others = before if isinstance(before, list) else [before]
        if isinstance(before, list) and len(before) + len(column) <= MOST and any(_depend(before, s) for s in column):
            together = _together(before, column)
            if together is not None:
                before[:] = together
                return True
        if not all(commute(one, statement) for one in others for statement in column):
            return False
    return False


def _together(before: Column, column: Column) -> Column | None:
    """Both columns as one, if each point of the second one meets only the same point of the first one."""
    together = list(before)
    for statement in column:
        same = along(together, statement)
        if same is None:
            return None
        together.append(same)
    return together


def _has_points(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement has a thread for each element of an array."""
    if not isinstance(statement, Compute) or form_of(statement, buffers) is not Form.POINTS:
        return False
    return bool(Sum(statement).own)


def _is_element(statement: Compute) -> bool:
    """Whether a statement is for one element of an array, which a column may have a thread for."""
    return not statement.params and bool(statement.target.index)


def _home(
    found: list[Column | Statement], statement: Compute, buffers: Mapping[str, Buffer]
) -> tuple[Column, Column] | None:
    """The latest column that a statement can join, and the column with it."""
    for column in list(reversed(found))[:WINDOW]:
        if isinstance(column, list) and len(column) < MOST and _depend(column, statement):
            together = _with(column, statement, buffers)
            if together is not None:
                return column, together
        if not all(commute(one, statement) for one in (column if isinstance(column, list) else [column])):
            return None
    return None


def _with(column: Column, statement: Compute, buffers: Mapping[str, Buffer]) -> Column | None:
    """A column and a statement, one of which may be a part of the box of the other one."""
    same = along(column, statement) if statement.params else None
    if same is not None:
        return [*column, same]
    part = next(filter(None, (part_of(statement, one, buffers) for one in column)), None)
    one = in_box(statement, part, buffers) if part is not None else None
    if one is not None and _is_along(column, one, Sum(column[0]).own):
        return [*column, one]
    return _around(column, statement, buffers) if statement.params else None


def _around(column: Column, statement: Compute, buffers: Mapping[str, Buffer]) -> Column | None:
    """A column whose box is a part of that of a statement, with the statement."""
    part = next(filter(None, (part_of(one, statement, buffers) for one in column)), None)
    if part is None:
        return None
    wider = [one for one in (in_box(one, part, buffers) for one in column) if one is not None]
    is_one = len(wider) == len(column) and _is_along(wider, statement, Sum(statement).own)
    return [*wider, statement] if is_one else None


def _depend(column: Column, statement: Statement) -> bool:
    """Whether a statement touches what a column does; others share a launch, and no registers."""
    return any(not one.mentioned.isdisjoint(statement.mentioned) for one in column)


def along(column: Column, statement: Compute) -> Compute | None:
    """The statement with the parameters of a column, if each point of it meets only the same point of the column.

    Arrays may have their axes in different orders, and then parameters correspond that do not in their own order.
    """
    first, own = Sum(column[0]), Sum(statement)
    wanted = [first.extents[name] for name in first.own]
    if not {name for one in column for name, _ in one.params}.isdisjoint(own.summed):
        return None
    for names in permutations(own.own) if len(own.own) <= MOST_AXES else (own.own,):
        if [own.extents[name] for name in names] == wanted:
            same = renamed(statement, names, first.own)
            if _is_along(column, same, first.own):
                return same
    return None


def renamed(statement: Compute, names: tuple[str, ...], new: tuple[str, ...]) -> Compute:
    """The statement with other names for some of its parameters, which come first."""
    extents, symbols = dict(statement.params), {old: Lin.symbol(name) for old, name in zip(names, new, strict=True)}
    params = [(name, extents[old]) for old, name in zip(names, new, strict=True)]
    rest = [(name, extent) for name, extent in statement.params if name not in names]
    return reindexed(statement, (*params, *rest), symbols)


def _is_along(column: Column, statement: Compute, own: tuple[str, ...]) -> bool:
    pairs = ((one, name) for one in column for name in own)
    return all(run_in_step(one, name, statement, name, may_add=False) for one, name in pairs)


def _emitted(column: Column) -> Statement:
    """A column as a nest of parallel loops around its statements."""
    if len(column) == 1:
        return column[0]
    box = Sum(column[0])
    body: Block = tuple(at_point(one, box.own) for one in column)
    for name in reversed(box.own):
        body = (Loop.over(name, box.extents[name], body, column[0].where, is_parallel=True),)
    return body[0]


def at_point(statement: Compute, own: tuple[str, ...]) -> Compute:
    params = tuple((name, extent) for name, extent in statement.params if name not in own)
    return Compute(params, statement.target, statement.value, statement.accumulate, statement.where, statement.fresh)
