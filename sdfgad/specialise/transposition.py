"""Transposition of linear programs: the derivative of <R t, c> by t is the transpose of R, applied to c."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import numpy as np

from sdfgad.errors import MissingRule
from sdfgad.gradient.assemble import GradientProgram, assemble
from sdfgad.ir.expr import Const
from sdfgad.ir.names import Names
from sdfgad.ir.program import Buffer, Compute, Program, buffers_of, walk, written
from sdfgad.parse.procedures import procedure_of
from sdfgad.reverse.adjoint import differentiate_program
from sdfgad.tangent.calls import added_product, assigned


def transposed(program: Program, outputs: tuple[str, ...], inputs: tuple[str, ...]) -> Program | None:
    """The procedure that maps cotangents of some buffers to those of inputs in which these are linear.

    Returns:
        None if a loop of it ends by data.
    """
    gradient = _gradient(program, outputs, inputs)
    return None if gradient.counting is not None else _procedure(gradient, inputs)


def transposed_if_linear(program: Program, outputs: tuple[str, ...], inputs: tuple[str, ...]) -> Program | None:
    """As `transposed`; None, too, if the program may not be linear in the inputs, or has no derivative by them."""
    try:
        gradient = _gradient(program, outputs, inputs)
    except MissingRule:
        return None
    found = {bar for name, bar in gradient.gradients.items() if name in inputs}
    if gradient.counting is not None or not _behind(gradient.program, found).isdisjoint(inputs):
        return None
    return _procedure(gradient, inputs)


def _gradient(program: Program, outputs: tuple[str, ...], inputs: tuple[str, ...]) -> GradientProgram:
    """The gradient of the inner product of the outputs with further inputs."""
    fresh = Names(program.identifiers)
    cotangents = [replace(program.buffers[name], name=fresh.fresh("cotangent")) for name in outputs]
    result = Buffer(fresh.fresh("paired"), (), np.dtype(np.float64))
    sums = [added_product(result, program.buffers[name], c) for name, c in zip(outputs, cotangents, strict=True)]
    paired = replace(
        program,
        buffers=dict(program.buffers) | {one.name: one for one in (*cotangents, result)},
        inputs=(*program.inputs, *(one.name for one in cotangents)),
        outputs={"paired": result.name},
        body=(*program.body, assigned(result, Const(0, result.dtype)), *sums),
    )
    return assemble(differentiate_program(paired, isl.Set("{ : }"), inputs, result.name), inputs, "paired")


def _behind(program: Program, buffers: set[str]) -> set[str]:
    """The buffers on which some depend, in whatever order the statements run."""
    found, size = set(buffers), -1
    statements = list(walk(program.body))
    while len(found) != size:
        size = len(found)
        for statement in statements:
            if not found.isdisjoint(written((statement,))):
                found |= buffers_of(statement)
    return found


def _procedure(gradient: GradientProgram, tangents: tuple[str, ...]) -> Program:
    """The gradient program at the input zero, as a procedure: where it is linear, it is the same everywhere."""
    program = gradient.program
    fresh, buffers = Names(program.identifiers), dict(program.buffers)
    known = {**dict.fromkeys(tangents, 0.0), gradient.cotangent: 1.0}
    first: list[Compute] = [assigned(buffers[n], Const(v, buffers[n].dtype)) for n, v in known.items()]
    outputs: dict[str, str] = {}
    for name in tangents:
        bar = gradient.gradients.get(name)
        if bar is None:
            zero = replace(buffers[name], name=fresh.fresh("zero"))
            buffers[zero.name], bar = zero, zero.name
            first.append(assigned(zero, Const(0, zero.dtype)))
        outputs[name] = bar
    inputs = tuple(name for name in program.inputs if name not in known)
    made = replace(program, buffers=buffers, inputs=inputs, outputs=outputs, body=(*first, *program.body))
    return procedure_of(made, tuple(outputs))
