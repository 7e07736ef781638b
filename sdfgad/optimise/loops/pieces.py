"""Strip-mining for memory: statements run on a few rows, columns or images at a time where that lowers the memory peak.

``t = x @ w; y = sin(t); w_bar = x.T @ (y_bar * cos(t))`` holds all of `t`. With its rows in eight pieces,
``for s < 8:`` around the three statements, an eighth of it is enough, and sums over rows add up piece by piece.
Networks are trained in micro-batches in the same way; here dependence analysis finds where it is legal. Statements may
run in pieces along one counter of each, if every two conflicting accesses to an array have equal values of these
counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sdfgad.dependence.aliasing import is_same_trip
from sdfgad.dependence.order import commute
from sdfgad.dependence.uses import Use, conflict, own_params, uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Program,
    Statement,
    walk,
)
from sdfgad.optimise.loops.along import counters_along, learn, leaves_of, symbol_of
from sdfgad.optimise.loops.nest import in_two
from sdfgad.optimise.loops.nested import restricted
from sdfgad.optimise.names import names_of
from sdfgad.optimise.storage.axes import shifted
from sdfgad.plan.cut import Cut

# Into about so many pieces; of numbers near it, one that leaves nothing over is better.
PIECES, FEWEST, MOST = 8, 5, 16
# Pieces of rows that are shorter than this make no good vectors.
SHORTEST_ROW = 64
# At the peak, so many of the largest arrays are tried.
LARGEST = 6

Peak = Callable[[Program], int]
Span = tuple[int, int]


def in_pieces(program: Program, peak: Peak, large: Mapping[str, int]) -> tuple[Program, Cut] | None:
    """The program with one more group of statements in pieces, that with the lowest peak; None if none lowers the peak.

    Args:
        peak: the bytes that a program holds at most.
        large: the buffers that are held at its peak, with their bytes, the largest first.
    """
    best, before = None, peak(program)
    least, names = before, list(large)[:LARGEST]
    groups = groups_of(program, names)
    saved = {cut: sum(large.get(name, 0) for name in cut.held) for cut in groups}
    for cut in sorted(saved, key=lambda cut: -saved[cut]):
        if before - least >= saved[cut]:
            break  # Even with nothing left of what it cuts, it would hold more than another group.
        if (size := peak(groups[cut].program)) < least:
            best, least = (groups[cut].program, cut), size
    return best


def groups_of(program: Program, names: Iterable[str], fewest: int = 2) -> dict[Cut, Group]:
    """The groups of at least `fewest` statements that may run in pieces along an axis of one of some buffers."""
    found: dict[Cut, Group] = {}
    cut, spans = set[tuple[str, int]](), _lifetimes(program)
    for name in names:
        for axis in range(len(program.buffers[name].shape)):
            # Beginning at another array that a group cuts leads to the same group.
            grown = _grown(program, spans, name, axis) if (name, axis) not in cut else ()
            for group in (one for one in grown if len(one.members) >= fewest):
                found[group.cut] = group
                cut.update((held, group.axes[held]) for held in group.cut.held)
    return found


def _grown(program: Program, lifetimes: Mapping[str, Span], name: str, axis: int) -> Iterator[Group]:
    """The group around a buffer, then larger ones that also include the statements for other buffers that it cuts."""
    span, axes = lifetimes[name], {name: axis}
    group = Group.found(program, name, span, axes)
    while group is not None:
        yield group
        # What cuts along more arrays can also clear them piece by piece.
        before, axes = (span, axes), {name: axis} | {other: group.axes[other] for other in group.temporaries()}
        spans = [lifetimes[other] for other in axes]
        span = min(first for first, _ in spans), max(last for _, last in spans)
        group = Group.found(program, name, span, axes) if (span, axes) != before else None


def _lifetimes(program: Program) -> dict[str, Span]:
    """The positions of the first and of the last statement that mention each buffer."""
    found: dict[str, Span] = {}
    for position, statement in enumerate(program.body):
        for name in statement.mentioned:
            found[name] = found.get(name, (position, position))[0], position
    return found


# --- statements that may run in pieces together


@dataclass(frozen=True)
class _Member:
    """A statement of a group, with the counter along which each of its leaves is cut, in their order."""

    statement: Statement
    along: tuple[str, ...]

    @cached_property
    def uses(self) -> tuple[tuple[Use, str], ...]:
        """What the statement touches, in different ways, each with the counter along which it is cut."""
        pairs = zip(leaves_of(self.statement), self.along, strict=True)
        return tuple(dict.fromkeys((use, counter) for leaf, counter in pairs for use in uses_of(leaf.nest)))


class Mentions:
    """Statements, indexed by the buffers that they write and mention, so that only possible conflicts are examined."""

    def __init__(self) -> None:
        self.mentioned: dict[str, list[Statement]] = {}
        self.written: dict[str, list[Statement]] = {}

    def add(self, statement: Statement) -> None:
        for found, names in ((self.mentioned, statement.mentioned), (self.written, statement.written)):
            for name in names:
                found.setdefault(name, []).append(statement)

    def commute_with(self, statement: Statement) -> bool:
        """Whether a statement may change places with all the statements."""
        read = statement.mentioned - statement.written
        others = [other for name in statement.written for other in self.mentioned.get(name, ())]
        others += [other for name in read for other in self.written.get(name, ())]
        return all(commute(other, statement) for other in others)


@dataclass
class Group:
    """The statements between two positions of a program's body; those that can run in pieces are members.

    Attributes:
        whole: the program.
        span: the first and the last position.
        length: of the axes that are cut.
        axes: buffer -> the axis that is cut.
        before, members, after: the statements in their new order.
        uses: what members touch of each buffer in each way (`Use.kind`), with the counter that is cut.
        passed: members and what comes after them, by the buffers that they mention; `late` are those of `after` alone.
    """

    whole: Program
    span: Span
    length: int
    axes: dict[str, int]
    before: list[Statement] = field(default_factory=list)
    members: list[_Member] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)
    uses: dict[str, dict[str, list[tuple[Use, str]]]] = field(default_factory=dict)
    passed: Mentions = field(default_factory=Mentions)
    late: Mentions = field(default_factory=Mentions)

    @staticmethod
    def found(program: Program, name: str, span: Span, axes: Mapping[str, int]) -> Group | None:
        """The group that cuts a buffer along its axis; None if a statement that mentions it cannot be a member."""
        extent = program.buffers[name].shape[axes[name]]
        if not extent.is_const or extent.const < 2:
            return None
        group = Group(program, span, extent.const, dict(axes))
        for statement in program.body[span[0] : span[1] + 1]:
            if not group.joined(statement):
                if name in statement.mentioned:
                    return None
                group.put_aside(statement)
        return group if group.members and group.has_long_rows() else None

    # --- who joins

    def joined(self, statement: Statement) -> bool:
        """Makes a statement a member if it can be one; whether it can."""
        along = counters_along(statement, self.axes, self.length)
        if along is None:
            return False
        clears, statement = _without_clears(statement, along)
        if not all(self._may_precede(clear) for clear in clears):
            return False
        member = _Member(statement, along)
        if not self._fits(member):
            return False
        self.before += clears
        self.members.append(member)
        self.passed.add(statement)
        for use, counter in member.uses:
            self.uses.setdefault(use.buffer, {}).setdefault(use.kind, []).append((use, counter))
        learn(self.axes, statement, along)
        return True

    def put_aside(self, statement: Statement) -> None:
        """Moves a statement that is no member before all of them if that is legal, else after them."""
        if self._may_precede(statement):
            self.before.append(statement)
            return
        self.after.append(statement)
        self.passed.add(statement)
        self.late.add(statement)

    def _may_precede(self, statement: Statement) -> bool:
        """Whether a statement may run before all members, and before what was put after them."""
        return self.passed.commute_with(statement)

    def _fits(self, member: _Member) -> bool:
        """Whether a statement's pieces may follow the members' pieces, and its own."""
        own: dict[str, list[tuple[Use, str]]] = {}
        for use, counter in member.uses:
            own.setdefault(use.buffer, []).append((use, counter))
        return self.late.commute_with(member.statement) and all(
            _meet_in_step(x, y, of_x, of_y)
            for y, of_y in member.uses
            for x, of_x in (*self._in_conflict(y), *own[y.buffer])
        )

    def _in_conflict(self, use: Use) -> Iterator[tuple[Use, str]]:
        """The members' uses of a buffer that conflict with a use."""
        for pairs in self.uses.get(use.buffer, {}).values():
            if conflict(pairs[0][0], use):
                yield from pairs

    # --- what is cut

    def temporaries(self) -> list[str]:
        """The buffers that members cut and that are neither inputs nor outputs."""
        return [name for name in self.axes if name not in self.whole.interface]

    def has_long_rows(self) -> bool:
        """Whether pieces of rows, if rows are cut, are long enough for vectors."""
        ranks = {name: len(self.whole.buffers[name].shape) for name in self.axes}
        are_rows = any(ranks[name] > 1 and axis == ranks[name] - 1 for name, axis in self.axes.items())
        return not are_rows or self.width >= SHORTEST_ROW

    @cached_property
    def local(self) -> list[str]:
        """The buffers that need storage for one piece only."""
        first, last = self.span
        outside = [*self.whole.body[:first], *self.before, *self.after, *self.whole.body[last + 1 :]]
        mentioned = {name for statement in outside for name in statement.mentioned}
        return [name for name in self.temporaries() if name not in mentioned and self._is_cut(name)]

    def _is_cut(self, name: str) -> bool:
        axis, shape = self.axes[name], self.whole.buffers[name].shape
        uses = (pair for pairs in self.uses.get(name, {}).values() for pair in pairs)
        return shape[axis] == Lin(self.length) and all(symbol_of(use.index[axis]) == counter for use, counter in uses)

    @property
    def width(self) -> int:
        """The length of a piece."""
        n = self.length
        even = [n // parts for parts in range(FEWEST, MOST + 1) if n % parts == 0]
        return min(even, key=lambda width: abs(n / width - PIECES), default=-(-n // PIECES))

    # --- the program

    @cached_property
    def cut(self) -> Cut:
        where = next((s.where for m in self.members for s in walk((m.statement,)) if s.where is not None), None)
        axes = tuple(sorted(self.axes.items()))
        return Cut(self.span, self.length, self.width, axes, tuple(self.local), where)

    @cached_property
    def program(self) -> Program:
        """The program with the members in pieces, and arrays that need storage for one piece only."""
        buffers, local = dict(self.whole.buffers), self.local
        for name in local:
            shape = list(buffers[name].shape)
            shape[self.axes[name]] = Lin(self.width)
            buffers[name] = replace(buffers[name], shape=tuple(shape))
        return replace(self.whole, buffers=buffers, body=self.replaced(self.pieces(self.width, local)))

    def pieces(self, width: int, local: list[str], is_parallel: bool = False) -> Block:
        """The members in pieces; a shorter last piece follows the loop.

        Args:
            local: arrays that have storage for one piece only.
            is_parallel: whether pieces may run in any order.
        """
        counter = names_of(self.whole).fresh("piece")
        count, rest = divmod(self.length, width)
        body = self._piece(Lin.symbol(counter).scaled(width), width, local)
        loop = Loop.over(counter, Lin(count), body, self.members[0].statement.where, is_parallel=is_parallel)
        return (loop, *self._piece(Lin(count * width), rest, local)) if rest else (loop,)

    def replaced(self, members: Block) -> Block:
        """The whole program with other statements in place of the members."""
        first, last = self.span
        before, after = self.whole.body[:first], self.whole.body[last + 1 :]
        return (*before, *self.before, *members, *self.after, *after)

    def _piece(self, start: Lin, width: int, local: list[str]) -> Block:
        block = tuple(restricted(m.statement, iter(m.along), start, width)[0] for m in self.members)
        return shifted(block, {name: self.axes[name] for name in local}, -start)


def _meet_in_step(x: Use, y: Use, of_x: str, of_y: str) -> bool:
    return not conflict(x, y) or is_same_trip(x, y, of_x, of_y)


def _without_clears(statement: Statement, along: tuple[str, ...]) -> tuple[list[Statement], Statement]:
    """The clear of a sum over the axis that is cut, which must come first, and its contributions; others unchanged."""
    if not isinstance(statement, Compute) or not statement.fresh or statement.accumulate != "add":
        return [], statement
    if along[0] in dict(own_params(statement)):
        return [], statement
    clear, statement = in_two(statement)
    return [clear], statement
