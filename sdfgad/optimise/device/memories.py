"""Which memory each buffer is in: the device's, the host's, or the threads' own registers.

Numbers that follow from the caller's numbers alone stay on the host, which passes them to kernels by value; numbers
that one kernel uses anew at each point, or in each trip, are variables of its threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from sdfgad.ir.expr import Int, reads, symbols_of
from sdfgad.ir.program import (
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    blocks_of,
    touch_counts,
    walk,
    writes_of,
)
from sdfgad.schedule.kernels import Form, form_of, point_loop
from sdfgad.schedule.loop_facts import header_reads
from sdfgad.schedule.scopes import is_local_to
from sdfgad.schedule.sequences import written_in_parallel


def placed_buffers(program: Program, private: frozenset[str]) -> dict[str, Buffer]:
    """The buffers with the memory that each of them is in."""
    elsewhere = host_buffers(program, private) | private
    return {n: replace(b, is_on_device=n not in elsewhere) for n, b in program.buffers.items()}


def host_buffers(program: Program, private: frozenset[str]) -> set[str]:
    """The buffers that the host knows without the device: numbers, and tables of integers that no kernel looks up."""
    statements = list(_outside_kernels(program.body, program.buffers, private))
    found = _candidates(program) - private
    while True:
        wrong = {name for s in statements for name in _not_on_host(s, found)}
        if wrong.isdisjoint(found):
            return found
        found -= wrong


def private_numbers(program: Program) -> frozenset[str]:
    """The numbers that only one kernel uses, and of which each of its points, or threads, can have its own."""
    numbers = [b.name for b in program.buffers.values() if b.is_single and b.name not in program.interface]
    loops = {name: _only_parallel_loop(program.users.get(name, ()), name) for name in numbers}
    owners = {n: loop for n, loop in loops.items() if loop is not None and is_local_to(loop, n, program.buffers)}
    # All of a loop together: one of another thread may be what keeps a loop from being a kernel.
    of_loops: dict[Loop, set[str]] = {}
    for name, loop in owners.items():
        of_loops.setdefault(loop, set()).add(name)
    kernels = {loop for loop, names in of_loops.items() if point_loop(loop, frozenset(names)) is not None}
    of_points = frozenset(name for name, loop in owners.items() if loop in kernels)
    sequences = [s for s in walk(program.body) if isinstance(s, Loop) and s.is_in_block]
    return of_points.union(*(_of_sequence(loop, numbers, program) for loop in sequences))


def _of_sequence(loop: Loop, numbers: list[str], program: Program) -> frozenset[str]:
    """The numbers that only a sequence uses, in each trip anew, and that are the same for all of its threads."""
    users, inside = touch_counts(program.body), touch_counts((loop,))
    found = frozenset(n for n in numbers if inside.get(n) == users[n] and n not in header_reads(loop))
    return frozenset(n for n in found - written_in_parallel(loop) if is_local_to(loop, n, program.buffers))


def _only_parallel_loop(users: Block, name: str) -> Loop | None:
    """The outermost parallel loop that has all uses of a number, if there is one; it may be in other statements."""
    if len(users) != 1 or not isinstance(users[0], Loop | Branch) or name in header_reads(users[0]):
        return None
    if isinstance(users[0], Loop) and users[0].is_parallel and not users[0].is_in_block:
        return users[0]
    inside = [block for block in blocks_of(users[0]) if any(name in s.mentioned for s in block)]
    return _only_parallel_loop(tuple(s for s in inside[0] if name in s.mentioned), name) if len(inside) == 1 else None


def _outside_kernels(block: Block, buffers: Mapping[str, Buffer], private: frozenset[str]) -> Iterator[Statement]:
    """The statements of a block, also nested ones, but for those in loops that are kernels."""
    for statement in block:
        yield statement
        if not is_kernel_loop(statement, buffers, private):
            for nested in blocks_of(statement):
                yield from _outside_kernels(nested, buffers, private)


def is_kernel_loop(statement: Statement, buffers: Mapping[str, Buffer], private: frozenset[str]) -> bool:
    return isinstance(statement, Loop) and form_of(statement, buffers, private) is not Form.HOST


def _candidates(program: Program) -> set[str]:
    written = {access.buffer for s in walk(program.body) for access, _ in writes_of(s)}
    inputs = {n for n in program.inputs if n not in written}
    buffers = program.buffers.values()
    return {b.name for b in buffers if b.is_single or (b.name in inputs and b.dtype.kind in "iu")}


def _not_on_host(statement: Statement, host: set[str]) -> Iterator[str]:
    """The candidates that a statement outside of kernels, or a kernel, keeps from being on the host."""
    if isinstance(statement, Call):
        yield from statement.touched
    elif _is_kernel(statement, host):
        yield from _of_kernel(statement, host)


def _is_kernel(statement: Statement, host: set[str]) -> TypeGuard[Loop | Compute]:
    """Whether a statement runs on the device, as far as its own form goes."""
    if isinstance(statement, Loop):
        return statement.is_parallel or statement.is_in_block
    return isinstance(statement, Compute) and (
        bool(statement.params) or any(r.buffer not in host for r in statement.read)
    )


def _of_kernel(statement: Loop | Compute, host: set[str]) -> Iterator[str]:
    """What a kernel changes, or looks up by its own counters or by what the host does not know."""
    inside = list(walk((statement,)))
    counters = {s.var for s in inside if isinstance(s, Loop)}
    counters |= {name for s in inside if isinstance(s, Compute) for name, _ in s.params}
    yield from statement.written
    for read in (r for s in inside for r in s.read):
        places = reads(*map(Int, read.index))
        if not counters.isdisjoint(symbols_of(read)) or any(one.buffer not in host for one in places):
            yield read.buffer
