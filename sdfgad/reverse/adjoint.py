"""The adjoint of a program: one piece per active statement, and the residuals that the pieces ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import islpy as isl

from sdfgad.analysis.activity import active_buffers
from sdfgad.analysis.flow import AFTER, BEFORE, Destruction, Request
from sdfgad.analysis.forward import forward_inputs
from sdfgad.analysis.model import numbered
from sdfgad.analysis.propagate import propagate_scalars
from sdfgad.errors import Location, MissingRule
from sdfgad.ir.expr import Const, Expr, Read, postorder, reads, rewrite
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    boxed_reads,
    computes,
    reads_of,
    walk,
    writes_of,
)
from sdfgad.reverse.calls import missing_call_rules, pullback_of_call
from sdfgad.rules.expression import missing_rules, varying
from sdfgad.rules.statements import COUNT, STATEMENT_RULES, Pullback, target_params

Key = tuple[int, str]


@dataclass(frozen=True)
class Piece:
    """The adjoint of one statement; `phase` says whether it reads values from before or after the statement."""

    statements: tuple[Compute | Call, ...]
    phase: int


@dataclass(frozen=True)
class Residual:
    """The values of one buffer that one statement overwrites and that the reverse sweep needs.

    Attributes:
        statement: the number of the overwriting statement.
        buffer: what it overwrites; `access` over the box `params` are the elements.
        loops: the enclosing loops, outermost first: one set of values for each of their trips.
        where: the user's line that overwrites.
    """

    statement: int
    buffer: str
    access: Access
    params: tuple[tuple[str, Lin], ...]
    loops: tuple[Loop, ...]
    where: Location | None


@dataclass(frozen=True)
class Adjoint:
    """Reverse-mode adjoint of `primal`.

    Attributes:
        context: the values of run-time integers for which it holds.
        pieces: statement number -> its adjoint.
        residuals: by the number of the overwriting statement and the buffer.
        bars: active buffer -> the buffer of its adjoint.
        buffers: storage of the adjoint, without tapes.
        output: the buffer that is differentiated.
    """

    primal: Program
    context: isl.Set
    pieces: Mapping[int, Piece]
    residuals: Mapping[Key, Residual]
    bars: Mapping[str, str]
    buffers: Mapping[str, Buffer]
    output: str
    names: Names = field(compare=False)


def differentiate_program(program: Program, context: isl.Set, wrt: Iterable[str], output: str) -> Adjoint:
    """The adjoint of `program` for the derivative of one output buffer by input buffers.

    Raises:
        MissingRule: operations on the differentiated path have no rule; all of them are listed.
    """
    program = propagate_scalars(forward_inputs(program, context))
    active, _ = active_buffers(program, wrt, output, dependences)
    _check_rules(program, active)
    names = Names((*program.buffers, *program.integers, *_symbols(program.body)))
    bars = {name: names.fresh(f"{name}_bar") for name in program.buffers if name in active}
    buffers = {bar: replace(program.buffers[name], name=bar) for name, bar in bars.items()}
    pieces: dict[int, Piece] = {}
    for number, statement in enumerate(numbered(program.body)):
        if isinstance(statement, Compute) and statement.target.buffer in active:
            pieces[number] = _piece(program, statement, bars, buffers, names)
        elif isinstance(statement, Call) and any(whole.buffer in active for whole in statement.outputs):
            pieces[number] = Piece(pullback_of_call(statement, program.buffers, bars, buffers, names), AFTER)
    destruction = Destruction(program.body, context)
    saved = _saved(program, destruction, pieces)
    pieces, saved = _using_results(program, destruction, pieces, saved, bars)
    residuals = _residuals(program, saved)
    return Adjoint(program, context, pieces, residuals, bars, buffers, output, names)


def dependences(statement: Statement) -> list[Read]:
    """The reads through which what a statement writes varies differentiably."""
    if isinstance(statement, Call):
        return reads_of(statement) if LIBRARY[statement.name].is_differentiable else []
    if not isinstance(statement, Compute):
        return []
    return [node for node in varying(statement.value) if isinstance(node, Read) and _reaches(statement.value, node)]


def _reaches(value: Expr, leaf: Read) -> bool:
    return value in varying(value, frozenset({leaf.buffer}))


def _check_rules(program: Program, active: frozenset[str]) -> None:
    missing = [
        (name, statement.where)
        for statement in computes(program.body)
        if statement.target.buffer in active
        for name in missing_rules(statement.value, active)
    ]
    missing += missing_call_rules(program, active)
    if missing:
        raise MissingRule(list(dict.fromkeys(missing)))


def _symbols(body: Block) -> set[str]:
    loops = {s.var for s in walk(body) if isinstance(s, Loop)}
    return loops | {name for s in computes(body) for name, _ in s.params}


# --- one statement


def _piece(
    program: Program,
    statement: Compute,
    bars: dict[str, str],
    buffers: dict[str, Buffer],
    names: Names,
    prefer_result: bool = False,
) -> Piece:
    dtype = program.buffers[statement.target.buffer].dtype
    target_bar = Access(bars[statement.target.buffer], statement.target.index)
    t = target_bar.read(dtype)
    pulled = STATEMENT_RULES[statement.accumulate](statement, t, frozenset(bars))
    pulled = _with_result(statement, pulled, prefer_result)
    like = program.buffers[statement.target.buffer]
    first, pulled = _counted(statement, pulled, like, buffers, names)
    body = [*first]
    own: Expr | None = None
    for read, cotangent in pulled.cotangents:
        if pulled.ends_target and (read.buffer, read.index) == (
            statement.target.buffer,
            statement.target.index,
        ):
            own = cotangent
            continue
        target = Access(bars[read.buffer], read.index)
        body.append(Compute(statement.params, target, cotangent, "add", statement.where))
    if pulled.ends_target and own is not t:
        own = Const(0, dtype) if own is None else own
        body.append(Compute(target_params(statement), target_bar, own, None, statement.where))
    return Piece(tuple(body), AFTER if pulled.uses_result else BEFORE)


def _with_result(statement: Compute, pulled: Pullback, preferred: bool) -> Pullback:
    """Let a statement's adjoint use its result rather than its operands, where that is enough.

    An update in place does so anyway: it destroys its operand.
    """
    old = statement.target.read(statement.value.dtype)
    is_in_place = any(_needs(cotangent, old) for _, cotangent in pulled.cotangents)
    if pulled.uses_result or not (is_in_place or preferred):
        return pulled
    marker = Read("", (), statement.value.dtype)

    def mark(expr: Expr) -> Expr:
        return rewrite(expr, replace=lambda node: marker if node is statement.value else None)

    marked = [(read, mark(cotangent)) for read, cotangent in pulled.cotangents]
    if any(_needs(cotangent, old) for _, cotangent in marked):
        return pulled
    final = [(r, rewrite(c, replace=lambda node: old if node is marker else None)) for r, c in marked]
    return replace(pulled, cotangents=tuple(final), uses_result=True)


def _needs(expr: Expr, read: Read) -> bool:
    return any(node is read for node in postorder(expr))


def _counted(
    statement: Compute, pulled: Pullback, like: Buffer, buffers: dict[str, Buffer], names: Names
) -> tuple[list[Compute], Pullback]:
    """The statements that sum `pulled.count` per target element, into storage shaped like the target."""
    if pulled.count is None:
        return [], pulled
    dtype = pulled.count.dtype
    count = replace(like, name=names.fresh(f"{like.name}_count"))
    buffers[count.name] = count
    place = Access(count.name, statement.target.index)
    clear = Compute(target_params(statement), place, Const(0, dtype), None, statement.where)
    total = Compute(statement.params, place, pulled.count, "add", statement.where)

    def named(node: Expr) -> Expr | None:
        is_count = isinstance(node, Read) and node.buffer == COUNT
        return place.read(dtype) if is_count else None

    cotangents = tuple((read, rewrite(c, replace=named)) for read, c in pulled.cotangents)
    return [clear, total], replace(pulled, cotangents=cotangents)


# --- residuals


def _using_results(
    program: Program,
    destruction: Destruction,
    pieces: dict[int, Piece],
    saved: frozenset[Key],
    bars: dict[str, str],
) -> tuple[dict[int, Piece], frozenset[Key]]:
    """Let adjoints use results instead of operands, one by one, where fewer values must be saved then."""
    statements = numbered(program.body)
    for number in list(pieces):
        statement = statements[number]
        lost = {buffer for _, buffer in saved}
        if not isinstance(statement, Compute) or statement.accumulate or not _asks_for(pieces[number], lost):
            continue
        other = _piece(program, statement, bars, {}, Names(), prefer_result=True)
        if other == pieces[number]:
            continue
        trial = pieces | {number: other}
        touched = _buffers_read(pieces[number]) | _buffers_read(other)
        others = {key for key in saved if key[1] not in touched}
        if len(others) + len(_saved(program, destruction, trial, frozenset(touched))) < len(saved):
            pieces, saved = trial, _saved(program, destruction, trial)
    return pieces, saved


def _buffers_read(piece: Piece) -> set[str]:
    return {read.buffer for statement in piece.statements for read in reads_of(statement)}


def _asks_for(piece: Piece, buffers: set[str]) -> bool:
    return not buffers.isdisjoint(_buffers_read(piece))


def _saved(
    program: Program, destruction: Destruction, pieces: Mapping[int, Piece], only: frozenset[str] | None = None
) -> frozenset[Key]:
    """Which writes (to buffers in `only`) must save.

    Saving may itself need indices and conditions, so this runs until nothing is added.
    """
    saved: frozenset[Key] = frozenset()
    while True:
        requests = _requests(program, pieces, saved, frozenset(program.buffers))
        wanted = frozenset(r.access.buffer for rs in requests.values() for r in rs)
        wanted = wanted if only is None else wanted & only
        found = destruction.of(requests, wanted)
        if found <= saved:
            return saved
        saved |= found


def _residuals(program: Program, saved: frozenset[Key]) -> dict[Key, Residual]:
    loops = _enclosing_loops(program.body)
    statements = numbered(program.body)
    result: dict[Key, Residual] = {}
    for number, buffer in sorted(saved):
        statement = statements[number]
        access, params = next(write for write in writes_of(statement) if write[0].buffer == buffer)
        if isinstance(statement, Compute):
            params = target_params(statement)
        result[number, buffer] = Residual(number, buffer, access, params, loops[number], statement.where)
    return result


def _requests(
    program: Program, pieces: Mapping[int, Piece], saved: frozenset[Key], primal: frozenset[str]
) -> dict[int, list[Request]]:
    requests: dict[int, list[Request]] = {}
    saving = {number for number, _ in saved}
    needed = set(pieces) | saving
    for number, statement in enumerate(numbered(program.body)):
        found: list[Request] = []
        if number in pieces:
            piece = pieces[number]
            for part in piece.statements:
                found += [_request(r, box, piece.phase) for r, box in boxed_reads(part) if r.buffer in primal]
        if number in saving and isinstance(statement, Compute):
            index = [atom for lin in statement.target.index for atom, _ in lin.terms if isinstance(atom, Expr)]
            found += [_request(r, statement.params, BEFORE) for r in reads(*index)]
        if isinstance(statement, (Loop, Branch)) and _size(statement) and _holds_any(number, statement, needed):
            found += [_request(r, (), AFTER) for r in reads_of(statement)]
        if found:
            requests[number] = found
    return requests


def _request(read: Read, params: tuple[tuple[str, Lin], ...], phase: int) -> Request:
    return Request(Access(read.buffer, read.index), params, phase)


def _size(statement: Loop | Branch) -> int:
    return len(list(walk((statement,)))) - 1


def _holds_any(number: int, statement: Loop | Branch, needed: set[int]) -> bool:
    """Whether a numbered statement lies inside another: numbers are in order, outer first."""
    return any(number < other <= number + _size(statement) for other in needed)


def _enclosing_loops(body: Block) -> list[tuple[Loop, ...]]:
    result: list[tuple[Loop, ...]] = []

    def visit(block: Block, loops: tuple[Loop, ...]) -> None:
        for statement in block:
            result.append(loops)
            if isinstance(statement, Loop):
                visit(statement.body, (*loops, statement))
            elif isinstance(statement, Branch):
                visit(statement.then, loops)
                visit(statement.orelse, loops)

    visit(body, ())
    return result
