"""Taping of comparison outcomes: where an adjoint needs only which side was chosen, one bit is saved, not the operands.

The adjoint of ``np.minimum(a, b)`` or of a `where` needs only which side was chosen. If its operands would have to be
saved for that alone, a statement before it (the note) stores the outcomes in a byte, and the adjoint reads the byte: a
residual of one byte instead of a number. As the note is a statement of the program, it can be stored, recomputed and
checkpointed like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdfgad.analysis.flow import BEFORE
from sdfgad.analysis.model import numbered
from sdfgad.ir.expr import BOOL, Const, Expr, Lin, Op, Read, reads, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Program, Statement, with_blocks
from sdfgad.reverse.residuals import Residual, StatementAdjoint, residuals_of
from sdfgad.reverse.save_points import Key, SavePoints

BYTE = np.dtype(np.uint8)
MOST = 8 * BYTE.itemsize  # Outcomes in one note.
Saved = Callable[[Mapping[int, StatementAdjoint]], frozenset[Key]]


@dataclass(frozen=True)
class Choice:
    """The outcomes that the adjoint of one statement needs.

    Attributes:
        outcomes: the comparisons, over the statement's box.
        sources: the buffers that they read.
        place: the element that the note writes.
    """

    statement: Compute
    outcomes: tuple[Expr, ...]
    sources: frozenset[str]
    place: Access

    @property
    def dtype(self) -> np.dtype[np.uint8] | np.dtype[np.bool_]:
        return BOOL if len(self.outcomes) == 1 else BYTE

    @property
    def buffer(self) -> Buffer:
        shape = tuple(extent for _, extent in self.statement.params)
        return Buffer(self.place.buffer, shape, self.dtype, self.place.buffer, self.statement.where)

    @property
    def note(self) -> Compute:
        """The statement that stores the outcomes."""
        value = self.outcomes[0]
        if self.dtype == BYTE:
            bits = [_bit(outcome, 1 << k) for k, outcome in enumerate(self.outcomes)]
            value = bits[0]
            for bit in bits[1:]:
                value = Op("bitwise_or", (value, bit), BYTE)
        return Compute(self.statement.params, self.place, value, None, self.statement.where)

    def reading(self, adjoint: StatementAdjoint) -> StatementAdjoint:
        """The adjoint that reads the note."""
        noted = self.place.read(self.dtype)
        known: dict[Expr, Expr] = {self.outcomes[0]: noted}
        if self.dtype == BYTE:
            known = {outcome: _is_set(noted, 1 << k) for k, outcome in enumerate(self.outcomes)}
        parts = [self._with(part, known) if isinstance(part, Compute) else part for part in adjoint.statements]
        return replace(adjoint, statements=tuple(parts))

    def _with(self, part: Compute, known: Mapping[Expr, Expr]) -> Compute:
        if part.params != self.statement.params:
            return part
        return replace(part, value=rewrite(part.value, replace=known.get))


def _bit(outcome: Expr, bit: int) -> Expr:
    return Op("select", (outcome, Const(bit, BYTE), Const(0, BYTE)), BYTE)


def _is_set(noted: Read, bit: int) -> Expr:
    return Op("not_equal", (Op("bitwise_and", (noted, Const(bit, BYTE)), BYTE), Const(0, BYTE)), BOOL)


def keep_outcomes(
    save_points: SavePoints,
    adjoints: Mapping[int, StatementAdjoint],
    saved: frozenset[Key],
    needed: Saved,
    names: Names,
) -> tuple[Program, dict[int, StatementAdjoint]]:
    """The program with notes, and the adjoints that read them, where that saves fewer bytes.

    Args:
        saved: what must be saved without notes.
        needed: gives what must be saved for other adjoints.
    """
    program, lost = save_points.program, frozenset(buffer for _, buffer in saved)
    found = dict(_choices(program, adjoints, lost, names)) if lost else {}
    while found:
        trial = {n: found[n].reading(adjoint) if n in found else adjoint for n, adjoint in adjoints.items()}
        freed = residuals_of(save_points, saved - needed(trial))
        paid = _paid(found, freed, save_points)
        if len(paid) == len(found):
            return _noted(program, trial, found)
        found = paid
    return program, dict(adjoints)


def _choices(
    program: Program, adjoints: Mapping[int, StatementAdjoint], lost: frozenset[str], names: Names
) -> Iterator[tuple[int, Choice]]:
    for number, statement in enumerate(numbered(program.body)):
        adjoint = adjoints.get(number)
        if adjoint is None or adjoint.phase != BEFORE or not isinstance(statement, Compute):
            continue
        if not all(extent.is_const for _, extent in statement.params):
            continue
        parts = [s.value for s in adjoint.statements if isinstance(s, Compute) and s.params == statement.params]
        outcomes = tuple(dict.fromkeys(o for value in parts for o in _outcomes(value, program, lost)))
        if 0 < len(outcomes) <= MOST:
            place = Access(names.fresh(f"{statement.target.buffer}_choice"), _point(statement))
            yield number, Choice(statement, outcomes, frozenset(r.buffer for r in reads(*outcomes)), place)


def _point(statement: Compute) -> tuple[Lin, ...]:
    return tuple(Lin.symbol(name) for name, _ in statement.params)


def _outcomes(value: Expr, program: Program, lost: frozenset[str]) -> Iterator[Expr]:
    """The largest boolean subexpressions that read only values of the program, some of them in `lost`."""
    pending, seen = [value], {value}
    while pending:
        node = pending.pop()
        sources = {read.buffer for read in reads(node)}
        if sources.isdisjoint(lost):
            continue
        if isinstance(node, Op) and node.name == "vanishes":
            # The test of a strong zero must be seen as such where the adjoint is differentiated again.
            continue
        if node.dtype == BOOL and isinstance(node, Op) and sources <= program.buffers.keys():
            yield node
            continue
        fresh = [child for child in node.children if child not in seen]
        seen.update(fresh)
        pending += reversed(fresh)


def _paid(found: Mapping[int, Choice], freed: Mapping[Key, Residual], save_points: SavePoints) -> dict[int, Choice]:
    """The choices that make a larger residual, saved for the same trips and box, unnecessary.

    A note has a buffer besides its tape: twice its bytes are counted.
    """
    room = Counter({key: save_points.program.buffers[key[1]].dtype.itemsize // (2 * BYTE.itemsize) for key in freed})
    paid = {}
    for number, choice in found.items():
        extents = Counter(extent for _, extent in choice.statement.params)
        for key, residual in freed.items():
            is_alike = residual.loops == save_points.loops[number] and Counter(e for _, e in residual.params) == extents
            if is_alike and key[1] in choice.sources and room[key] > 0:
                room[key] -= 1
                paid[number] = choice
                break
    return paid


def _noted(
    program: Program, adjoints: Mapping[int, StatementAdjoint], choices: Mapping[int, Choice]
) -> tuple[Program, dict[int, StatementAdjoint]]:
    """The program with the notes before their statements, and the adjoints by their new numbers."""
    moved: list[int] = []  # The new number of each statement.

    def visit(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            number = len(moved)
            before = sum(1 for other in choices if other <= number)
            moved.append(number + before)
            if number in choices:
                result.append(choices[number].note)
            result.append(with_blocks(statement, visit))
        return tuple(result)

    body = visit(program.body)
    buffers = dict(program.buffers) | {choice.place.buffer: choice.buffer for choice in choices.values()}
    noted = replace(program, body=body, buffers=buffers)
    return noted, {moved[number]: adjoint for number, adjoint in adjoints.items()}
