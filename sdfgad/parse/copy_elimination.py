"""Copy elimination (coalescing) of temporaries that are only copied: ``t = f(x); y = t`` becomes ``y = f(x)``.

The parser puts each new value of a name in a new buffer and copies it at phi nodes, at the end of a branch or of a
trip. Writing to the target of the copy directly saves the copy, and the residuals of the temporary.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sdfgad.dependence.hazards import is_hazard
from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import Expr, Int, Lin, Read, reads
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    buffers_of,
    changed,
    reads_of,
    rewrite_statement,
    transform,
    walk,
    written,
)


def coalesce(program: Program) -> Program:
    """The program without the copies whose source can be computed in the target, and without unused buffers."""
    coalescing = _Coalescing(program)
    while True:
        body = coalescing.block(program.body, Domain())
        if body == program.body:
            break
        program = program.with_body(body)
    program = program.with_body(transform(program.body, lambda s: () if is_self_assignment(s) else (s,)))
    used = {*program.inputs, *program.outputs.values(), *_uses(program.body)}
    body = transform(program.body, lambda s: (_without_guards(s, used),))
    return replace(program, body=body, buffers={name: b for name, b in program.buffers.items() if name in used})


def _without_guards(statement: Statement, used: set[str]) -> Statement:
    """A loop or branch without guards that read numbers which are computed under another name now."""
    if not isinstance(statement, Loop | Branch):
        return statement
    is_known = all(read.buffer in used for read in reads(*map(Int, statement.guards)))
    return statement if is_known else replace(statement, guards=())


def is_self_assignment(statement: Statement) -> bool:
    """Whether a statement assigns each element to itself."""
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return False
    return (statement.value.buffer, statement.value.index) == (statement.target.buffer, statement.target.index)


def _uses(block: Block) -> Counter[str]:
    """How many statements mention each buffer."""
    uses: Counter[str] = Counter()
    for statement in walk(block):
        uses.update(buffers_of(statement))
    return uses


class _Coalescing:
    """One sweep over a program, and how many of its statements mention each buffer meanwhile."""

    def __init__(self, program: Program) -> None:
        self.locals = set(program.buffers) - {*program.inputs, *program.outputs.values()}
        self.uses = _uses(program.body)

    def block(self, block: Block, domain: Domain) -> Block:
        indexed, end = _IndexedBlock(tuple(self.nested(statement, domain) for statement in block)), 0
        while end < len(indexed.statements):
            start = self.start(indexed, end, domain)
            if start is None:
                end += 1
                continue
            self.move(indexed, start, end)
            # What has been moved may be a copy that can be spared now.
            end = start
        return indexed.block

    def start(self, block: _IndexedBlock, end: int, domain: Domain) -> int | None:
        """The first of the statements that can write the target of the copy at `end` instead; None if it is to stay."""
        copy = _as_copy(block.statements[end])
        if copy is None or copy.source not in self.locals or copy.source == copy.target.buffer:
            return None
        mentions = block.mentions((copy.source,), 0, end + 1)
        if len(mentions) < 2 or _mentions(block.at(mentions), copy.source) != self.uses[copy.source]:
            return None
        between = block.at(block.mentions((copy.source, copy.target.buffer), mentions[0], end))
        is_free = _InterferenceCheck(copy, domain).block(between, False) is not None
        return mentions[0] if is_free else None

    def move(self, block: _IndexedBlock, start: int, end: int) -> None:
        """Let the statements from `start` on write the target of the copy at `end`, which is left out."""
        last = block.statements[end]
        copy = _as_copy(last)
        assert copy is not None
        assert last is not None
        mentions = block.mentions((copy.source,), start, end)
        old = block.at(mentions)
        new = transform(old, lambda s: (_redirected(s, copy),))
        self.uses.subtract(_uses((*old, last)))
        self.uses.update(_uses(new))
        block.replace(end, None)
        for position, statement in zip(mentions, new, strict=True):
            block.replace(position, statement)

    def nested(self, statement: Statement, domain: Domain) -> Statement:
        if isinstance(statement, Loop):
            return changed(statement, body=self.block(statement.body, domain.with_form(*statement.guards)))
        if isinstance(statement, Branch):
            then = self.block(statement.then, domain.with_form(*statement.guards))
            return changed(statement, then=then, orelse=self.block(statement.orelse, domain))
        return statement


class _IndexedBlock:
    """Inverted index: the statements of a block, None for those that are gone, and which of them mention a buffer."""

    def __init__(self, block: Block) -> None:
        self.statements: list[Statement | None] = list(block)
        self.positions: dict[str, list[int]] = {}
        for position, statement in enumerate(block):
            for name in statement.mentioned:
                self.positions.setdefault(name, []).append(position)

    @property
    def block(self) -> Block:
        return tuple(statement for statement in self.statements if statement is not None)

    def at(self, positions: Iterable[int]) -> Block:
        found = (self.statements[position] for position in positions)
        return tuple(statement for statement in found if statement is not None)

    def mentions(self, buffers: Iterable[str], start: int, end: int) -> list[int]:
        """The positions from `start` to before `end` of the statements that mention some of the buffers, in order."""
        found = set[int]()
        for positions in (self.positions.get(buffer, []) for buffer in buffers):
            found.update(positions[bisect_left(positions, start) : bisect_left(positions, end)])
        return sorted(found)

    def replace(self, position: int, new: Statement | None) -> None:
        old = self.statements[position]
        before = frozenset[str]() if old is None else old.mentioned
        after = frozenset[str]() if new is None else new.mentioned
        for name in before - after:
            self.positions[name].remove(position)
        for name in after - before:
            insort(self.positions.setdefault(name, []), position)
        self.statements[position] = new


@dataclass(frozen=True)
class _Copy:
    """``target = source[params]`` for every point of `params`."""

    source: str
    target: Access
    params: tuple[tuple[str, Lin], ...]

    def place(self, index: tuple[Lin, ...]) -> tuple[Lin, ...]:
        """The target's index to which the source's element at `index` is copied."""
        symbols = {name: i for (name, _), i in zip(self.params, index, strict=True)}
        return tuple(lin.substitute(symbols) for lin in self.target.index)


def _as_copy(statement: Statement | None) -> _Copy | None:
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return None
    read = statement.value
    is_plain = read.index == tuple(Lin.symbol(name) for name, _ in statement.params)
    is_linear = all(lin.is_affine for lin in statement.target.index)
    return _Copy(read.buffer, statement.target, statement.params) if is_plain and is_linear else None


def _mentions(block: Block, buffer: str) -> int:
    users = tuple(statement for statement in block if buffer in statement.mentioned)
    return sum(buffer in buffers_of(statement) for statement in walk(users))


class _InterferenceCheck:
    """Interference check: whether a copy's target may hold the source from the source's first write on."""

    def __init__(self, copy: _Copy, domain: Domain) -> None:
        self.copy, self.domain = copy, domain

    def block(self, block: Block, is_written: bool) -> bool | None:
        """Whether the source has been written by the end of `block`; None if source and target interfere in it."""
        state: bool | None = is_written
        for statement in block:
            state = self.statement(statement, bool(state))
            if state is None:
                return None
        return state

    def statement(self, statement: Statement, is_written: bool) -> bool | None:
        source, target = self.copy.source, self.copy.target.buffer
        read = {r.buffer for r in reads_of(statement)}
        reads_target = target in read
        if source in read and not is_written:
            return None
        if isinstance(statement, Call):
            # A call reads and writes whole buffers.
            touched = buffers_of(statement)
            return None if source in touched or target in written((statement,)) else is_written
        if isinstance(statement, Compute):
            if statement.target.buffer == target or (reads_target and is_written):
                return None
            if statement.target.buffer != source:
                return is_written
            return True if self._can_write_target(statement) else None
        if reads_target and is_written:
            return None
        if isinstance(statement, Branch):
            ends = [self.block(side, is_written) for side in (statement.then, statement.orelse)]
            return None if None in ends else any(ends)
        # A trip may read what the trip before it has written.
        if not is_written and _mentions(statement.body, source):
            return None
        return self.block(statement.body, is_written)

    def _can_write_target(self, statement: Compute) -> bool:
        """Whether a write of the source covers the elements that are copied, and may write the target instead."""
        extents = [extent for _, extent in statement.params]
        is_whole = statement.target.index == tuple(Lin.symbol(name) for name, _ in statement.params)
        is_sum = statement.accumulate is not None
        if not is_sum and (not is_whole or extents != [extent for _, extent in self.copy.params]):
            return False
        place = Access(self.copy.target.buffer, self.copy.place(statement.target.index))
        return not is_hazard(self.domain, statement.params, place, statement.value)


def _redirected(statement: Statement, copy: _Copy) -> Statement:
    """The statement with accesses of the copy's source replaced by accesses of its target."""

    def moved(node: Expr) -> Expr | None:
        if isinstance(node, Read) and node.buffer == copy.source:
            return Read(copy.target.buffer, copy.place(node.index), node.dtype)
        return None

    if copy.source not in buffers_of(statement):
        return statement
    result = rewrite_statement(statement, replace_node=moved)
    if isinstance(result, Compute) and result.target.buffer == copy.source:
        return replace(result, target=Access(copy.target.buffer, copy.place(result.target.index)))
    return result
