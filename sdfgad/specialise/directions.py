"""Directions of one specialisation: derivatives along tangents (forward mode), and gradients of many cotangents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sdfgad.planning.layout import Sizes
from sdfgad.runtime.sizes import Sharing
from sdfgad.specialise.batches import Batches, Run
from sdfgad.specialise.compiled import shape_of
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation
from sdfgad.tangent.program import TangentProgram, tangent_program

Array = np.ndarray[Any, Any]
# Stands for the output's cotangent, where arguments are meant by their names.
COTANGENT = ""
VALUE, DERIVATIVE = "value", "derivative"
# The specialisations whose programs for directions are kept.
MOST_KEPT = 64


class Directions:
    """The programs of one specialisation that take directions, compiled when they are first needed."""

    def __init__(self, specialisation: Specialisation) -> None:
        self.specialisation = specialisation
        self.batches = Batches(Sharing(specialisation.pipeline.options.shapes))

    @cached_property
    def tangent(self) -> TangentProgram:
        """The program of the forward mode.

        Raises:
            MissingRule: an operation on the differentiated path has no rule.
        """
        primal = self.specialisation.primal
        inputs = [primal.inputs[name] for name in self.specialisation.wrt]
        return tangent_program(self.specialisation.pipeline.forward, inputs)

    def along(self, call: Call, tangents: Mapping[str, Any]) -> tuple[Any, Any]:
        """The output, and its derivative in the direction of tangents of the arguments, or leaves, of `wrt`.

        Raises:
            As the call of the gradient does.
        """
        inputs, of = self._of_inputs(tangents), self.specialisation
        with of.working(call, tangents.values()):
            found = self.batches.one(self._forward(call, inputs), inputs)
            return of.result(call, found[VALUE]), of.result(call, found[DERIVATIVE])

    def along_all(self, call: Call, tangents: Mapping[str, Array]) -> Array:
        """The derivatives of the output in several directions, which are stacked along a first axis."""
        inputs = self._of_inputs(tangents)
        run = self._forward(call, inputs)
        if inputs:
            return self.batches.all(run, inputs)[DERIVATIVE]
        like = run.like[DERIVATIVE]
        return np.zeros((len(next(iter(tangents.values()))), *shape_of(like)), like.dtype)

    def gradients_of_all(self, call: Call, cotangent: Array, stacked: Mapping[str, Array]) -> dict[str, Array]:
        """The gradients for several cotangents (`COTANGENT`), or values of arguments, stacked along a first axis.

        Args:
            cotangent: the cotangent for all entries, where it is not stacked.
        """
        run, input_of = self._reverse(call, cotangent)
        return self.batches.all(run, {input_of[name]: array for name, array in stacked.items()})

    def _of_inputs(self, tangents: Mapping[str, Array]) -> dict[str, Array]:
        """Tangents by the inputs that take them; on the others the output does not depend."""
        buffers = {name: self.tangent.tangents.get(self.specialisation.primal.inputs[name]) for name in tangents}
        return {buffer: tangents[name] for name, buffer in buffers.items() if buffer is not None}

    def _forward(self, call: Call, given: Mapping[str, Array]) -> Run:
        """The tangent program for a call; the tangents that are not given are zero."""
        specialisation, program = self.specialisation, self.tangent.program
        value = program.outputs[specialisation.output]
        missing = [program.buffers[dot] for dot in self.tangent.tangents.values() if dot not in given]
        zeros = {buffer.name: np.zeros(shape_of(buffer), buffer.dtype) for buffer in missing}
        return Run(
            program,
            specialisation.arguments.inputs(call) | zeros,
            specialisation.arguments.integers(call),
            {VALUE: value, DERIVATIVE: self.tangent.derivatives.get(specialisation.output)},
            dict.fromkeys((VALUE, DERIVATIVE), program.buffers[value]),
            None if call.caller is None else call.caller.empty,
        )

    def _reverse(self, call: Call, cotangent: Array) -> tuple[Run, dict[str, str]]:
        """The gradient program without the value, and its inputs by argument."""
        specialisation = self.specialisation
        layout = specialisation.layout(call)
        built = specialisation.built(layout)
        arrays, integers = specialisation.marshalled(call, layout, built, cotangent, with_value=False)
        trips = specialisation.trips(call, built)
        tables, integers = layout.passed(Sizes(integers, trips))
        arrays |= tables
        gradients, inputs = built.gradient_program.gradients, specialisation.primal.inputs
        buffers = built.gradient_program.program.buffers
        run = Run(
            built.gradients,
            {name: array for name, array in arrays.items() if name in built.gradients.inputs},
            integers,
            {name: gradients.get(inputs[name]) for name in specialisation.wrt},
            {name: buffers[inputs[name]] for name in specialisation.wrt},
            trips=trips,
        )
        return run, {**inputs, COTANGENT: built.gradient_program.cotangent}


@lru_cache(MOST_KEPT)
def directions_of(specialisation: Specialisation) -> Directions:
    """The programs for directions of a specialisation: always the same ones."""
    return Directions(specialisation)
