"""Reverse-mode adjoint of a program: one adjoint for each active statement, and the residuals that they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.analysis.activity import active_buffers
from sdfgad.analysis.flow import AFTER, BEFORE, OverwriteAnalysis, Request
from sdfgad.analysis.forward import forward_inputs
from sdfgad.analysis.model import numbered
from sdfgad.analysis.propagate import propagate_scalars
from sdfgad.errors import MissingRule
from sdfgad.ir.expr import Const, Expr, Op, Read, postorder, rewrite
from sdfgad.ir.library import differentiable_inputs
from sdfgad.ir.names import Names
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    MESSAGES,
    Access,
    Buffer,
    Call,
    Compute,
    Program,
    Statement,
    computes,
)
from sdfgad.reverse.calls import missing_call_rules, operand_rule, pullback_of_call
from sdfgad.reverse.outcomes import keep_outcomes
from sdfgad.reverse.recompute import find_recomputable
from sdfgad.reverse.residuals import (
    Recompute,
    Residual,
    StatementAdjoint,
    asked,
    buffers_read,
    is_put_back,
    keys_of_adjoints,
    requests_of,
    residuals_of,
    saved_keys,
)
from sdfgad.reverse.save_points import Key, SavePoints
from sdfgad.reverse.strong_zeros import StrongZeros, strong_zeros_of
from sdfgad.reverse.widening import wide, widened
from sdfgad.rules.algebra import cast
from sdfgad.rules.expression import differentiable_reads, missing_rules
from sdfgad.rules.statements import STATEMENT_RULES, Pullback, stored_totals, target_params


@dataclass(frozen=True)
class Adjoint:
    """Reverse-mode adjoint of `primal`.

    Attributes:
        context: the values of run-time integers for which it holds.
        statement_adjoints: statement number -> its adjoint.
        residuals: the values to save, by the number of the statement before which they are saved, and the buffer.
        recomputes: the values that the reverse sweep recomputes; `residuals` is what must still be saved then.
        bars: active buffer -> the buffer of its adjoint.
        buffers: storage of the adjoint, without tapes.
        output: the buffer that is differentiated.
    """

    primal: Program
    context: isl.Set
    statement_adjoints: Mapping[int, StatementAdjoint]
    residuals: Mapping[Key, Residual]
    bars: Mapping[str, str]
    buffers: Mapping[str, Buffer]
    output: str
    names: Names = field(compare=False)
    overwrites: OverwriteAnalysis = field(compare=False)
    save_points: SavePoints = field(compare=False)
    recomputes: tuple[Recompute, ...] = ()

    def fresh_names(self) -> Names:
        """Names that neither the primal nor the adjoint has: always the same ones."""
        names = Names(())
        names.restore(self.names.snapshot())
        return names

    @cached_property
    def recomputable(self) -> tuple[Recompute, ...]:
        """All values that the reverse sweep could recompute."""
        return find_recomputable(self.primal, self.context, self.statement_adjoints, self.output)

    @cached_property
    def requests(self) -> Mapping[int, Sequence[Request]]:
        """The forward values that adjoints and recomputations need, by the number of the statement that needs them."""
        found: dict[int, list[Request]] = {}
        for one in asked(self.primal, self.statement_adjoints, frozenset(), self.recomputes):
            found.setdefault(one.number, []).append(one.request)
        return found

    def recomputing(self, recomputes: Sequence[Recompute]) -> Adjoint:
        """The same adjoint, with these values recomputed in the reverse sweep."""
        saved = saved_keys(self.primal, self.overwrites, self.save_points, self.statement_adjoints, recomputes)
        return replace(self, recomputes=tuple(recomputes), residuals=residuals_of(self.save_points, saved))


@dataclass(frozen=True)
class _Setting:
    """What the adjoint of each statement of a program depends on.

    Attributes:
        bars: primal buffer -> its adjoint's buffer.
        is_wide: whether adjoints are in double precision.
    """

    program: Program
    zeros: StrongZeros
    overwrites: OverwriteAnalysis
    save_points: SavePoints
    bars: Mapping[str, str]
    is_wide: bool

    @cached_property
    def active(self) -> frozenset[str]:
        return frozenset(self.bars)

    @cached_property
    def adjoints(self) -> frozenset[str]:
        return frozenset(self.bars.values())

    def cotangent(self, target: Access) -> Expr:
        """The adjoint of a target, in its own precision."""
        read = Access(self.bars[target.buffer], target.index).read(self.bar_dtype(target.buffer))
        return cast(read, self.program.buffers[target.buffer].dtype)

    def bar_dtype(self, buffer: str) -> np.dtype[Any]:
        """The dtype of a buffer's adjoint."""
        dtype = self.program.buffers[buffer].dtype
        return wide(dtype) if self.is_wide else dtype

    def added(self, cotangent: Expr) -> Expr:
        """A contribution to an adjoint, in the precision of adjoints."""
        return widened(cotangent, self.adjoints) if self.is_wide else cotangent

    def saved(self, adjoints: Mapping[int, StatementAdjoint]) -> frozenset[Key]:
        """What must be saved for these adjoints."""
        return saved_keys(self.program, self.overwrites, self.save_points, adjoints)


def differentiate_program(
    program: Program,
    context: isl.Set,
    wrt: Iterable[str],
    output: str,
    noting: bool = True,
    reusing: bool = True,
    early: bool = True,
    is_wide: bool = False,
) -> Adjoint:
    """The adjoint of `program` for the derivative of one output buffer by input buffers.

    Args:
        noting: whether outcomes of comparisons may be saved in place of the values compared (`outcomes`).
        reusing: whether adjoints may read results of the forward sweep rather than compute slow functions again.
        early: whether what a loop overwrites may be saved once before the loop, rather than in each trip.
        is_wide: whether adjoints are in double precision where values are in single precision.

    Raises:
        MissingRule: operations on the differentiated path have no rule; all of them are listed.
    """
    program = propagate_scalars(forward_inputs(program, context))
    active, _ = active_buffers(program, wrt, output, dependences)
    _check_rules(program, active)
    names = Names(program.identifiers)
    bars = {name: names.fresh(f"{name}_bar") for name in program.buffers if name in active}
    overwrites, save_points = OverwriteAnalysis(program.body, program.buffers, context), SavePoints(program, early)
    setting = _Setting(program, strong_zeros_of(program), overwrites, save_points, bars, is_wide)
    buffers = {
        bar: replace(program.buffers[name], name=bar, dtype=setting.bar_dtype(name)) for name, bar in bars.items()
    }
    adjoints: dict[int, StatementAdjoint] = {}
    for number, statement in enumerate(numbered(program.body)):
        if _begins_messages(statement):
            # Its adjoint would clear what the last message of the reverse sweep leaves.
            continue
        if isinstance(statement, Compute) and statement.target.buffer in active:
            adjoints[number] = _adjoint_of(setting, statement, buffers, names)
        elif isinstance(statement, Call) and any(whole.buffer in active for whole in statement.outputs):
            adjoints[number] = StatementAdjoint(
                pullback_of_call(statement, program.buffers, bars, buffers, names), AFTER
            )
    adjoints, saved = _using_operands(setting, adjoints, setting.saved(adjoints), buffers, names)
    adjoints, saved = _using_results(setting, adjoints, saved)
    if reusing:
        adjoints = _reusing_results(setting, adjoints, saved)
        saved = setting.saved(adjoints)
    if noting:
        needed = partial(saved_keys, program, overwrites, save_points)
        noted, adjoints = keep_outcomes(save_points, adjoints, saved, needed, names)
        if noted is not program:
            program, overwrites, save_points = (
                noted,
                OverwriteAnalysis(noted.body, noted.buffers, context),
                SavePoints(noted, early),
            )
            saved = saved_keys(program, overwrites, save_points, adjoints)
    residuals = residuals_of(save_points, saved)
    return Adjoint(program, context, adjoints, residuals, bars, buffers, output, names, overwrites, save_points)


def _begins_messages(statement: Statement) -> bool:
    """Whether a statement says that there have been no messages so far."""
    if not isinstance(statement, Compute) or statement.target.buffer != MESSAGES:
        return False
    return isinstance(statement.value, Const)


def varying_inputs(program: Program, context: isl.Set, wrt: Iterable[str], output: str) -> frozenset[str]:
    """Those of the input buffers `wrt` on which the output depends in a differentiable way."""
    active, _ = active_buffers(propagate_scalars(forward_inputs(program, context)), wrt, output, dependences)
    return active.intersection(wrt)


def dependences(statement: Statement) -> list[Read]:
    """The reads on which the value that a statement writes depends differentiably."""
    if isinstance(statement, Call):
        return differentiable_inputs(statement)
    if not isinstance(statement, Compute):
        return []
    return differentiable_reads(statement.value)


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


# --- one statement


def _adjoint_of(
    setting: _Setting, statement: Compute, buffers: dict[str, Buffer], names: Names, prefer_result: bool = False
) -> StatementAdjoint:
    """The adjoint of a statement; new buffers go to `buffers`."""
    bars, like = setting.bars, setting.program.buffers[statement.target.buffer]
    target_bar = Access(bars[statement.target.buffer], statement.target.index)
    t = setting.cotangent(statement.target)
    pulled = setting.zeros.kept(statement, t, STATEMENT_RULES[statement.accumulate](statement, t, setting.active))
    pulled = _with_result(statement, pulled, prefer_result)
    first, reading = stored_totals(statement, pulled.totals, like, buffers, names)
    body = [*first]
    own: Expr | None = None
    for read, cotangent in ((read, reading(cotangent)) for read, cotangent in pulled.cotangents):
        if pulled.ends_target and (read.buffer, read.index) == (
            statement.target.buffer,
            statement.target.index,
        ):
            own = cotangent
            continue
        target = Access(bars[read.buffer], read.index)
        body.append(Compute(statement.params, target, setting.added(cotangent), "add", statement.where))
    if pulled.ends_target and own is not t:
        own = Const(0, setting.bar_dtype(statement.target.buffer)) if own is None else setting.added(own)
        # An assignment may have a parameter of one value that its target does not mention, and its value does.
        params = statement.params if statement.accumulate is None else target_params(statement)
        body.append(Compute(params, target_bar, own, None, statement.where))
    return StatementAdjoint(tuple(body), AFTER if pulled.uses_result else BEFORE)


def _with_result(statement: Compute, pulled: Pullback, preferred: bool) -> Pullback:
    """Let a statement's adjoint use its result rather than its operands, where that is enough.

    An update in place does so anyway: it destroys its operand.
    """
    old = statement.target.read(statement.value.dtype)
    is_in_place = any(_needs(cotangent, old) for _, cotangent in pulled.cotangents)
    if pulled.uses_result or pulled.totals or not (is_in_place or preferred):
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


def _using_operands(
    setting: _Setting,
    adjoints: dict[int, StatementAdjoint],
    saved: frozenset[Key],
    buffers: dict[str, Buffer],
    names: Names,
) -> tuple[dict[int, StatementAdjoint], frozenset[Key]]:
    """Lets adjoints of calls read operands instead of results, one by one, where fewer values must be saved then."""
    program, bars = setting.program, setting.bars
    statements = numbered(program.body)
    for number, adjoint in adjoints.items():
        call = statements[number]
        rule = operand_rule(call) if isinstance(call, Call) else None
        if not isinstance(call, Call) or rule is None:
            continue
        storage = dict(buffers)
        other = StatementAdjoint(pullback_of_call(call, program.buffers, bars, storage, names, rule), adjoint.phase)
        trial = setting.saved(adjoints | {number: other})
        if len(trial) < len(saved):
            adjoints, saved = adjoints | {number: other}, trial
            old = {name for part in adjoint.statements for name in part.mentioned} - {*program.buffers, *bars.values()}
            buffers.update(storage)
            for name in old:
                del buffers[name]
    return adjoints, saved


def _using_results(
    setting: _Setting, adjoints: dict[int, StatementAdjoint], saved: frozenset[Key]
) -> tuple[dict[int, StatementAdjoint], frozenset[Key]]:
    """Lets adjoints read results instead of operands, one at a time, where fewer values must be saved then."""
    statements, lost = numbered(setting.program.body), {buffer for _, buffer in saved}
    others: dict[int, StatementAdjoint] = {}
    for number, adjoint in adjoints.items():
        statement = statements[number]
        if not isinstance(statement, Compute) or statement.accumulate:
            continue
        if not lost.isdisjoint(buffers_read(adjoint.statements)):
            other = _adjoint_of(setting, statement, {}, Names(), prefer_result=True)
            others |= {number: other} if other != adjoint else {}
    if not others:
        return adjoints, saved
    keys = keys_of_adjoints(setting.program, setting.overwrites, setting.save_points, [adjoints, others])
    askers = Counter(key for number in adjoints for key in keys[0][number])
    changed = dict(adjoints)
    for number in others:
        trial = askers - Counter(keys[0][number]) + Counter(keys[1][number])
        if len(trial) < len(askers):
            askers, changed = trial, changed | {number: others[number]}
    return changed, setting.saved(changed)


def _reusing_results(
    setting: _Setting, adjoints: Mapping[int, StatementAdjoint], saved: frozenset[Key]
) -> dict[int, StatementAdjoint]:
    """Lets adjoints read results rather than compute slow functions again, if the results are available anyway.

    They are where other adjoints read them, and where nothing that is not saved anyway destroys them.
    """
    program = setting.program
    statements, changed = numbered(program.body), dict(adjoints)
    there = {buffer for adjoint in adjoints.values() for buffer in buffers_read(adjoint.statements)}
    there |= {*program.outputs.values(), *program.inputs}
    for number, adjoint in adjoints.items():
        statement = statements[number]
        if not isinstance(statement, Compute) or statement.accumulate or not _slow(adjoint):
            continue
        other = _adjoint_of(setting, statement, {}, Names(), prefer_result=True)
        if _slow(other) < _slow(adjoint) and buffers_read(other.statements) <= there:
            requests = requests_of(number, other, program)
            changed |= {number: other} if is_put_back(setting.overwrites, setting.save_points, requests, saved) else {}
    return changed


def _slow(adjoint: StatementAdjoint) -> set[Expr]:
    values = [part.value for part in adjoint.statements if isinstance(part, Compute)]
    return {node for node in postorder(*values) if isinstance(node, Op) and OPERATIONS[node.name].is_slow}
