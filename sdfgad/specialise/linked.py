"""Values with a derivative of the user's own (custom vector-Jacobian products).

A value becomes a copy of itself, by a call whose pullback is a procedure: the backward rule, parsed for the shapes at
hand. Its name contains a digest of the rule's statements, so that whatever a cache keeps of it is of this very rule.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sdfgad.errors import ArgumentError, ShapeMismatch
from sdfgad.ir.expr import INT
from sdfgad.ir.library import LIBRARY, LibraryFunction
from sdfgad.ir.names import plain
from sdfgad.ir.program import Buffer, Program
from sdfgad.ir.serial import serialised
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.parse import Primal, parse
from sdfgad.parse.procedures import procedure_of
from sdfgad.parse.returned import Output, is_numeric
from sdfgad.parse.structure import Leaf, flattened, names
from sdfgad.parse.transformed import kind_within, stand_in, tensor_within
from sdfgad.parse.values import Tensor, as_tensor, view_of
from sdfgad.specialise.nested import bind_within, inlining_of
from sdfgad.specialise.signature import definition


@dataclass(frozen=True)
class Rule:
    """The backward rule of a function, and the arguments of a call of that."""

    name: str
    backward: Callable[..., Any]
    arguments: tuple[Any, ...]


def linked(b: Builder, rule: Rule, value: Any, residuals: Any) -> Any:
    """The value, with the derivative that the backward rule gives, of these residuals and a cotangent.

    Raises:
        ArgumentError, ShapeMismatch: the rule returns what does not fit the arguments.
    """
    leaves = trees.leaves(value)
    floating = [k for k, leaf in enumerate(leaves) if is_numeric(leaf) and as_tensor(leaf).dtype.kind in "fc"]
    values = [view_of(b.buffers[b.as_whole(as_tensor(leaves[k])).buffer]) for k in floating]
    own = dict(zip(floating, values, strict=True))
    cotangent = trees.rebuilt(value, [_as_value(own[k]) if k in own else None for k in range(len(leaves))])
    pulled = _parsed(b, rule, residuals, cotangent)
    name = _registered(rule, pulled, len(values))
    inputs = [*values, *(tensor for _, tensor in pulled.given), *(tensor for _, tensor in pulled.results)]
    first = len(b.checks)
    if pulled.procedure.checks:
        b.checks += pulled.procedure.checks
        b.buffers.setdefault(STATUS, Buffer(STATUS, (), INT))
    found = b.call(name, inputs, [(one.shape, one.dtype) for one in values], (first, len(pulled.given)))
    for k, view in zip(floating, found, strict=True):
        leaves[k] = _as_value(view)
    return trees.rebuilt(value, leaves)


def _as_value(view: Tensor) -> Tensor:
    return view if view.ndim else view.as_value(settled=True)


@dataclass(frozen=True)
class _Pulled:
    """A backward rule for the shapes at hand.

    Attributes:
        procedure: its inputs are `given`, then the cotangents of the value's floating leaves.
        given: the inputs, and what they are in the program that is parsed.
        results: its outputs, and the arguments, or leaves of them, of which these are the cotangents.
    """

    procedure: Program
    given: tuple[tuple[str, Tensor], ...]
    results: tuple[tuple[str, Tensor], ...]


def _registered(rule: Rule, pulled: _Pulled, count: int) -> str:
    """The name of the function that copies `count` values and has this rule."""
    text = f"{count} {len(pulled.given)} {serialised(pulled.procedure)}"
    name = f"custom_vjp_{plain(rule.name)}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    title = f"custom_vjp `{rule.name}`"
    pullback = f"{name}_pullback"
    LIBRARY[pullback] = LibraryFunction("", procedure=pulled.procedure, title=title, has_batch=False)
    LIBRARY[name] = LibraryFunction("", pullback=pullback, title=title, has_batch=False)
    return name


def _parsed(b: Builder, rule: Rule, residuals: Any, cotangent: Any) -> _Pulled:
    call = bind_within(rule.backward, (stand_in(residuals), stand_in(cotangent)), {}, partial(kind_within, b))
    integers = [name for name, kind in call.kinds.items() if type(kind) is int]
    parsed = parse(rule.backward, call.kinds, integers, {}, call.structures)
    if parsed.draws:
        what = f"the backward rule of the custom_vjp `{rule.name}` draws random numbers"
        raise ArgumentError(what, definition(rule.backward), "Draw them in the forward rule, as residuals.")
    _, second = inspect.signature(rule.backward).parameters
    of_value = [n for n in names(call.structures.get(second), second) if n in parsed.inputs]
    given = {
        parsed.inputs[name]: tensor_within(b, name, call.values[name]) for name in parsed.inputs if name not in of_value
    }
    inlining = inlining_of(parsed, parsed.program)
    b.lookups += inlining.lookups
    given |= {name: b.capture(name, array, partial(_same, array)) for name, array in inlining.captured.items()}
    results = tuple(_results(b, rule, parsed))
    procedure = procedure_of(inlining.program, tuple(name for name, _ in results))
    procedure = replace(procedure, inputs=(*given, *(parsed.inputs[name] for name in of_value)))
    return _Pulled(procedure, tuple(given.items()), results)


def _same(array: Any) -> Any:
    return array


def _results(b: Builder, rule: Rule, parsed: Primal) -> Iterator[tuple[str, Tensor]]:
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
