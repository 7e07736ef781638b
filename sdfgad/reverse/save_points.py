"""Save points: an overwritten value is saved at the statement that overwrites it, or once before a loop around it.

A loop may overwrite an array in each of its trips although the reverse sweep needs none of the values in between: an
iterative solver that works in place, say, of which only the result from an earlier trip of an outer loop is needed.
Then the value before the loop's first trip is needed. The array is saved once before the loop, and restored once after
the loop has been reversed, not in each trip.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from functools import cached_property

from sdfgad.analysis.model import numbered
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    Whole,
    writes_of,
)
from sdfgad.rules.statements import target_params

Loops = tuple[tuple[int, Loop], ...]
Key = tuple[int, str]
# All of an array is kept where each trip of a loop overwrites at least its elements divided by this number.
SHARE = 2


class SavePoints:
    """Decides, for one program, where overwritten values are saved.

    Args:
        early: whether they may be saved before loops.
    """

    def __init__(self, program: Program, early: bool = True) -> None:
        self.program, self.early = program, early
        self._boxes: dict[Key, tuple[Access, Params] | None] = {}

    @cached_property
    def statements(self) -> list[Statement]:
        return numbered(self.program.body)

    @cached_property
    def loops(self) -> list[Loops]:
        """For each statement, the loops around it with their numbers, outermost first."""
        return enclosing_loops(self.program.body)

    def of(self, asker: int, writer: int, buffer: str) -> int:
        """The number of the statement before which values are saved that `asker` needs and `writer` overwrites."""
        return next(self._loops_for(asker, writer, buffer), writer)

    def is_kept(self, asker: int, writer: int, buffer: str, saved: Container[Key]) -> bool:
        """Whether saving `saved` restores the value that `asker` needs and `writer` overwrites."""
        places = {writer, *self._loops_for(asker, writer, buffer)}
        return any((place, buffer) in saved for place in places)

    def needed(self, found: Mapping[Key, set[int]]) -> frozenset[Key]:
        """The keys without those that are redundant: the same values are saved further inside, for all writers.

        Args:
            found: for each key, the statements that overwrite.
        """
        inside: dict[Key, set[int]] = {}
        for (place, buffer), writers in found.items():
            for writer in writers:
                inside.setdefault((writer, buffer), set()).add(place)
        return frozenset(
            (place, buffer)
            for (place, buffer), writers in found.items()
            if any(max(inside[writer, buffer]) == place for writer in writers)
        )

    def box(self, number: int, buffer: str) -> tuple[Access, Params] | None:
        """The elements of a buffer that are saved before a loop; None if they cannot be saved there."""
        key = (number, buffer)
        if key not in self._boxes:
            loop = self.statements[number]
            assert isinstance(loop, Loop)
            self._boxes[key] = _box(loop, self.program.buffers[buffer])
        return self._boxes[key]

    def _loops_for(self, asker: int, writer: int, buffer: str) -> Iterator[int]:
        """The loops around a writer but not the asker, outermost first, before which values can be saved."""
        if not self.early:
            return
        around = {number for number, _ in self.loops[asker]}
        for number, _ in self.loops[writer]:
            if number not in around and self.box(number, buffer) is not None:
                yield number


def _box(loop: Loop, buffer: Buffer) -> tuple[Access, Params] | None:
    writes = [
        (access, params, runs)
        for statement, runs in _with_runs(loop.body, 1)
        for access, params in _boxes(statement)
        if access.buffer == buffer.name
    ]
    if len(writes) == 1 and _fits(*writes[0][:2], buffer):
        return writes[0][:2]
    if not all(extent.is_const for extent in buffer.shape):
        return None
    in_a_trip = sum(runs * _size(params) for _, params, runs in writes)
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    return (whole.access, whole.params) if _size(whole.params) <= SHARE * in_a_trip else None


def _boxes(statement: Statement) -> list[tuple[Access, Params]]:
    """What a statement writes, each element once where it assigns."""
    if isinstance(statement, Compute):
        return [(statement.target, target_params(statement))]
    return writes_of(statement)


def _with_runs(block: Block, runs: int) -> Iterator[tuple[Statement, int]]:
    """All statements, with how often each runs for a run of the block; 0 if that varies."""
    for statement in block:
        yield statement, runs
        if isinstance(statement, Loop):
            is_known = statement.trips.is_const and not statement.is_open
            yield from _with_runs(statement.body, runs * max(statement.trips.const, 0) if is_known else 0)
        elif isinstance(statement, Branch):
            yield from _with_runs((*statement.then, *statement.orelse), runs)


def _size(params: Params) -> int:
    """The number of points of a box; 0 if that varies."""
    return math.prod(extent.const if extent.is_const else 0 for _, extent in params)


def _fits(access: Access, params: Params, buffer: Buffer) -> bool:
    """Whether each point has an element of its own, the same wherever this stands, and all are in the buffer."""
    extents = dict(params)
    used = [atom for form in access.index for atom, _ in form.terms]
    if len(set(used)) != len(used) or set(used) != extents.keys():
        return False
    if not all(extent.is_const for extent in (*extents.values(), *buffer.shape)):
        return False
    return all(_is_inside(form, extents, size.const) for form, size in zip(access.index, buffer.shape, strict=True))


def _is_inside(form: Lin, extents: Mapping[str, Lin], size: int) -> bool:
    ends = [factor * (extents[str(atom)].const - 1) for atom, factor in form.terms]
    low, high = (form.const + sum(pick(0, end) for end in ends) for pick in (min, max))
    return low >= 0 and high < size


def enclosing_loops(body: Block) -> list[Loops]:
    """For each statement, the loops around it with their numbers, outermost first."""
    result: list[Loops] = []

    def visit(block: Block, loops: Loops) -> None:
        for statement in block:
            number = len(result)
            result.append(loops)
            if isinstance(statement, Loop):
                visit(statement.body, (*loops, (number, statement)))
            elif isinstance(statement, Branch):
                visit(statement.then, loops)
                visit(statement.orelse, loops)

    visit(body, ())
    return result
