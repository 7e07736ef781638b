"""Adjoints of library calls: the rule is written in NumPy, and the front end turns it into statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import Location
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    FIRST_CHECK,
    SLOTS,
    Access,
    Buffer,
    Call,
    Compute,
    Program,
    Statement,
    Whole,
    buffers_of,
    walk,
    written,
)
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.interpreter import Interpreter
from sdfgad.parse.source import read_source
from sdfgad.parse.values import Tensor, astype, view_of
from sdfgad.rules.library import CALL_RULES, OPERAND_RULES, CallRule


def missing_call_rules(program: Program, active: frozenset[str]) -> list[tuple[str, Location | None]]:
    """Calls on the differentiated path that have no rule."""
    calls = [s for s in walk(program.body) if isinstance(s, Call) and not active.isdisjoint(written((s,)))]
    missing = [call for call in calls if call.name not in CALL_RULES and not LIBRARY[call.name].pullback]
    return [(LIBRARY[call.name].title or call.name, call.where) for call in missing]


def pullback_of_call(
    call: Call,
    primal: Mapping[str, Buffer],
    bars: Mapping[str, str],
    buffers: dict[str, Buffer],
    names: Names,
    rule: CallRule | None = None,
) -> tuple[Compute | Call, ...]:
    """Statements that add to the cotangents of a call's inputs and clear those of its outputs.

    Args:
        bars: active buffers of the program -> their adjoints, which are in `buffers`; new storage is added there.
        rule: the rule to use, if not the first one of the function.
    """
    b = Builder({})
    b.names, b.where = names, call.where
    b.buffers = dict(primal) | buffers
    if LIBRARY[call.name].pullback:
        kept = _by_procedure(b, call, bars)
    else:
        kept = _by_rule(b, call, bars, rule or CALL_RULES[call.name])
    buffers.update({name: buffer for name, buffer in b.buffers.items() if name not in primal})
    return live_statements(b.blocks[0], kept)


def _by_rule(b: Builder, call: Call, bars: Mapping[str, str], rule: CallRule) -> set[str]:
    """Emits the statements of a rule; the buffers that matter."""
    inputs = [view_of(b.buffers[whole.buffer]) for whole in call.inputs]
    count = len(call.outputs) - bool(LIBRARY[call.name].failure)
    outputs = [view_of(b.buffers[whole.buffer]) for whole in call.outputs[:count]]
    cotangents = _cotangents(b, call.outputs[:count], bars)
    source = read_source(rule)
    parameters = [argument.arg for argument in source.node.args.args]
    wanted = len(parameters) - len(inputs) - 2 * count
    values = [*inputs, *outputs, *cotangents, *call.sizes[len(call.sizes) - wanted :]]
    result = Interpreter(b, source, dict(zip(parameters, values, strict=True)), is_definition=True).run()
    _contribute(b, call.inputs, result if isinstance(result, tuple) else (result,), bars)
    _clear(b, cotangents)
    return set(bars.values())


def _by_procedure(b: Builder, call: Call, bars: Mapping[str, str]) -> set[str]:
    """Emits the call of the procedure that computes the cotangents; the buffers that matter.

    The sizes of the call are the number of checks before those of the procedure, and of what this needs besides the
    cotangents.
    """
    (first, count), number = call.sizes, len(call.outputs)
    name = LIBRARY[call.name].pullback
    program = LIBRARY[name].procedure
    assert program is not None
    cotangents = _cotangents(b, call.outputs, bars)
    zeros = [Tensor(whole.shape, whole.dtype, partial(_zero, whole.dtype)) for whole in call.outputs]
    given = [view_of(b.buffers[whole.buffer]) for whole in call.inputs[number : number + count]]
    # Adjoints may be in another precision than the values.
    own = [zero if one is None else one for one, zero in zip(cotangents, zeros, strict=True)]
    given += [astype(one, whole.dtype) for one, whole in zip(own, call.outputs, strict=True)]
    buffers = [program.buffers[buffer] for buffer in program.outputs.values()]
    *results, failed = b.call(name, given, [(buffer.shape, buffer.dtype) for buffer in buffers], (first,))
    _contribute(b, call.inputs[number + count :], results, bars)
    _clear(b, cotangents)
    code: Expr = Const(0, INT)
    for k in range(len(program.checks)):
        # Both may have a count in units of SLOTS.
        place, found = Const(len(program.checks) - k, INT), failed.element(())
        fails = Op("equal", (Op("remainder", (found, Const(SLOTS, INT)), INT), place), BOOL)
        shift = Const(FIRST_CHECK - 1 - first - len(program.checks), INT)
        code = Op("select", (fails, Op("add", (found, shift), INT), code), INT)
    b.emit(Compute((), Access(STATUS), code, "maximum", call.where))
    return {*bars.values(), *([STATUS] if program.checks else [])}


def _cotangents(b: Builder, outputs: Iterable[Whole], bars: Mapping[str, str]) -> list[Tensor | None]:
    return [view_of(b.buffers[bars[whole.buffer]]) if whole.buffer in bars else None for whole in outputs]


def _contribute(b: Builder, inputs: Sequence[Whole], contributions: Sequence[Any], bars: Mapping[str, str]) -> None:
    for whole, contribution in zip(inputs, contributions, strict=True):
        if whole.buffer in bars and contribution is not None:
            b.assign(view_of(b.buffers[bars[whole.buffer]]), contribution, "add")


def _clear(b: Builder, cotangents: Iterable[Tensor | None]) -> None:
    for cotangent in cotangents:
        if cotangent is not None:
            b.assign(cotangent, 0)


def _zero(dtype: np.dtype[Any], index: Any) -> Expr:
    return Const(0, dtype)


def live_statements(block: list[Statement], kept: set[str]) -> tuple[Compute | Call, ...]:
    """The statements of a block without loops and branches on which the buffers `kept` depend."""
    result: list[Compute | Call] = []
    for statement in reversed(block):
        assert isinstance(statement, (Compute, Call)), "a rule has no loops and branches"
        is_message = isinstance(statement, Call) and LIBRARY[statement.name].is_ordered
        if is_message or not kept.isdisjoint(written((statement,))):
            result.append(statement)
            kept = kept | buffers_of(statement)
    return tuple(reversed(result))


def operand_rule(call: Call) -> CallRule | None:
    """A rule that reads no outputs of the call, if there is one and it takes no more work."""
    rule, is_less = OPERAND_RULES.get(call.name, (None, None))
    return rule if is_less is not None and is_less(*call.sizes) else None
