"""Horizontal fusion: which statements of a block share a launch.

A launch takes some microseconds, as long as a kernel of a hundred thousand points: the rims of a stencil, and its
inside, are one. Statements over points, and sums by blocks, share a launch if they are independent of each other;
single elements follow each other in one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdfgad.dependence.aliasing import are_disjoint
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Statement
from sdfgad.schedule.device_sums import Sum, threads_of
from sdfgad.schedule.kernels import Form, form_of, private_of

# The statements of one launch, and their buffers: a kernel may have 4096 bytes of parameters.
MOST, MOST_BUFFERS = 48, 384
# How many launches back a statement may join one.
WINDOW = 8


@dataclass
class Launch:
    """Statements of one launch, or one statement that runs on the host or in a library."""

    form: Form
    statements: list[Statement]


def is_kernel(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement is a kernel, or a part of one."""
    if isinstance(statement, Loop):
        if not any(buffers[name].is_on_device for name in statement.written):
            return False
        return form_of(statement, buffers, private_of(statement, buffers)) is not Form.HOST
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
        is_one = is_kernel(statement, buffers)
        form = form_of(statement, buffers, private_of(statement, buffers)) if is_one else Form.HOST
        home = _home(found, statement, form)
        if home is None:
            found.append(Launch(form, [statement]))
        else:
            home.statements.append(statement)
    return found


def _home(found: list[Launch], statement: Statement, form: Form) -> Launch | None:
    """The earliest launch that a statement can join; one of these is better than a later one, which it may empty."""
    home = None
    if form not in (Form.POINTS, Form.SERIAL, Form.BLOCK):
        return None
    for launch in list(reversed(found))[:WINDOW]:
        is_free = all(are_independent(one, statement) for one in launch.statements)
        if launch.form is form and (is_free or form is Form.SERIAL) and _has_room(launch, statement):
            home = launch
        if not is_free:
            return home
    return home


def _are_alike(one: Statement, other: Statement) -> bool:
    """Whether blocks for two sums have as many threads."""
    assert isinstance(one, Compute)
    assert isinstance(other, Compute)
    return threads_of(Sum(one)) == threads_of(Sum(other))


def _has_room(launch: Launch, statement: Statement) -> bool:
    if launch.form is Form.BLOCK and not _are_alike(launch.statements[0], statement):
        return False
    buffers = statement.mentioned.union(*(one.mentioned for one in launch.statements))
    return len(launch.statements) < MOST and len(buffers) <= MOST_BUFFERS


def are_independent(a: Statement, b: Statement) -> bool:
    """Whether threads may run two statements at the same time: neither changes what the other one touches."""
    if a.written.isdisjoint(b.mentioned) and b.written.isdisjoint(a.mentioned):
        return True
    pairs = ((x, y) for x in uses_of(a) for y in uses_of(b) if x.buffer == y.buffer)
    return all(x.kind == y.kind == "read" or are_disjoint(x, y) for x, y in pairs)
