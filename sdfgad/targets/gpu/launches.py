"""Kernel fusion: which statements of a block share a launch.

A launch takes some microseconds, as long as a kernel of a hundred thousand points. Vertical fusion: statements over the
same box, of which each point needs of the others only the same point, follow each other in a thread; what one of them
stores, the next one has in a register. Horizontal fusion: such columns share a launch if they are independent of each
other, as the rims of a stencil and its inside. Single elements follow each other in one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdfgad.dependence.aliasing import are_disjoint
from sdfgad.dependence.order import run_in_step
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.program import Block, Buffer, Compute, Statement, reindexed
from sdfgad.schedule.kernels import Form, Sum, form_of

# The statements of one launch: each has its pointers among the parameters, of which there may be 4096 bytes.
MOST = 48
# How many launches back a statement may join one.
WINDOW = 8


Column = list[Statement]


@dataclass
class Launch:
    """Columns of statements of one launch, or one statement that runs on the host or in a library."""

    form: Form
    columns: list[Column]

    @property
    def statements(self) -> list[Statement]:
        return [statement for column in self.columns for statement in column]


def is_kernel(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement is a kernel, or a part of one."""
    if not isinstance(statement, Compute) or is_transfer(statement, buffers):
        return False
    return buffers[statement.target.buffer].is_on_device and form_of(statement, buffers) is not Form.PRODUCT


def is_transfer(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement copies from the memory of the host to that of the device, or back."""
    if not isinstance(statement, Compute) or not isinstance(statement.value, Read):
        return False
    source, target = (buffers[name].is_on_device for name in (statement.value.buffer, statement.target.buffer))
    # What the host passes to a kernel by value has no parameter in its index.
    is_to_device = target and not source and bool(statement.params) and statement.value.index == statement.target.index
    return (source and not target) or (is_to_device and not buffers[statement.value.buffer].is_single)


def launches(block: Block, buffers: Mapping[str, Buffer]) -> list[Launch]:
    """The launches of a block in order."""
    found: list[Launch] = []
    for statement in block:
        form = form_of(statement, buffers) if is_kernel(statement, buffers) else Form.HOST  # type: ignore[arg-type]
        home = _home(found, statement, form)
        if home is None:
            found.append(Launch(form, [[statement]]))
        else:
            launch, column, same = home
            column.append(same)
            launch.columns += [] if column in launch.columns else [column]
    return found


Home = tuple[Launch, Column, Statement]


def _home(found: list[Launch], statement: Statement, form: Form) -> Home | None:
    """The earliest launch that a statement can join, its column there, and the statement with that column's names."""
    home = None
    if form not in (Form.POINTS, Form.SERIAL):
        return None
    for launch in list(reversed(found))[:WINDOW]:
        met = [column for column in launch.columns if not all(are_independent(one, statement) for one in column)]
        if launch.form is form and len(launch.statements) < MOST:
            home = _place(launch, met, statement) or home
        if met:
            return home
    return home


def _place(launch: Launch, met: list[Column], statement: Statement) -> Home | None:
    """The place of a statement in a launch of its form, given the columns that it depends on."""
    if launch.form is Form.SERIAL:
        return launch, launch.columns[0], statement
    if not met:
        return launch, [], statement
    same = _along(met[0], statement) if len(met) == 1 else None
    return (launch, met[0], same) if same is not None else None


def _along(column: Column, statement: Statement) -> Compute | None:
    """A statement with the parameters of a column, if each point of it meets only the same point of the column."""
    first = column[0]
    assert isinstance(first, Compute)
    assert isinstance(statement, Compute)
    own, names = Sum(statement), Sum(first).own
    if [own.extents[n] for n in own.own] != [Sum(first).extents[n] for n in names]:
        return None
    taken = {name for s in column if isinstance(s, Compute) for name, _ in s.params}
    if not taken.isdisjoint(own.summed):
        return None
    symbols = {old: Lin.symbol(new) for old, new in zip(own.own, names, strict=True)}
    order = [*zip(names, (own.extents[n] for n in own.own), strict=True), *((n, own.extents[n]) for n in own.summed)]
    same = reindexed(statement, tuple(order), symbols)
    is_along = all(run_in_step(one, name, same, name, may_add=False) for one in column for name in names)  # type: ignore[arg-type]
    return same if is_along and Sum(same).own == names else None


def are_independent(a: Statement, b: Statement) -> bool:
    """Whether threads may run two statements at the same time: neither changes what the other one touches."""
    if a.written.isdisjoint(b.mentioned) and b.written.isdisjoint(a.mentioned):
        return True
    pairs = ((x, y) for x in uses_of(a) for y in uses_of(b) if x.buffer == y.buffer)
    return all(x.kind == y.kind == "read" or are_disjoint(x, y) for x, y in pairs)
