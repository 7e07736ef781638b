"""Code motion of clears: an adjoint that each trip of a loop zeroes at its end is zeroed at the trip's start instead.

An adjoint of a temporary is cleared before the loop, and again when its statement has been reversed: it is zero
whenever a trip begins. Cleared at the start of the trip instead, it carries no value from trip to trip. Then its first
contribution can assign it (`first_assign`), and it can be contracted (`contract`).

If it is read after the loop, what the trips clear is cleared once more there:
``a = 0; loop: (a[1:] += e; …; a[1:] = 0)`` becomes ``a = 0; loop: (a[1:] = 0; a[1:] += e; …); a[1:] = 0``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sdfgad.dependence.intervals import interval
from sdfgad.dependence.regions import is_same_region, is_whole
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Int, Lin, reads, symbols_of
from sdfgad.ir.program import Block, Branch, Buffer, Compute, Loop, Program, Statement, changed, reads_of, users_of
from sdfgad.optimise.accumulation.first_assign import is_clear


def clear_early(program: Program) -> Program:
    """The program with the clears of such buffers at the start of the trips."""
    body = Edits()
    candidates = _candidates(program)
    for loop in program.body:
        names = candidates.get(id(loop), [])
        if names and isinstance(loop, Loop):
            inside = [name for name in names if len(program.users[name]) == 2]
            turned, moved = _in_loop(program, loop, inside)
            body.remove(program.users[name][0] for name in moved)
            turned, after = _rotated(program, turned, [name for name in names if name not in moved])
            body.replace(loop, turned)
            body.after[id(loop)] = after
    return program.with_body(body.applied(program.body))


def _candidates(program: Program) -> dict[int, list[str]]:
    """The buffers that are cleared before a loop is the next to mention them, by the loop's identity."""
    found: dict[int, list[str]] = {}
    for name in program.buffers:
        users = program.users.get(name, ())
        if name in program.interface or len(users) < 2:
            continue
        first, second = users[:2]
        is_start = isinstance(first, Compute) and is_clear(first, 0.0) and is_whole(program.buffers, first)
        if is_start and isinstance(second, Loop) and not second.is_open:
            found.setdefault(id(second), []).append(name)
    return found


def _rotated(program: Program, loop: Loop, names: list[str]) -> tuple[Loop, list[Statement]]:
    """The loop with the clears at the start of each trip, and the clears that are needed once more after it.

    The elements are zero when the loop begins.
    """
    body, after = Edits(), list[Statement]()
    for name in names:
        found, is_needed = loop.users[name], len(program.users[name]) > 2
        last = found[-1]
        if len(found) < 2 or not isinstance(last, Compute) or not is_clear(last, 0.0) or not _is_fixed(last, loop):
            continue
        if is_needed and not (_runs(loop) or _is_inside(program.buffers, last)):
            # Without trips there need be no such elements.
            continue
        if body.move(last, found[0]) and is_needed:
            after.append(last)
    return changed(loop, body=body.applied(loop.body)), after


def _is_fixed(clear: Compute, loop: Loop) -> bool:
    """Whether a clear sets the same elements in all trips."""
    forms = [Int(form) for form in (*clear.target.index, *(extent for _, extent in clear.params))]
    return not reads(*forms) and all(loop.var not in symbols_of(form) for form in forms)


def _runs(loop: Loop) -> bool:
    return loop.trips.is_const and loop.trips.const > 0


def _is_inside(buffers: Mapping[str, Buffer], clear: Compute) -> bool:
    """Whether all elements that a clear sets are certainly in bounds."""
    spans = [interval(form, dict(clear.params)) for form in clear.target.index]
    shape = buffers[clear.target.buffer].shape
    return all(
        span is not None and span[0] == Lin(0) and extent.is_const and 0 <= span[1] <= span[2] < extent.const
        for span, extent in zip(spans, shape, strict=True)
    )


def _in_loop(program: Program, loop: Loop, names: Collection[str]) -> tuple[Loop, set[str]]:
    """The loop with clears at the start of its trips, and the buffers whose clears these are."""
    if loop.is_open or not names:
        return loop, set()
    body, moved = _in_block(program, loop.body, loop.users, names)
    return changed(loop, body=body), moved


def _in_block(
    program: Program, block: Block, users: Mapping[str, Block], names: Collection[str]
) -> tuple[Block, set[str]]:
    """A block, before and after which the buffers are zero, with clears at its start or in nested blocks."""
    edits = Edits()
    moved = _in_nested(program, users, names, edits)
    for name in names:
        if name in moved:
            continue
        found = users[name]
        first, last = found[0], found[-1]
        if isinstance(last, Branch):
            is_moved = _before_branch(program, found, name, edits)
        else:
            is_moved = _is_moved_to_start(program, found, name) and edits.move(last, first)
        if is_moved:
            moved.add(name)
    return edits.applied(block), moved


def _in_nested(program: Program, users: Mapping[str, Block], names: Collection[str], edits: Edits) -> set[str]:
    """The buffers that a single loop or branch of a block mentions, and that are cleared in it."""
    alone: dict[int, list[str]] = {}
    for name in names:
        if len(users[name]) == 1:
            alone.setdefault(id(users[name][0]), []).append(name)
    moved = set[str]()
    for inside in alone.values():
        statement = users[inside[0]][0]
        turned, done = _nested(program, statement, inside)
        edits.replace(statement, turned)
        moved |= done
    return moved


def _is_moved_to_start(program: Program, found: Block, name: str) -> bool:
    last = found[-1]
    if len(found) < 2 or not isinstance(last, Compute) or not is_clear(last, 0.0):
        return False
    return is_whole(program.buffers, last) or all(_is_within(s, last, name) for s in found[:-1])


def _before_branch(program: Program, found: Block, name: str, edits: Edits) -> bool:
    """The same if the last statement that mentions the buffer is a branch that clears it on both sides."""
    last = edits.current(found[-1])
    assert isinstance(last, Branch)
    ends = [next((s for s in reversed(side) if name in s.mentioned), None) for side in (last.then, last.orelse)]
    clears = [s for s in ends if isinstance(s, Compute) and is_clear(s, 0.0) and is_whole(program.buffers, s)]
    if len(clears) < 2:
        return False
    then, orelse = (
        tuple(s for s in side if s is not clear) for side, clear in zip((last.then, last.orelse), clears, strict=True)
    )
    edits.replace(found[-1], replace(last, then=then, orelse=orelse))
    edits.insert(clears[0], found[0])
    return True


def _nested(program: Program, statement: Statement, names: Collection[str]) -> tuple[Statement, set[str]]:
    """A loop, or a branch of which one side mentions the buffer, with the clears inside."""
    if isinstance(statement, Loop):
        return _in_loop(program, statement, names)
    if not isinstance(statement, Branch):
        return statement, set()
    asked = {read.buffer for read in reads_of(statement)}
    then, orelse = users_of(statement.then), users_of(statement.orelse)
    left = [name for name in names if name not in orelse and name not in asked]
    right = [name for name in names if name not in then and name not in asked]
    sides = _in_block(program, statement.then, then, left), _in_block(program, statement.orelse, orelse, right)
    return changed(statement, then=sides[0][0], orelse=sides[1][0]), sides[0][1] | sides[1][1]


class Edits:
    """Changes of a block that are made all at once: statements, known by their identity, that are moved or replaced."""

    def __init__(self) -> None:
        self._removed = set[int]()
        self._before: dict[int, list[Statement]] = {}
        self._replaced: dict[int, Statement] = {}
        self.after: dict[int, list[Statement]] = {}

    def remove(self, statements: Iterable[Statement]) -> None:
        self._removed |= set(map(id, statements))

    def insert(self, statement: Statement, place: Statement) -> None:
        """Puts a statement before one of the block's."""
        self._before.setdefault(id(place), []).append(statement)

    def move(self, statement: Statement, place: Statement) -> bool:
        """Moves a statement before another one, unless one of them has been given another place."""
        if id(place) in self._removed or id(statement) in self._before:
            return False
        self.remove([statement])
        self.insert(statement, place)
        return True

    def replace(self, old: Statement, new: Statement) -> None:
        self._replaced[id(old)] = new

    def current(self, statement: Statement) -> Statement:
        """What a statement has been replaced by."""
        return self._replaced.get(id(statement), statement)

    def applied(self, block: Block) -> Block:
        found: list[Statement] = []
        for statement in block:
            if id(statement) not in self._removed:
                around = self._before.get(id(statement), ()), self.after.get(id(statement), ())
                found += [*around[0], self.current(statement), *around[1]]
        return tuple(found)


def _is_within(statement: Statement, clear: Compute, name: str) -> bool:
    """Whether a statement touches no elements of the buffer other than those that are cleared."""
    if not isinstance(statement, Compute):
        return False
    writes = statement.target.buffer == name
    if writes and not is_same_region(clear, statement):
        return False
    touched = [use for use in uses_of(statement) if use.buffer == name and use.kind == "read"]
    as_read = (replace(statement, target=replace(clear.target, index=use.index)) for use in touched)
    return all(is_same_region(clear, one) for one in as_read)
