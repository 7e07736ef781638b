"""Specialisation of a gradient that another program calls: its gradient program, to be inlined there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.capacity import with_capacity
from sdfgad.ir.capacities import capacity_of
from sdfgad.ir.program import Program
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.optimise.before_ad import LIVE
from sdfgad.optimise.pass_manager import run_passes
from sdfgad.optimise.prepared import live, prepared, without_deciding
from sdfgad.options import Options
from sdfgad.parse.builder import Builder
from sdfgad.parse.inlining import Inlining
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Measure, Primal
from sdfgad.parse.structure import Leaf, Structure, flattened, names
from sdfgad.parse.transformed import Code, emit, stand_in
from sdfgad.parse.values import view_of
from sdfgad.pipeline import Pipeline
from sdfgad.specialise.signature import Call, bound_arguments, definition

Lookups = tuple[tuple[Callable[[], Any], Any], ...]
# What makes a container one that is taken apart, where a program calls a gradient.
VALUES = Leaf, np.ndarray, np.generic, float, complex


def arguments_within(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of a call in a program, also those that its function holds, with a `Leaf` for each array."""
    return tuple(map(stand_in, args)), {name: stand_in(value) for name, value in kwargs.items()}


def bind_within(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], kind_of: Callable[[Any], Any]
) -> Call:
    """Binds the arguments of a call in a program, in which a `Leaf` stands for an array, to the function's parameters.

    Raises:
        ArgumentError: they do not fit.
    """
    passed = bound_arguments(function, args, kwargs)
    flat: dict[str, Any] = {}
    structures: dict[str, Structure] = {}
    for name, value in passed.items():
        structure, leaves = flattened(value, name)
        if structure is None or not any(isinstance(leaf, VALUES) for leaf in leaves):
            flat[name] = value
            continue
        structures[name] = structure
        flat |= zip(names(structure, name), leaves, strict=True)
    kinds = {name: kind_of(value) for name, value in flat.items()}
    return Call(flat, kinds, None, (), structures, {name: passed[name] for name in structures})


def pipeline_within(
    function: Callable[..., Any],
    call: Call,
    groups: tuple[tuple[str, ...], ...],
    resolve_output: Callable[[Primal], str],
    allow_unused: bool,
    options: Options,
    b: Builder,
) -> Pipeline:
    """The pipeline of a gradient for a call in a program: all integers are constants, and all residuals are stored.

    Args:
        b: the builder of that program.

    Raises:
        UnsupportedProgram: it draws random numbers.
    """
    free = replace(options, limit=None, strategy="store_all", overrides={})

    def made(are_enclosed_constant: bool) -> Pipeline:
        integers = [name for name, kind in call.kinds.items() if type(kind) is int]
        measure = measured_within(b, call)
        parsed = parse(function, call.kinds, integers, {}, call.structures, are_enclosed_constant, measure)
        wrt = tuple(dict.fromkeys(n for group in groups for n in group))
        needed = () if allow_unused else without_deciding(parsed, groups)
        pipeline = Pipeline(parsed, live(parsed, free), wrt, resolve_output(parsed), needed, free)
        return replace(pipeline, primal=prepared(pipeline.primal, free))

    pipeline = made(False)
    try:
        _ = pipeline.planner.store_all
    except (NeedsConstant, UnsupportedProgram):
        if not pipeline.parsed.has_enclosed_integers:
            raise
        # An integer of the enclosing program may be a size, or a number of trips.
        pipeline = made(True)
    if pipeline.parsed.draws:
        what = f"`{function.__name__}` draws random numbers, and a program calls its gradient"
        raise UnsupportedProgram(what, definition(function), "Draw the numbers outside, and pass them as an argument.")
    return pipeline


def gradient_within(pipeline: Pipeline) -> tuple[GradientProgram, Lookups]:
    """The gradient program to inline, and what tells whether it still has as long tapes as its loops have needed."""
    gradient = pipeline.planner.store_all.gradient_program
    where = pipeline.primal.source.where(pipeline.primal.source.node)
    keys = {total: (where.file, where.line, total) for total in gradient.totals}
    lookups = tuple((partial(capacity_of, key), capacity_of(key)) for key in keys.values())
    return (replace(gradient, program=with_capacity(gradient, keys)) if keys else gradient), lookups


def inlining_of(parsed: Primal, program: Program) -> Inlining:
    """A program that was made of a parsed one, to be inlined."""
    same = tuple((_is_equal(array, copy), True) for array, copy in parsed.decisive_captured)
    captured = {name: array for name, array in parsed.captured.items() if name in program.inputs}
    return Inlining(program, captured, (*parsed.lookups, *same))


def _is_equal(array: np.ndarray[Any, Any], copy: np.ndarray[Any, Any]) -> Callable[[], bool]:
    return lambda: bool(np.array_equal(array, copy))


def measured_within(b: Builder, call: Call) -> Measure:
    """What gives the parser the integers of a call in a program: constants of that, if it may have such."""

    def measure(primal: Primal) -> Mapping[str, int]:
        program = run_passes(primal.program, LIVE)
        inputs = {name: buffer for name, buffer in primal.inputs.items() if buffer in program.inputs}
        found = emit(b, Code(inlining_of(primal, program), call.values, inputs))
        return {name: b.constant(view_of(b.buffers[found[buffer]])) for name, buffer in program.outputs.items()}

    return Measure(measure)
