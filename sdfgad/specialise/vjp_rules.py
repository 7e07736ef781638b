"""Rules for the reverse sweep (custom vector-Jacobian products): the backward rule, parsed for the shapes at hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sdfgad.errors import ArgumentError, ShapeMismatch
from sdfgad.ir.program import Buffer, Program
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import captured_of
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Primal
from sdfgad.parse.procedures import procedure_of
from sdfgad.parse.returned import Output
from sdfgad.parse.structure import Leaf, flattened, names
from sdfgad.parse.transformed import kind_within, stand_in, tensor_within
from sdfgad.parse.values import Tensor, as_tensor
from sdfgad.specialise.linked import Link, floating_values, linked
from sdfgad.specialise.nested import bind_within, inlining_of
from sdfgad.specialise.signature import definition
from sdfgad.specialise.transposition import transposed_if_linear


@dataclass(frozen=True)
class Rule:
    """The backward rule of a function, the arguments of a call of that, and its level as of a `Link`."""

    name: str
    backward: Callable[..., Any]
    arguments: tuple[Any, ...]
    level: int


def with_pullback(b: Builder, rule: Rule, value: Any, residuals: Any) -> Any:
    """The value, with the derivative that the backward rule gives, of these residuals and a cotangent.

    Raises:
        ArgumentError, ShapeMismatch: the rule returns what does not fit the arguments.
    """
    values = floating_values(b, value)
    cotangent = trees.rebuilt(value, [values.get(k) for k in range(len(trees.leaves(value)))])
    return linked(b, _parsed(b, rule, residuals, cotangent), value, values) if values else value


def _parsed(b: Builder, rule: Rule, residuals: Any, cotangent: Any) -> Link:
    call = bind_within(rule.backward, (stand_in(residuals), stand_in(cotangent)), {}, partial(kind_within, b))
    integers = [name for name, kind in call.kinds.items() if type(kind) is int]
    parsed = parse(rule.backward, call.kinds, integers, {}, call.structures)
    if parsed.draws:
        what = f"the backward rule of the custom_vjp `{rule.name}` draws random numbers"
        raise ArgumentError(what, definition(rule.backward), "Draw them in the forward rule, as residuals.")
    _, second = inspect.signature(rule.backward).parameters
    of_value = [n for n in names(call.structures.get(second), second) if n in parsed.inputs]
    rest = [name for name in parsed.inputs if name not in of_value]
    inlining = inlining_of(parsed, parsed.program)
    given = {parsed.inputs[name]: tensor_within(b, name, call.values[name]) for name in rest}
    given |= captured_of(b, inlining)
    results = tuple(_results(rule, parsed))
    procedure = procedure_of(inlining.program, tuple(name for name, _ in results))
    cotangents = tuple(parsed.inputs[name] for name in of_value)
    procedure = replace(procedure, inputs=(*given, *cotangents))
    program = replace(inlining.program, inputs=procedure.inputs)
    is_whole = len(cotangents) == sum(one is not None for one in trees.leaves(cotangent))
    pushforward = _pushforward(program, results, cotangents) if is_whole else None
    return Link(
        "custom_vjp",
        rule.name,
        tuple(given.values()),
        tuple(tensor for _, tensor in results),
        procedure,
        pushforward,
        level=rule.level,
    )


def _pushforward(
    program: Program, results: tuple[tuple[str, Tensor], ...], cotangents: tuple[str, ...]
) -> Program | None:
    """The derivative in forward mode, the transpose of a backward rule that is linear; None if that may not be so."""
    outputs = tuple(program.outputs[name] for name, _ in results)
    if any(program.buffers[name].dtype != tensor.dtype for name, (_, tensor) in zip(outputs, results, strict=True)):
        return None
    return transposed_if_linear(program, outputs, cotangents)


def _results(rule: Rule, parsed: Primal) -> Iterator[tuple[str, Tensor]]:
    """The outputs that are cotangents of arguments that may vary, with these arguments."""
    where = definition(rule.backward)
    parts = parsed.returned.parts
    if len(parts) != len(rule.arguments):
        what = f"the backward rule of the custom_vjp `{rule.name}` does not return a tuple of {len(rule.arguments)}"
        raise ArgumentError(what, where, "Return one cotangent for each argument; None where it is zero.")
    for position, (part, argument) in enumerate(zip(parts, rule.arguments, strict=True)):
        structure, leaves = flattened(stand_in(argument), "")
        if part.structure is None and part.leaves == (None,):
            continue
        if part.structure != structure:
            what = f"the cotangent of argument {position} has another structure than the argument"
            raise ArgumentError(f"{what} of the custom_vjp `{rule.name}`", where, "Return one of the same keys.")
        for output, leaf in zip(part.leaves, leaves, strict=True):
            if isinstance(output, Output) and isinstance(leaf, Leaf) and as_tensor(leaf.value).dtype.kind in "fc":
                tensor = as_tensor(leaf.value)
                _require_shape(rule, position, parsed.program.buffers[parsed.program.outputs[output.name]], tensor)
                yield output.name, tensor


def _require_shape(rule: Rule, position: int, found: Buffer, argument: Tensor) -> None:
    if found.shape != argument.shape:
        shapes = [tuple(extent.const for extent in one.shape) for one in (found, argument)]
        what = f"the cotangent of argument {position} has shape {shapes[0]}, the argument {shapes[1]}"
        where = definition(rule.backward)
        raise ShapeMismatch(f"{what} of the custom_vjp `{rule.name}`", where, "Return one shaped like the argument.")
