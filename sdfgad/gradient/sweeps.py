"""Forward and reverse sweep: the primal's statements with stores to tapes, and their adjoints in reverse order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sdfgad.analysis.flow import AFTER
from sdfgad.analysis.model import numbered
from sdfgad.gradient.checkpoints import Checkpoint, checkpointed_forward, checkpointed_reverse
from sdfgad.gradient.counting import step
from sdfgad.gradient.tape_slots import Slot, on_tape
from sdfgad.gradient.tapes import Counter, Tape
from sdfgad.gradient.trip_ends import Ends
from sdfgad.ir.expr import Int, Lin, reads
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Block,
    Branch,
    Call,
    Compute,
    Loop,
    Statement,
    buffers_of,
    rewrite_statement,
    walk,
    writes_of,
    written,
)
from sdfgad.ir.rename import renamed
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Recompute
from sdfgad.reverse.save_points import Key


@dataclass(frozen=True)
class Copies:
    """Buffers for recomputed values: for each `Recompute` a renaming, old name -> new name."""

    recomputes: Sequence[Recompute]
    names: Sequence[Mapping[str, str]]

    def at(self, number: int) -> Mapping[str, str]:
        """The renaming for what the adjoint of a statement reads."""
        inner = [names for block, names in self._inner if block[0] <= number < block[1]]
        return (
            {old: new for names in (self.everywhere, *inner) for old, new in names.items()}
            if inner
            else self.everywhere
        )

    @cached_property
    def everywhere(self) -> Mapping[str, str]:
        """The renaming that holds everywhere in the reverse sweep: of values recomputed in the outermost block."""
        chosen = zip(self.recomputes, self.names, strict=True)
        return {old: new for a, ns in chosen if a.is_outermost for old, new in ns.items()}

    @cached_property
    def _inner(self) -> list[tuple[tuple[int, int], Mapping[str, str]]]:
        chosen = zip(self.recomputes, self.names, strict=True)
        return [(a.block, ns) for a, ns in chosen if not a.is_outermost]

    @cached_property
    def recompute_of(self) -> Mapping[str, int]:
        """For each new name the position of the `Recompute` that computes it."""
        return {new: position for position, names in enumerate(self.names) for new in names.values()}


class Sweeps:
    """Emits blocks of both sweeps; statements are known by their numbers.

    Args:
        slots: the arrays that are stored in tape slots from the start.
        ends: the residuals that are stored at the end of a loop's trips, by the loop's number.
    """

    def __init__(
        self,
        adjoint: Adjoint,
        tapes: Mapping[Key, Tape],
        counters: Iterable[Counter],
        checkpoints: Mapping[int, Checkpoint],
        copies: Copies,
        names: Names,
        slots: Mapping[Key, Slot],
        ends: Mapping[int, Ends],
    ) -> None:
        self.adjoint, self.tapes, self.checkpoints, self.slots = adjoint, tapes, checkpoints, slots
        self.ends, self.elsewhere = ends, {*slots, *(key for keys in ends.values() for key in keys)}
        self.copies, self.names = copies, names
        self.counters = {counter.loop: counter for counter in counters}
        self.statements = numbered(adjoint.primal.body)
        self.messages = {n: one for checkpoint in checkpoints.values() for n, one in checkpoint.messages.items()}
        # Whether what is emitted runs again what the forward sweep has run.
        self.is_replay = False

    # --- forward

    def forward(self, block: Block, number: int, taping: bool = True) -> Block:
        """The statements of a block, the first of which has this number, with their stores to tapes if `taping`."""
        result: list[Statement] = []
        for statement in block:
            result.extend(self.forward_of(statement, number, taping))
            number += statement.size + 1
        return tuple(result)

    def forward_of(self, statement: Statement, number: int, taping: bool = True) -> Block:
        stores = tuple(tape.store for _, tape in self._tapes_at(number)) if taping else ()
        if number in self.messages:
            logged = self.messages[number]
            return (*stores, *(logged.replayed if self.is_replay else logged.logging))
        return (*stores, *self._forward_of(statement, number, taping))

    def _forward_of(self, statement: Statement, number: int, taping: bool) -> Block:
        if isinstance(statement, (Compute, Call)):
            return (statement,)
        if isinstance(statement, Branch):
            then = self.forward(statement.then, number + 1, taping)
            orelse = self.forward(statement.orelse, _orelse(statement, number), taping)
            return (replace(statement, then=then, orelse=orelse),)
        if taping and number in self.checkpoints:
            advance = self.forward(statement.body, number + 1, taping=False)
            return checkpointed_forward(self.checkpoints[number], advance, self.names)
        body = self._trip(statement, number, taping)
        return (replace(statement, body=(*body, *self._steps(statement, 1)) if taping else body),)

    def _trip(self, loop: Loop, number: int, taping: bool) -> Block:
        body = self.forward(loop.body, number + 1, taping)
        stores = tuple(self.tapes[key].store for key in self.ends.get(number, ()))
        return self._on_tapes((*body, *stores), loop, number) if taping else body

    def _on_tapes(self, body: Block, loop: Loop, number: int) -> Block:
        """A trip, or its adjoint, with arrays replaced by the tape slots in which they are stored."""
        slots = {
            slot.buffer: slot
            for (other, _), slot in self.slots.items()
            if number < other <= number + loop.size and self.adjoint.save_points.loops[other][-1][0] == number
        }
        return on_tape(body, slots) if slots else body

    def _from_ends(self, body: Block, number: int) -> Block:
        """The reversal of a trip, with what the trip stored at its end."""
        ends = self.ends.get(number, {})
        return renamed((*self._restored(ends), *body), {buffer: new for (_, buffer), new in ends.items()})

    def _steps(self, loop: Loop, by: int) -> Block:
        return (step(self.counters[loop.var].buffer, by),) if loop.var in self.counters else ()

    def _tapes_at(self, number: int) -> list[tuple[str, Tape]]:
        """The tapes that are filled before a statement, by buffer."""
        statement = self.statements[number]
        names = [access.buffer for access, _ in writes_of(statement)]
        if isinstance(statement, Loop):
            names = [buffer for other, buffer in self.tapes if other == number]
        keys = [(number, name) for name in names]
        return [(key[1], self.tapes[key]) for key in keys if key in self.tapes and key not in self.elsewhere]

    # --- reverse

    def reverse(self, block: Block, number: int) -> list[tuple[int, Block]]:
        """The reversal of a block: for each statement, last first, its number and the statements that reverse it."""
        parts: list[tuple[int, Block, Block]] = []
        for statement in block:
            before, main = self._reverse_of(statement, number)
            parts.insert(0, (number, before, main))
            number += statement.size + 1
        first = number - sum(s.size + 1 for s in block)
        return self._with_recomputes(parts, (first, number))

    def _reversed_block(self, block: Block, number: int) -> Block:
        return tuple(s for _, part in self.reverse(block, number) for s in part)

    def _reverse_of(self, statement: Statement, number: int) -> tuple[Block, Block]:
        """The reversal of a statement, in two parts: values can be recomputed between them."""
        if isinstance(statement, (Compute, Call)):
            return self._reverse_simple(number)
        names = self.copies.at(number)
        if isinstance(statement, Branch):
            then = self._reversed_block(statement.then, number + 1)
            orelse = self._reversed_block(statement.orelse, _orelse(statement, number))
            (branch,) = renamed((replace(statement, then=(), orelse=()),), names)
            assert isinstance(branch, Branch)
            return (), ((replace(branch, then=then, orelse=orelse),) if then or orelse else ())
        body, restore = self._reversed_block(statement.body, number + 1), self._restores(number)
        if not body:
            return (), restore
        body = self._on_tapes(self._from_ends(body, number), statement, number)
        if number in self.checkpoints:
            return (), (self._checkpointed(statement, number, body), *restore)
        body = (*self._steps(statement, -1), *body)
        (loop,) = renamed((replace(statement, body=(), guards=_restored_guards(statement)),), names)
        assert isinstance(loop, Loop)
        return (), (replace(loop, body=body, backward=True, is_open=False), *restore)

    def _checkpointed(self, loop: Loop, number: int, reverse: Block) -> Statement:
        names = self.copies.everywhere
        before, self.is_replay = self.is_replay, True
        advance, taping = (renamed(self._trip(loop, number, t), names) for t in (False, True))
        self.is_replay = before
        return checkpointed_reverse(self.checkpoints[number], advance, taping, reverse, self.names)

    def _reverse_simple(self, number: int) -> tuple[Block, Block]:
        restore = self._restores(number)
        statement_adjoint = self.adjoint.statement_adjoints.get(number)
        if statement_adjoint is None:
            return restore, ()
        statements = renamed(statement_adjoint.statements, self.copies.at(number))
        return ((), (*statements, *restore)) if statement_adjoint.phase == AFTER else (restore, statements)

    def _restores(self, number: int) -> Block:
        """What is restored where a statement is reversed."""
        return self._restored((number, buffer) for buffer, _ in self._tapes_at(number))

    def _restored(self, keys: Iterable[Key]) -> Block:
        restore: Block = ()
        for key in keys:
            names = {old: new for old, new in self.copies.everywhere.items() if old != key[1]}
            restore += renamed((self.tapes[key].restore,), names)
        return restore

    # --- recomputation

    def _with_recomputes(
        self, parts: list[tuple[int, Block, Block]], block: tuple[int, int]
    ) -> list[tuple[int, Block]]:
        """The parts, with each value recomputed in this block before it is first read."""
        waiting = {k for k, recompute in enumerate(self.copies.recomputes) if recompute.block == block}
        result: list[tuple[int, Block]] = []
        for number, before, main in parts:
            both: list[Statement] = []
            for part in (before, main):
                self._recompute(_buffers(part), waiting, both, number)
                both.extend(part)
            result.append((number, tuple(both)))
        return result

    def _recompute(self, wanted: set[str], waiting: set[int], emitted: list[Statement], number: int) -> None:
        recompute_of = self.copies.recompute_of
        for k in sorted({recompute_of[name] for name in wanted & recompute_of.keys()}):
            if k not in waiting:
                continue
            waiting.remove(k)
            recompute = self.copies.recomputes[k]
            assert number <= recompute.latest, "the plan recomputes a value after its inputs have changed"
            statements = self._recomputation(k)
            self._recompute(_buffers(statements) - set(self.copies.names[k].values()), waiting, emitted, number)
            emitted.extend(statements)

    def _recomputation(self, k: int) -> Block:
        """The statements that recompute a value."""
        recompute, result = self.copies.recomputes[k], list[Statement]()
        for number in recompute.members:
            assert not self._holds_checkpoint(number), "a checkpointed loop cannot be recomputed"
            for statement in _without_checks(self.forward_of(self.statements[number], number, taping=False)):
                result.extend(renamed((statement,), self.copies.at(number)))
        return tuple(result)

    def _holds_checkpoint(self, number: int) -> bool:
        last = number + self.statements[number].size
        return any(number <= loop <= last for loop in self.checkpoints)


def _orelse(branch: Branch, number: int) -> int:
    """The number of the first statement of a branch's other side."""
    return number + 1 + len(list(walk(branch.then)))


def _buffers(block: Block) -> set[str]:
    return {name for statement in walk(block) for name in buffers_of(statement)}


def _without_checks(block: Block) -> Block:
    """A block without its checks, which the forward sweep has already done."""
    result: list[Statement] = []
    for statement in block:
        if isinstance(statement, Loop):
            result.append(replace(statement, body=_without_checks(statement.body)))
        elif isinstance(statement, Branch):
            then, orelse = _without_checks(statement.then), _without_checks(statement.orelse)
            result.append(replace(statement, then=then, orelse=orelse))
        elif "status" not in written((statement,)) or isinstance(statement, Call):
            result.append(rewrite_statement(statement))
    return tuple(result)


def _restored_guards(loop: Loop) -> tuple[Lin, ...]:
    """The guards of a loop that hold in its reversal: what they read is restored only where its bounds read it, too."""
    bounds = set(reads(Int(loop.start), Int(loop.trips)))
    return tuple(guard for guard in loop.guards if bounds.issuperset(reads(Int(guard))))
