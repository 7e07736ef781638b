"""Residuals: the forward values that the reverse sweep needs, and which must be saved before they are overwritten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdfgad.analysis.flow import AFTER, BEFORE, OverwriteAnalysis, Request
from sdfgad.analysis.model import numbered
from sdfgad.dependence.hazards import is_once
from sdfgad.dependence.sets import Domain
from sdfgad.errors import Location
from sdfgad.ir.expr import Expr, Lin, Read, reads
from sdfgad.ir.program import (
    Access,
    Branch,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    boxed_reads,
    reads_of,
    writes_of,
)
from sdfgad.reverse.save_points import Key, SavePoints
from sdfgad.rules.statements import target_params

ADJOINT = -1
NOTHING = -1


@dataclass(frozen=True)
class StatementAdjoint:
    """The adjoint of one statement; `phase` says whether it needs the values before or after the statement."""

    statements: tuple[Compute | Call, ...]
    phase: int


@dataclass(frozen=True)
class Residual:
    """The values of one buffer that a statement overwrites and that the reverse sweep needs.

    Attributes:
        statement: the number of the statement before which they are saved: the overwriting one, or a loop around it.
        buffer: the overwritten buffer; `access` over the box `params` are the elements.
        loops: the enclosing loops with their numbers, outermost first: one set of values for each of their trips.
        where: the user's line that overwrites.
        is_once: whether no two points of the box are the same element.
    """

    statement: int
    buffer: str
    access: Access
    params: tuple[tuple[str, Lin], ...]
    loops: tuple[tuple[int, Loop], ...]
    where: Location | None
    is_once: bool = True


@dataclass(frozen=True)
class Recompute:
    """Buffers that the reverse sweep of a block may recompute, instead of having them stored.

    Attributes:
        buffers: what is recomputed.
        members: the numbers of the statements of the block that compute them, in order.
        block: the numbers of the block's first statement, and of the one after its last (nested ones included).
        latest: the number of the last statement of the block before whose adjoint they can be recomputed.
        loops: the enclosing loops with their numbers.
    """

    buffers: frozenset[str]
    members: tuple[int, ...]
    block: tuple[int, int]
    latest: int
    loops: tuple[tuple[int, Loop], ...]

    @property
    def is_outermost(self) -> bool:
        """Whether the block is the program's body: then the values can be recomputed anywhere in the reverse sweep."""
        return self.block[0] == 0

    def covers(self, number: int, buffer: str) -> bool:
        """Whether, in the reverse sweep, a reader of `buffer` at a statement reads the recomputed value."""
        return buffer in self.buffers and self.block[0] <= number < self.block[1]


@dataclass(frozen=True)
class Asked:
    """A forward value that the reverse sweep needs.

    Attributes:
        number: the statement at which the value is needed.
        reader: ADJOINT, or the position of the `Recompute` that needs it.
        is_index: whether it is an index at which saved values are restored: needed before the block can recompute any.
    """

    number: int
    request: Request
    reader: int = ADJOINT
    is_index: bool = False


def asked(
    program: Program,
    adjoints: Mapping[int, StatementAdjoint],
    saved: frozenset[Key],
    recomputes: Sequence[Recompute] = (),
) -> Iterator[Asked]:
    """All forward values needed: by adjoints, by saving, by the control flow around both, and by recomputations."""
    saving = {number for number, _ in saved}
    needed = sorted({*adjoints, *saving})
    makers = _makers(program, recomputes)
    for number, statement in enumerate(numbered(program.body)):
        if number in adjoints:
            yield from (Asked(number, request) for request in _requests_of(adjoints[number], program))
        if number in saving and isinstance(statement, Compute):
            index = [atom for lin in statement.target.index for atom, _ in lin.terms if isinstance(atom, Expr)]
            for read in reads(*index):
                yield Asked(number, _request(read, statement.params, BEFORE), is_index=True)
        if isinstance(statement, (Loop, Branch)) and statement.size and _holds_any(number, statement, needed):
            for read in reads_of(statement):
                yield Asked(number, _request(read, (), AFTER))
        for reader in makers.get(number, ()):
            for read, box in boxed_reads(statement):
                if read.buffer not in recomputes[reader].buffers:
                    yield Asked(number, _request(read, box, BEFORE), reader)


def _requests_of(adjoint: StatementAdjoint, program: Program) -> Iterator[Request]:
    for part in adjoint.statements:
        for read, box in boxed_reads(part):
            if read.buffer in program.buffers:
                yield _request(read, box, adjoint.phase)


def _makers(program: Program, recomputes: Sequence[Recompute]) -> dict[int, list[int]]:
    """Statement number -> the positions in `recomputes` of the recomputations that run the statement."""
    statements = numbered(program.body)
    result: dict[int, list[int]] = {}
    for position, one in enumerate(recomputes):
        for member in one.members:
            for number in range(member, member + statements[member].size + 1):
                result.setdefault(number, []).append(position)
    return result


def _request(read: Read, params: tuple[tuple[str, Lin], ...], phase: int) -> Request:
    return Request(Access(read.buffer, read.index), params, phase)


class Answers:
    """Finds which of some recomputed values satisfies a request."""

    def __init__(self, recomputes: Sequence[Recompute]) -> None:
        self.recomputes = recomputes
        self._makers: dict[str, list[int]] = {}
        for position, one in enumerate(recomputes):
            for buffer in one.buffers:
                self._makers.setdefault(buffer, []).append(position)

    def all_to(self, one: Asked) -> Iterator[int]:
        """The positions of those that cover the request, whether they can be recomputed in time or not."""
        buffer = one.request.access.buffer
        return (k for k in self._makers.get(buffer, ()) if self.recomputes[k].covers(one.number, buffer))

    def to(self, one: Asked) -> int:
        """The position of the first that satisfies the request, or NOTHING."""
        fitting = (k for k in self.all_to(one) if self.recomputes[k].is_outermost or not one.is_index)
        return next(fitting, NOTHING)


def saved_keys(
    program: Program,
    overwrites: OverwriteAnalysis,
    save_points: SavePoints,
    adjoints: Mapping[int, StatementAdjoint],
    recomputes: Sequence[Recompute] = (),
    only: frozenset[str] | None = None,
) -> frozenset[Key]:
    """The residuals that must be saved (of buffers in `only`) if all of `recomputes` are recomputed.

    Saving may itself need indices and conditions, so this is a fixed point.
    """
    saved: frozenset[Key] = frozenset()
    answers = Answers(recomputes)
    while True:
        requests = {
            (one.number, one.request)
            for one in asked(program, adjoints, saved, recomputes)
            if answers.to(one) == NOTHING and (only is None or one.request.access.buffer in only)
        }
        found = _found(overwrites, save_points, requests)
        if found.keys() <= saved:
            return save_points.needed(found)
        saved |= found.keys()


def _found(
    overwrites: OverwriteAnalysis, save_points: SavePoints, requests: Iterable[tuple[int, Request]]
) -> dict[Key, set[int]]:
    """The keys of what must be saved, each with the statements that overwrite."""
    found: dict[Key, set[int]] = {}
    for number, buffer, writer in overwritten(overwrites, requests):
        found.setdefault((save_points.of(number, writer, buffer), buffer), set()).add(writer)
    return found


def overwritten(
    overwrites: OverwriteAnalysis, requests: Iterable[tuple[int, Request]]
) -> Iterator[tuple[int, str, int]]:
    """For each request that an overwrite destroys: who requests it, the buffer, and the statement that overwrites."""
    by_buffer: dict[str, set[tuple[int, Request]]] = {}
    for number, request in requests:
        by_buffer.setdefault(request.access.buffer, set()).add((number, request))
    for buffer, wanted in by_buffer.items():
        for (number, _), writers in overwrites.destroying_writes(wanted, buffer).items():
            yield from ((number, buffer, writer) for writer in writers)


def keys_of_adjoints(
    program: Program,
    overwrites: OverwriteAnalysis,
    save_points: SavePoints,
    alternatives: Sequence[Mapping[int, StatementAdjoint]],
) -> list[dict[int, frozenset[Key]]]:
    """The residuals that each adjoint needs, by its statement's number, for several alternative sets of adjoints."""
    requests = [
        {n: list(_requests_of(adjoint, program)) for n, adjoint in adjoints.items()} for adjoints in alternatives
    ]
    everything = {(n, request) for one in requests for n, asked_here in one.items() for request in asked_here}
    # All at once: isl takes about as long for many as for one; what was asked before is remembered.
    list(overwritten(overwrites, everything))
    return [
        {
            n: frozenset(_found(overwrites, save_points, {(n, request) for request in asked_here}))
            for n, asked_here in one.items()
        }
        for one in requests
    ]


def is_put_back(
    overwrites: OverwriteAnalysis,
    save_points: SavePoints,
    requests: Iterable[tuple[int, Request]],
    saved: frozenset[Key],
) -> bool:
    """Whether all requested values that are overwritten are saved, so that the reverse sweep restores them."""
    return all(save_points.is_kept(n, writer, buffer, saved) for n, buffer, writer in overwritten(overwrites, requests))


def requests_of(number: int, adjoint: StatementAdjoint, program: Program) -> set[tuple[int, Request]]:
    """The forward values that the adjoint of a statement needs."""
    return {(number, request) for request in _requests_of(adjoint, program)}


def residuals_of(save_points: SavePoints, saved: frozenset[Key]) -> dict[Key, Residual]:
    """The residuals with these keys, in program order."""
    result: dict[Key, Residual] = {}
    for number, buffer in sorted(saved):
        statement, loops = save_points.statements[number], save_points.loops[number]
        if isinstance(statement, Loop):
            box = save_points.box(number, buffer)
            assert box is not None
            result[number, buffer] = Residual(number, buffer, *box, loops, statement.where)
            continue
        access, params = next(write for write in writes_of(statement) if write[0].buffer == buffer)
        once = True
        if isinstance(statement, Compute):
            params = target_params(statement)
            once = statement.assigns or is_once(Domain(), params, access.index)
        result[number, buffer] = Residual(number, buffer, access, params, loops, statement.where, once)
    return result


def buffers_read(statements: Iterable[Statement]) -> set[str]:
    return {read.buffer for statement in statements for read in reads_of(statement)}


def _holds_any(number: int, statement: Loop | Branch, needed: list[int]) -> bool:
    """Whether one of some numbered statements lies inside another: numbers are in order, outer first."""
    return bisect_right(needed, number + statement.size) > bisect_right(needed, number)
