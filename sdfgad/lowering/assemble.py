"""One program from an adjoint and a plan: the forward sweep with its stores, then the reverse sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.analysis.flow import AFTER
from sdfgad.ir.expr import INT, Const
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Loop, Program, Statement, writes_of
from sdfgad.lowering.tapes import Counter, Tape, tapes_for
from sdfgad.plan import Plan
from sdfgad.reverse.adjoint import Adjoint, Key


@dataclass(frozen=True)
class GradientProgram:
    """The program that computes values and gradients.

    Attributes:
        program: its inputs are the primal's, then the cotangent of the output.
        cotangent: the input buffer that holds the output's cotangent.
        value: the buffer that holds the output at the end.
        gradients: input buffer of the primal -> buffer of its gradient.
        counting: a program that must run first, if any, to count trips whose number is data.
        totals: run-time integers of `program` -> the outputs of `counting` that give them.
    """

    program: Program
    cotangent: str
    value: str
    gradients: Mapping[str, str]
    counting: Program | None
    totals: Mapping[str, str]


def assemble(adjoint: Adjoint, plan: Plan, wrt: tuple[str, ...], output: str) -> GradientProgram:
    """The gradient program that does exactly what the plan says."""
    names, primal = adjoint.names, adjoint.primal
    _require_known_choices(adjoint, plan)
    tapes, counters = tapes_for(adjoint, names)
    buffers = dict(primal.buffers) | dict(adjoint.buffers) | {t.buffer.name: t.buffer for t in tapes.values()}
    buffers |= {counter.buffer.name: counter.buffer for counter in counters}
    cotangent = replace(primal.buffers[adjoint.output], name=names.fresh("cotangent"))
    buffers[cotangent.name] = cotangent
    value, copies = _safe_value(adjoint, buffers)
    body = (
        *_starts(counters),
        *_Forward(tapes, counters).block(primal.body),
        *copies,
        *_seeded(adjoint, buffers, cotangent),
        *_Reverse(adjoint, tapes, counters).block(primal.body, 0)[0],
    )
    gradients = {name: adjoint.bars[name] for name in wrt if name in adjoint.bars}
    program = replace(
        primal,
        name=names.fresh(f"{primal.name}_gradient"),
        buffers=buffers,
        inputs=(*primal.inputs, cotangent.name),
        integers=(*primal.integers, *(counter.total for counter in counters)),
        outputs={output: value} | {f"gradient of {name}": bar for name, bar in gradients.items()},
        body=body,
    )
    totals = {counter.total: counter.buffer.name for counter in counters}
    counting = _counting(primal, buffers, counters, names) if counters else None
    return GradientProgram(program, cotangent.name, value, gradients, counting, totals)


def _require_known_choices(adjoint: Adjoint, plan: Plan) -> None:
    for key in adjoint.residuals:
        if plan.choice(key) != "store":
            raise NotImplementedError(f"the plan asks for {plan.choice(key)}, which lowering does not know")


def _starts(counters: tuple[Counter, ...]) -> Block:
    return tuple(Compute((), Access(counter.buffer.name), Const(0, INT)) for counter in counters)


def _seeded(adjoint: Adjoint, buffers: dict[str, Buffer], cotangent: Buffer) -> Iterator[Statement]:
    """All adjoints cleared, and the output's set to the cotangent.

    Where the output depends on nothing in `wrt`, no adjoint has been made, and all gradients are zero.
    """
    for bar in adjoint.bars.values():
        yield _cleared(adjoint.names, buffers[bar])
    if adjoint.output in adjoint.bars:
        yield _whole(adjoint.names, buffers[adjoint.bars[adjoint.output]], cotangent, "add")


def _counting(primal: Program, buffers: dict[str, Buffer], counters: tuple[Counter, ...], names: Names) -> Program:
    """The forward program with the numbers of trips as its outputs."""
    return replace(
        primal,
        name=names.fresh(f"{primal.name}_trips"),
        buffers=buffers,
        outputs={f"trips of {counter.loop}": counter.buffer.name for counter in counters},
        body=(*_starts(counters), *_Forward({}, counters).block(primal.body)),
    )


def _safe_value(adjoint: Adjoint, buffers: dict[str, Buffer]) -> tuple[str, list[Compute]]:
    """The buffer that holds the output at the end: a copy, where the reverse sweep would undo it."""
    output, names = adjoint.output, adjoint.names
    if output not in {residual.buffer for residual in adjoint.residuals.values()}:
        return output, []
    copy = replace(buffers[output], name=names.fresh(f"{output}_out"))
    buffers[copy.name] = copy
    return copy.name, [_whole(names, copy, buffers[output], None)]


def _whole(names: Names, target: Buffer, source: Buffer, accumulate: str | None) -> Compute:
    params = tuple((names.fresh("p"), extent) for extent in source.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    value = Access(source.name, index).read(source.dtype)
    return Compute(params, Access(target.name, index), value, accumulate)  # type: ignore[arg-type]


def _cleared(names: Names, buffer: Buffer) -> Compute:
    params = tuple((names.fresh("p"), extent) for extent in buffer.shape)
    index = tuple(Lin.symbol(name) for name, _ in params)
    return Compute(params, Access(buffer.name, index), Const(0, buffer.dtype))


def _tapes_at(tapes: Mapping[Key, Tape], number: int, statement: Statement) -> list[Tape]:
    """The tapes of what a statement overwrites."""
    keys = [(number, access.buffer) for access, _ in writes_of(statement)]
    return [tapes[key] for key in keys if key in tapes]


def _step(counter: Counter, by: int) -> Compute:
    return Compute((), Access(counter.buffer.name), Const(by, INT), "add")


class _Forward:
    """The primal's statements, each preceded by the store of what it destroys."""

    def __init__(self, tapes: Mapping[Key, Tape], counters: tuple[Counter, ...]) -> None:
        self.tapes = tapes
        self.steps = {counter.loop: _step(counter, 1) for counter in counters}
        self.number = -1

    def block(self, block: Block) -> Block:
        return tuple(s for statement in block for s in self.statement(statement))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        self.number += 1
        if isinstance(statement, (Compute, Call)):
            yield from (tape.store for tape in _tapes_at(self.tapes, self.number, statement))
            yield statement
        elif isinstance(statement, Loop):
            step = (self.steps[statement.var],) if statement.var in self.steps else ()
            yield replace(statement, body=(*self.block(statement.body), *step))
        else:
            then = self.block(statement.then)
            yield replace(statement, then=then, orelse=self.block(statement.orelse))


class _Reverse:
    """The adjoints of the primal's statements in reverse order, each with the restore of what it destroyed."""

    def __init__(self, adjoint: Adjoint, tapes: Mapping[Key, Tape], counters: tuple[Counter, ...]) -> None:
        self.pieces, self.tapes = adjoint.pieces, tapes
        self.steps = {counter.loop: _step(counter, -1) for counter in counters}

    def block(self, block: Block, number: int) -> tuple[Block, int]:
        """The reverse of a block whose first statement has this number, and the number after its last."""
        parts: list[Block] = []
        for statement in block:
            reversed_statement, number = self.statement(statement, number)
            parts.append(reversed_statement)
        return tuple(s for part in reversed(parts) for s in part), number

    def statement(self, statement: Statement, number: int) -> tuple[Block, int]:
        if isinstance(statement, (Compute, Call)):
            return self.simple(statement, number), number + 1
        if isinstance(statement, Loop):
            body, after = self.block(statement.body, number + 1)
            step = (self.steps[statement.var],) if statement.var in self.steps else ()
            return ((replace(statement, body=(*step, *body), backward=True, is_open=False),) if body else ()), after
        then, middle = self.block(statement.then, number + 1)
        orelse, after = self.block(statement.orelse, middle)
        return ((replace(statement, then=then, orelse=orelse),) if then or orelse else ()), after

    def simple(self, statement: Compute | Call, number: int) -> Block:
        restore = tuple(tape.restore for tape in _tapes_at(self.tapes, number, statement))
        if number not in self.pieces:
            return restore
        piece = self.pieces[number]
        return (*piece.statements, *restore) if piece.phase == AFTER else (*restore, *piece.statements)
