"""Adjoints of library calls: the rule is written in NumPy, and the front end turns it into statements."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.errors import Location
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import Buffer, Call, Compute, Program, Statement, buffers_of, walk, written
from sdfgad.parse.builder import Builder
from sdfgad.parse.interpreter import Interpreter
from sdfgad.parse.source import read_source
from sdfgad.parse.values import view_of
from sdfgad.rules.library import CALL_RULES, OPERAND_RULES, CallRule


def missing_call_rules(program: Program, active: frozenset[str]) -> list[tuple[str, Location | None]]:
    """Calls on the differentiated path that have no rule."""
    calls = [s for s in walk(program.body) if isinstance(s, Call) and not active.isdisjoint(written((s,)))]
    return [(call.name, call.where) for call in calls if call.name not in CALL_RULES]


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
    inputs = [view_of(primal[whole.buffer]) for whole in call.inputs]
    count = len(call.outputs) - bool(LIBRARY[call.name].failure)
    outputs = [view_of(primal[whole.buffer]) for whole in call.outputs[:count]]
    cotangents = [
        view_of(buffers[bars[whole.buffer]]) if whole.buffer in bars else None for whole in call.outputs[:count]
    ]
    source = read_source(rule or CALL_RULES[call.name])
    parameters = [argument.arg for argument in source.node.args.args]
    wanted = len(parameters) - len(inputs) - 2 * count
    values = [*inputs, *outputs, *cotangents, *call.sizes[len(call.sizes) - wanted :]]
    result = Interpreter(b, source, dict(zip(parameters, values, strict=True)), is_definition=True).run()
    contributions = result if isinstance(result, tuple) else (result,)
    for whole, contribution in zip(call.inputs, contributions, strict=True):
        if whole.buffer in bars and contribution is not None:
            b.assign(view_of(buffers[bars[whole.buffer]]), contribution, "add")
    for cotangent in cotangents:
        if cotangent is not None:
            b.assign(cotangent, 0)
    buffers.update({name: buffer for name, buffer in b.buffers.items() if name not in primal})
    return live_statements(b.blocks[0], set(bars.values()))


def live_statements(block: list[Statement], kept: set[str]) -> tuple[Compute | Call, ...]:
    """The statements of a block without loops and branches on which the buffers `kept` depend."""
    result: list[Compute | Call] = []
    for statement in reversed(block):
        assert isinstance(statement, (Compute, Call)), "a rule has no loops and branches"
        if not kept.isdisjoint(written((statement,))):
            result.append(statement)
            kept = kept | buffers_of(statement)
    return tuple(reversed(result))


def operand_rule(call: Call) -> CallRule | None:
    """A rule that reads no outputs of the call, if there is one and it takes no more work."""
    rule, is_less = OPERAND_RULES.get(call.name, (None, None))
    return rule if is_less is not None and is_less(*call.sizes) else None
