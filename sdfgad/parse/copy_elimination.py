"""Copy elimination (coalescing) of temporaries that are only copied: ``t = f(x); y = t`` becomes ``y = f(x)``.

The parser puts each new value of a name in a new buffer and copies it at phi nodes, at the end of a branch or of a
trip. Writing to the target of the copy directly saves the copy, and the residuals of the temporary.
"""

from __future__ import annotations

from collections import Counter
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
    reads_of,
    rewrite_statement,
    transform,
    walk,
    written,
)


def coalesce(program: Program) -> Program:
    """The program without the copies whose source can be computed in the target, and without unused buffers."""
    locals_ = set(program.buffers) - {*program.inputs, *program.outputs.values()}
    uses = _uses(program.body)
    while True:
        body = _block(program.body, Domain(), locals_, uses)
        if body == program.body:
            break
        program, uses = program.with_body(body), _uses(body)
    program = program.with_body(transform(program.body, lambda s: () if is_self_assignment(s) else (s,)))
    used = {*program.inputs, *program.outputs.values(), *uses}
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


def _block(block: Block, domain: Domain, locals_: set[str], uses: Counter[str]) -> Block:
    for position, statement in enumerate(block):
        changed = _nested(statement, domain, locals_, uses)
        if changed != statement:
            # One change at a time, as `uses` is out of date now.
            return (*block[:position], changed, *block[position + 1 :])
    for end, statement in enumerate(block):
        copy = _as_copy(statement)
        if copy is None or copy.source not in locals_ or copy.source == copy.target.buffer:
            continue
        start = _first_mention(block[:end], copy.source)
        if start is None or _mentions(block[start : end + 1], copy.source) != uses[copy.source]:
            continue
        if _InterferenceCheck(copy, domain).block(block[start:end], False) is not None:
            moved = transform(block[start:end], lambda s, copy=copy: (_redirected(s, copy),))  # type: ignore[misc]
            return block[:start] + moved + block[end + 1 :]
    return block


def _nested(statement: Statement, domain: Domain, locals_: set[str], uses: Counter[str]) -> Statement:
    if isinstance(statement, Loop):
        inside = domain.with_form(*statement.guards)
        return replace(statement, body=_block(statement.body, inside, locals_, uses))
    if isinstance(statement, Branch):
        then = _block(statement.then, domain.with_form(*statement.guards), locals_, uses)
        if then != statement.then:
            return replace(statement, then=then)
        return replace(statement, orelse=_block(statement.orelse, domain, locals_, uses))
    return statement


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


def _as_copy(statement: Statement) -> _Copy | None:
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return None
    read = statement.value
    is_plain = read.index == tuple(Lin.symbol(name) for name, _ in statement.params)
    is_linear = all(lin.is_affine for lin in statement.target.index)
    return _Copy(read.buffer, statement.target, statement.params) if is_plain and is_linear else None


def _first_mention(block: Block, buffer: str) -> int | None:
    return next((k for k, statement in enumerate(block) if buffer in statement.mentioned), None)


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
    changed = rewrite_statement(statement, replace_node=moved)
    if isinstance(changed, Compute) and changed.target.buffer == copy.source:
        return replace(changed, target=Access(copy.target.buffer, copy.place(changed.target.index)))
    return changed
