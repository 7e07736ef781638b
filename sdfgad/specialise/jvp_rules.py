"""Rules in forward mode (custom Jacobian-vector products): the tangent of a value as a procedure, and its transpose.

A rule is linear in the tangents t: <R t, c> is a program whose derivative by t is the cotangent of the arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, ShapeMismatch, UnsupportedProgram
from sdfgad.ir.expr import Const
from sdfgad.ir.names import Names
from sdfgad.ir.program import Buffer, Compute, Program
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import captured_of
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Primal
from sdfgad.parse.procedures import procedure_of
from sdfgad.parse.returned import Output
from sdfgad.parse.structure import Leaf, container, flattened, items_of, names
from sdfgad.parse.transformed import kind_within, stand_in, tensor_within
from sdfgad.parse.values import Tensor, as_tensor
from sdfgad.rules.algebra import cast
from sdfgad.specialise.linked import Link, floating_values, linked
from sdfgad.specialise.nested import bind_within, inlining_of
from sdfgad.specialise.signature import Call, definition
from sdfgad.specialise.transposition import transposed
from sdfgad.tangent.calls import assigned, whole


@dataclass(frozen=True)
class TangentRule:
    """The rule of a function, ``rule(primals, tangents)``, and the arguments of a call of that."""

    name: str
    rule: Callable[..., Any]
    arguments: tuple[Any, ...]


def with_tangents(b: Builder, rule: TangentRule, value: Any) -> Any:
    """The value, with the derivative that the rule gives.

    Raises:
        ArgumentError, ShapeMismatch: the rule does not return a pair with a tangent like the value.
    """
    values = floating_values(b, value)
    return linked(b, _parsed(b, rule, value, values), value, values) if values else value


def _parsed(b: Builder, rule: TangentRule, value: Any, values: dict[int, Tensor]) -> Link:
    primals = tuple(map(stand_in, rule.arguments))
    call = bind_within(rule.rule, (primals, _tangents_like(primals)), {}, partial(kind_within, b))
    integers = [name for name, kind in call.kinds.items() if type(kind) is int]
    parsed = parse(rule.rule, call.kinds, integers, {}, call.structures)
    if parsed.draws:
        what = f"the rule of the custom_jvp `{rule.name}` draws random numbers"
        raise ArgumentError(what, definition(rule.rule), "Draw them outside, and pass them as an argument.")
    varying = _varying(rule, call)
    inlining = inlining_of(parsed, parsed.program)
    rest = [name for name in parsed.inputs if name not in varying]
    given = {parsed.inputs[name]: tensor_within(b, name, call.values[name]) for name in rest}
    given |= captured_of(b, inlining)
    program, outputs = _with_outputs(inlining.program, _outputs(rule, parsed, value, values), values)
    tangents = tuple(parsed.inputs[name] for name in varying)
    pushforward = replace(procedure_of(program, outputs), inputs=(*given, *tangents))
    pullback = transposed(replace(program, inputs=(*given, *tangents)), outputs, tangents)
    if pullback is None:
        what = f"a loop in the rule of the custom_jvp `{rule.name}` ends by data"
        raise UnsupportedProgram(what, definition(rule.rule), "Give the loop a number of trips: `for k in range(n):`.")
    arguments = tuple(as_tensor(call.values[name].value) for name in varying)
    return Link("custom_jvp", rule.name, tuple(given.values()), arguments, pullback, pushforward, is_of_any_order=True)


def _tangents_like(value: Any) -> Any:
    """What stands for the tangents of arguments: of numbers that do not vary they are 0, of other objects None."""
    if isinstance(value, Leaf):
        return value if as_tensor(value.value).dtype.kind in "fc" else 0.0
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return 0.0
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, np.result_type(value, np.float32) if value.dtype.kind not in "fc" else value.dtype)
    items = items_of(value)
    return None if items is None else container(type(value), {key: _tangents_like(one) for key, one in items.items()})


def _varying(rule: TangentRule, call: Call) -> list[str]:
    """The leaves of the tangents of what may vary."""
    parameters = list(inspect.signature(rule.rule).parameters)
    if len(parameters) != 2:
        what = f"the rule of the custom_jvp `{rule.name}` has {len(parameters)} parameters"
        raise ArgumentError(what, definition(rule.rule), "Write `def rule(primals, tangents):`.")
    leaves = names(call.structures.get(parameters[1]), parameters[1])
    return [name for name in leaves if isinstance(call.values.get(name), Leaf)]


def _outputs(rule: TangentRule, parsed: Primal, value: Any, values: dict[int, Tensor]) -> list[str | None]:
    """The outputs that are the tangents of the value's floating leaves; None for one that is zero."""
    where, parts = definition(rule.rule), parsed.returned.parts
    if len(parts) != 2:
        what = f"the rule of the custom_jvp `{rule.name}` returns no pair"
        raise ArgumentError(what, where, "Write `return value, tangent`.")
    structure, leaves = flattened(stand_in(value), "")
    if parts[1].structure != structure:
        what = f"the tangent that the rule of the custom_jvp `{rule.name}` returns has another structure than the value"
        raise ArgumentError(what, where, "Return one with the same keys.")
    found: list[str | None] = []
    for k, tensor in values.items():
        output = parts[1].leaves[k]
        found.append(output.name if isinstance(output, Output) else None)
        if isinstance(output, Output):
            _require_shape(rule, parsed.program.buffers[parsed.program.outputs[output.name]], tensor)
    assert len(leaves) == len(parts[1].leaves)
    return found


def _require_shape(rule: TangentRule, found: Buffer, value: Tensor) -> None:
    if found.shape != value.shape:
        shapes = [tuple(extent.const for extent in one.shape) for one in (found, value)]
        what = f"the tangent has shape {shapes[0]}, the value {shapes[1]}"
        where = definition(rule.rule)
        raise ShapeMismatch(f"{what} of the custom_jvp `{rule.name}`", where, "Return one shaped like the value.")


def _with_outputs(
    program: Program, outputs: list[str | None], values: dict[int, Tensor]
) -> tuple[Program, tuple[str, ...]]:
    """The program with an output for each floating leaf of the value, of its dtype, and their names."""
    fresh, buffers, last = Names(program.identifiers), dict(program.buffers), list[Compute]()
    found: dict[str, str] = {}
    for name, tensor in zip(outputs, values.values(), strict=True):
        buffer = Buffer(fresh.fresh("tangent"), tensor.shape, tensor.dtype)
        buffers[buffer.name] = buffer
        source = None if name is None else program.buffers[program.outputs[name]]
        last.append(assigned(buffer, Const(0, buffer.dtype) if source is None else cast(whole(source), buffer.dtype)))
        found[buffer.name] = buffer.name
    return replace(program, buffers=buffers, outputs=found, body=(*program.body, *last)), tuple(found)
