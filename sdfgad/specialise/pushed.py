"""Forward mode in a program: the value of another program and its derivative in a direction, inlined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch, UnsupportedProgram
from sdfgad.optimise.prepared import live, prepared
from sdfgad.options import Options
from sdfgad.parse.builder import Builder
from sdfgad.parse.objects import make
from sdfgad.parse.parse import parse
from sdfgad.parse.procedures import expanded
from sdfgad.parse.returned import Output
from sdfgad.parse.transformed import Code, emit, kind_within, stand_in
from sdfgad.parse.values import Tensor, as_tensor, cast, view_of
from sdfgad.specialise.forward import returning
from sdfgad.specialise.nested import bind_within, inlining_of, measured_within
from sdfgad.specialise.signature import Call, definition
from sdfgad.tangent.program import tangent_program


def pushed_within(
    b: Builder, function: Callable[..., Any], primals: tuple[Any, ...], tangents_of: Callable[[Call], Mapping[str, Any]]
) -> tuple[Any, Any]:
    """What a function returns, and its derivative, with None for what is no float.

    Args:
        tangents_of: for the bound arguments, tangents by leaf.

    Raises:
        ShapeMismatch: a tangent has another shape than its argument.
        UnsupportedProgram: the function draws random numbers.
    """
    call = bind_within(function, tuple(map(stand_in, primals)), {}, partial(kind_within, b))
    integers = [name for name, kind in call.kinds.items() if type(kind) is int]
    parsed = parse(function, call.kinds, integers, {}, call.structures, measure=measured_within(b, call))
    if parsed.draws:
        what = f"`{function.__name__}` draws random numbers, and a program takes its derivative"
        raise UnsupportedProgram(what, definition(function), "Draw them outside, and pass them as an argument.")
    primal = prepared(live(returning(parsed), Options()), Options())
    tangents = {primal.inputs[name]: (name, as_tensor(t)) for name, t in tangents_of(call).items()}
    tangent = tangent_program(primal.program, tangents)
    given = {dot: _fitting(b, call, *tangents[buffer]) for buffer, dot in tangent.tangents.items()}
    inputs = {name: buffer for name, buffer in primal.inputs.items() if buffer in tangent.program.inputs}
    inlining = inlining_of(primal, expanded(tangent.program, is_last=False))
    buffers = emit(b, Code(inlining, call.values, inputs), given)

    def value(name: str) -> Any:
        return view_of(b.buffers[buffers[primal.program.outputs[name]]]).result

    def slope(name: str) -> Any:
        buffer = primal.program.buffers[primal.program.outputs[name]]
        if name in tangent.derivatives:
            return view_of(b.buffers[buffers[tangent.derivatives[name]]]).result
        shape = tuple(extent.const for extent in buffer.shape)
        return b.constant_array(np.zeros(shape, buffer.dtype)) if buffer.is_floating else None

    own = tuple(leaf if isinstance(leaf, Output) else None for leaf in primal.returned.leaves)
    slopes = replace(primal.returned, leaves=own)
    return primal.returned.filled(value, partial(make, b)), slopes.filled(slope, partial(make, b))


def _fitting(b: Builder, call: Call, name: str, tangent: Tensor) -> Tensor:
    """A tangent of the argument's dtype."""
    kind, shape = call.kinds[name], tuple(b.constant(extent) for extent in tangent.shape)
    if shape != kind.shape:
        what = f"the tangent of `{name}` has shape {shape}, the argument {kind.shape}"
        raise ShapeMismatch(what, b.where, "Pass a tangent shaped like the argument.")
    return Tensor(tangent.shape, kind.dtype, lambda index: cast(tangent.element(index), kind.dtype))
