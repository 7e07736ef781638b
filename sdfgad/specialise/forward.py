"""Forward runs of a program with all that it returns: its values, and their derivatives in a direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.ir.program import Program
from sdfgad.optimise.prepared import live, prepared
from sdfgad.options import Options
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Primal
from sdfgad.parse.returned import Output
from sdfgad.parse.structure import build, container, flattened
from sdfgad.runtime.sizes import Sharing
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.batches import Batches, Run
from sdfgad.specialise.compiled import shape_of
from sdfgad.specialise.guards import measured_for
from sdfgad.specialise.signature import Call, definition
from sdfgad.specialise.tangents import fitting
from sdfgad.tangent.program import TangentProgram, tangent_program

Array = np.ndarray[Any, Any]


class ReturnsNothing(ArgumentError):
    """A program returns no arrays or numbers."""


class Forward:
    """A program for one signature; its compiled programs are made when they are first needed."""

    def __init__(self, function: Callable[..., Any], options: Options, call: Call) -> None:
        """Parses the program.

        Raises:
            ArgumentError: it returns what exists while parsing only, such as an iterator.
        """
        measure = measured_for(call)
        parsed = returning(parse(function, call.kinds, (), call.values, call.structures, measure=measure))
        self.primal = prepared(live(parsed, options), options)
        self.arguments = Arguments(self.primal)
        self._batches = Batches(Sharing(options.shapes))
        self._tangents: dict[frozenset[str], TangentProgram] = {}

    def fits(self, call: Call) -> bool:
        return self.arguments.fits(call)

    @property
    def is_single(self) -> bool:
        """Whether it returns one array or number."""
        return self.primal.returned.structure is None

    def value(self, call: Call) -> Any:
        """What the program returns."""
        program = self.primal.program
        found = self._batches.one(self._run(call, program, dict(program.outputs)), {})
        return self._filled(found)

    def along(self, call: Call, tangents: Mapping[str, Array]) -> tuple[Any, Any]:
        """What the program returns, and its derivative in a direction, with None for what is no float.

        Args:
            tangents: arguments, or leaves of them, -> their parts of the direction; the others are constant.
        """
        tangent = self._tangent(frozenset(tangents))
        run = self._run(call, tangent.program, {**self.primal.program.outputs, **self._derivatives(tangent)})
        found = self._batches.one(run, self._of_inputs(tangent, tangents))
        return self._filled(found), self._slopes(found)

    def derivative(self, call: Call, tangents: Mapping[str, Array]) -> Any:
        """The derivative alone, without computing what only the values need."""
        tangent = self._tangent(frozenset(tangents))
        run = self._run(call, tangent.without_values, self._derivatives(tangent))
        return self._slopes(self._batches.one(run, self._of_inputs(tangent, tangents)))

    def derivatives_along_all(self, call: Call, tangents: Mapping[str, Array]) -> tuple[Array, ...]:
        """The derivatives of the floating outputs, in order, along tangents that are stacked along a first axis."""
        tangent = self._tangent(frozenset(tangents))
        run, inputs = (
            self._run(call, tangent.without_values, self._derivatives(tangent)),
            self._of_inputs(tangent, tangents),
        )
        if inputs:
            return tuple(self._batches.all(run, inputs).values())
        count = len(next(iter(tangents.values())))
        return tuple(np.zeros((count, *shape_of(one)), one.dtype) for one in run.like.values())

    def _derivatives(self, tangent: TangentProgram) -> dict[str, str | None]:
        return {of_derivative(name): tangent.derivatives.get(name) for name in self._floating()}

    def _of_inputs(self, tangent: TangentProgram, tangents: Mapping[str, Array]) -> dict[str, Array]:
        """Tangents by the inputs that take them; on the others no output depends."""
        inputs = {name: tangent.tangents.get(self.primal.inputs[name]) for name in tangents}
        return {buffer: tangents[name] for name, buffer in inputs.items() if buffer is not None}

    def _slopes(self, found: Mapping[str, Array]) -> Any:
        outputs = self.primal.program.outputs
        return self._filled({name: found.get(of_derivative(name)) for name in outputs}, constants=False)

    def cotangent(self, given: Any) -> Any:
        """A container of cotangents of what the program returns, with None for what is no float.

        Raises:
            ArgumentError: it has another structure, or an array another shape.
        """
        returned, program, floating = self.primal.returned, self.primal.program, set(self._floating())
        structure, leaves = flattened(given, "cotangent")
        if structure != returned.structure:
            what = "the cotangent has another structure than what the program returns"
            raise ArgumentError(what, todo="Pass one with the same keys; None stands for zero.")
        found: list[Array | None] = []
        for output, leaf in zip(returned.leaves, leaves, strict=True):
            name = output.name if isinstance(output, Output) else ""
            buffer = program.buffers[program.outputs[name]] if name in floating and leaf is not None else None
            what = f"the cotangent of `{name}`"
            found.append(None if buffer is None else fitting(leaf, shape_of(buffer), buffer.dtype, what))
        return build(structure, iter(found), container)

    def _tangent(self, names: frozenset[str]) -> TangentProgram:
        if names not in self._tangents:
            inputs = [self.primal.inputs[name] for name in sorted(names)]
            self._tangents[names] = tangent_program(self.primal.program, inputs)
        return self._tangents[names]

    def _floating(self) -> list[str]:
        program = self.primal.program
        return [name for name, buffer in program.outputs.items() if program.buffers[buffer].is_floating]

    def _run(self, call: Call, program: Program, outputs: dict[str, str | None]) -> Run:
        own = self.primal.program
        like = {name: own.buffers[buffer] for name, buffer in own.outputs.items()}
        like |= {of_derivative(name): buffer for name, buffer in like.items()}
        arrays, integers = self.arguments.inputs(call), self.arguments.integers(call)
        return Run(program, arrays, integers, outputs, {name: like[name] for name in outputs})

    def _filled(self, values: Mapping[str, Any], constants: bool = True) -> Any:
        """The returned container with these values of outputs; no two of them share memory."""
        seen: set[int] = set()

        def output(name: str) -> Any:
            value = values[name]
            if value is None:
                return None
            value = value.copy() if id(value) in seen else value
            seen.add(id(value))
            return value[()]

        returned = self.primal.returned
        if not constants:
            leaves = tuple(leaf if isinstance(leaf, Output) else None for leaf in returned.leaves)
            returned = replace(returned, leaves=leaves)
        return returned.filled(output)


def of_derivative(output: str) -> str:
    """The name of an output's derivative."""
    return f"derivative of {output}"


def returning(parsed: Primal) -> Primal:
    """A program with what it returns as its only outputs.

    Raises:
        ReturnsNothing: it returns no arrays or numbers.
        ArgumentError: it returns what exists while parsing only.
    """
    returned, name = parsed.returned, parsed.source.name
    where = definition(parsed.source.function)
    if returned.hidden is not None:
        todo = "Return arrays, numbers or containers of them."
        raise ArgumentError(f"`{name}` returns {returned.hidden}", where, todo)
    if not returned.outputs:
        raise ReturnsNothing(f"`{name}` returns no array or number", where, "Return what it computes.")
    outputs = {output: parsed.program.outputs[output] for output in returned.outputs}
    return replace(parsed, program=replace(parsed.program, outputs=outputs))
