"""Recomputation (rematerialisation): which values the reverse sweep could compute again, instead of having them stored.

Buffers that the statements of one block write, and no others, can be recomputed in the reverse sweep of that block if
each of their readers reads the value that the last of these statements leaves, and if all that the statements read is
still available there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from sdfgad.analysis.exposure import exposed
from sdfgad.analysis.flow import BEFORE, OverwriteAnalysis, Request
from sdfgad.analysis.model import numbered
from sdfgad.ir.expr import Op, postorder, reads
from sdfgad.ir.library import communicates
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Compute,
    Loop,
    Program,
    Statement,
    boxed_reads,
    walk,
    writes_of,
    written,
)
from sdfgad.reverse.residuals import ADJOINT, Answers, Asked, Recompute, StatementAdjoint, asked

IGNORED = frozenset({"status"})


@dataclass(frozen=True)
class Section:
    """A block, with the numbers of its statements and the loops around it."""

    items: tuple[tuple[int, Statement], ...]
    loops: tuple[tuple[int, Loop], ...]
    is_top: bool

    @property
    def block(self) -> Block:
        return tuple(statement for _, statement in self.items)

    @property
    def range(self) -> tuple[int, int]:
        last, statement = self.items[-1]
        return self.items[0][0], last + statement.size + 1


def sections(body: Block) -> Iterator[Section]:
    """All blocks of a program that are not empty, outer before inner."""

    def visit(block: Block, first: int, loops: tuple[tuple[int, Loop], ...], is_top: bool) -> Iterator[Section]:
        items: list[tuple[int, Statement]] = []
        for statement in block:
            items.append((first, statement))
            first += statement.size + 1
        if items:
            yield Section(tuple(items), loops, is_top)
        for number, statement in items:
            if isinstance(statement, Loop):
                yield from visit(statement.body, number + 1, (*loops, (number, statement)), False)
            elif isinstance(statement, Branch):
                yield from visit(statement.then, number + 1, loops, False)
                orelse = number + 1 + len(list(walk(statement.then)))
                yield from visit(statement.orelse, orelse, loops, False)

    yield from visit(body, 0, (), True)


def find_recomputable(
    program: Program, context: isl.Set, adjoints: Mapping[int, StatementAdjoint], output: str
) -> tuple[Recompute, ...]:
    """All values that can be recomputed and that the reverse sweep, or another recomputation, needs."""
    finder = _Finder(program, context, adjoints, output)
    found = [one for section in sections(program.body) for one in finder.of(section)]
    answers = Answers(found)
    late = {
        k
        for one in asked(program, adjoints, frozenset(), found)
        if one.reader == ADJOINT
        for k in answers.all_to(one)
        if one.number > found[k].latest + finder.statements[found[k].latest].size
    }
    return tuple(_useful([one for k, one in enumerate(found) if k not in late], program, adjoints))


class _Finder:
    def __init__(
        self, program: Program, context: isl.Set, adjoints: Mapping[int, StatementAdjoint], output: str
    ) -> None:
        self.program, self.context, self.statement_adjoints = program, context, adjoints
        self.kept = {*program.inputs, output, *IGNORED, *_compared(program)}
        self.asked: dict[int, list[Request]] = {}
        for one in asked(program, adjoints, frozenset()):
            self.asked.setdefault(one.number, []).append(one.request)
        self.writers: dict[str, list[int]] = {}
        self.statements = numbered(program.body)
        for number, statement in enumerate(self.statements):
            for access, _ in writes_of(statement):
                self.writers.setdefault(access.buffer, []).append(number)

    def of(self, section: Section) -> Iterator[Recompute]:
        groups = [g for g in _groups(section) if self._is_own(g, section)]
        groups = self._determined(groups, section)
        for buffers, members in groups:
            latest = self._latest(buffers, members, section)
            if latest >= 0:
                numbers = tuple(section.items[m][0] for m in members)
                yield Recompute(buffers, numbers, section.range, latest, section.loops)

    def _is_own(self, group: tuple[frozenset[str], tuple[int, ...]], section: Section) -> bool:
        """Whether only this section writes the buffers, without messages and loops whose end depends on a test."""
        buffers, members = group
        if buffers & self.kept:
            return False
        if any(isinstance(s, Loop) and s.is_open for m in members for s in walk((section.items[m][1],))):
            return False
        if any(communicates((section.items[m][1],)) for m in members):
            return False
        low, high = section.range
        return all(low <= number < high for buffer in buffers for number in self.writers[buffer])

    def _determined(
        self, groups: list[tuple[frozenset[str], tuple[int, ...]]], section: Section
    ) -> list[tuple[frozenset[str], tuple[int, ...]]]:
        """The groups whose readers all see the final values, computed in the same run of the block."""
        names = frozenset(name for buffers, _ in groups for name in buffers)
        if not names:
            return []
        low, high = section.range
        requests = {n - low: [*self.asked[n]] for n in range(low, high) if n in self.asked}
        early = frozenset[str]()
        if not section.is_top:
            early = exposed(section.block, names, self.program.buffers, self.context, requests)
        for number, request in self._foreign_reads(groups, section):
            requests.setdefault(number - low, []).append(request)
        destroyed = OverwriteAnalysis(section.block, self.program.buffers, self.context).of(requests, names)
        unclear = early | {buffer for _, buffer in destroyed}
        return [group for group in groups if not group[0] & unclear]

    def _foreign_reads(
        self, groups: list[tuple[frozenset[str], tuple[int, ...]]], section: Section
    ) -> Iterator[tuple[int, Request]]:
        """Reads of a group's buffers by statements outside the group, which may be recomputed themselves."""
        owner = {name: members for buffers, members in groups for name in buffers}
        for position, (number, statement) in enumerate(section.items):
            for offset, inner in enumerate(walk((statement,))):
                for read, params in boxed_reads(inner):
                    if position not in owner.get(read.buffer, (position,)):
                        yield number + offset, Request(Access(read.buffer, read.index), params, BEFORE)

    def _latest(self, buffers: frozenset[str], members: tuple[int, ...], section: Section) -> int:
        """The last statement before whose adjoint the members' operands have the values that they read, or -1."""
        sources = {
            read.buffer
            for m in members
            for statement in walk((section.items[m][1],))
            for read, _ in boxed_reads(statement)
        } - buffers
        for position in range(members[0], len(section.items)):
            number, statement = section.items[position]
            if position in members or sources.isdisjoint(statement.written):
                continue
            if section.is_top or position < members[-1]:
                return -1
            adjoint = self.statement_adjoints.get(number)
            is_after = not isinstance(statement, Compute) or (adjoint is not None and adjoint.phase != BEFORE)
            return section.items[position - is_after][0]
        return section.items[-1][0]


def _compared(program: Program) -> set[str]:
    """The buffers whose real values are compared with others: recomputed, they might be rounded differently.

    Where ``m = np.max(t)``, some element of `t` equals `m`, but perhaps none of a recomputed `t`.
    """
    values = [s.value for s in walk(program.body) if isinstance(s, Compute)]
    conditions = [s.condition for s in walk(program.body) if isinstance(s, Branch)]
    found: set[str] = set()
    for node in postorder(*values, *conditions):
        if isinstance(node, Op) and OPERATIONS[node.name].is_comparison and node.args[0].dtype.kind == "f":
            sides = [{read.buffer for read in reads(arg)} for arg in node.args]
            found |= set[str]().union(*sides) if all(sides) else set()
    return found


def _groups(section: Section) -> list[tuple[frozenset[str], tuple[int, ...]]]:
    """The buffers that a section writes, grouped where one statement writes several, with the writers' positions."""
    groups: list[tuple[set[str], set[int]]] = []
    for position, (_, statement) in enumerate(section.items):
        buffers, members = written((statement,)) - IGNORED, {position}
        for other in [g for g in groups if g[0] & buffers]:
            groups.remove(other)
            buffers, members = buffers | other[0], members | other[1]
        if buffers:
            groups.append((buffers, members))
    return [(frozenset(buffers), tuple(sorted(members))) for buffers, members in groups]


def _useful(found: list[Recompute], program: Program, adjoints: Mapping[int, StatementAdjoint]) -> Iterable[Recompute]:
    """The recomputations that an adjoint, or another useful one, reads."""
    everything: list[Asked] = list(asked(program, adjoints, frozenset(), found))
    answers = Answers(found)
    useful: set[int] = set()
    while True:
        grown = {k for one in everything if one.reader == ADJOINT or one.reader in useful for k in answers.all_to(one)}
        if grown <= useful:
            return [one for k, one in enumerate(found) if k in useful]
        useful |= grown
