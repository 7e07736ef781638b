"""Lazy compilation of gradient programs: lowered, compiled and loaded when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.gradient.assemble import GradientProgram
from sdfgad.ir.program import Buffer, Program
from sdfgad.pipeline import Pipeline
from sdfgad.planning.layout import Layout
from sdfgad.runtime.compile import source_of
from sdfgad.runtime.differential import Runnable, load
from sdfgad.runtime.pool import empty
from sdfgad.runtime.sizes import Sharing

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Compiled:
    """The gradient program of one layout, compiled on first use: with the output's value, and without.

    Attributes:
        gradients: the program without the output's value.
        others: the same of calls with other sizes.
    """

    pipeline: Pipeline
    layout: Layout
    gradients: Program
    others: Callable[[], Iterable[Compiled]] = tuple

    @property
    def gradient_program(self) -> GradientProgram:
        """What the program was assembled from."""
        return self.layout.gradient_program

    @cached_property
    def whole(self) -> Program:
        """The program with the output's value."""
        return self.pipeline.gradient(self.layout)

    def _sharing(self, program: Callable[[Compiled], Program]) -> Sharing:
        """Whether the program may run code of other sizes, and what that program is at other sizes."""
        others = (source_of(program(other)) for other in self.others())
        return Sharing(self.pipeline.options.shapes, lambda: others)

    def optimised(self) -> Program:
        """That program after all passes; the accounts of its memory may have asked for it before."""
        return self.pipeline.optimised(self.layout)

    @cached_property
    def sdfg(self) -> Any:
        return self.pipeline.graph(self.layout, self.optimised())

    @cached_property
    def outputs(self) -> Outputs:
        return Outputs(self.whole)

    @cached_property
    def gradient_outputs(self) -> Outputs:
        return Outputs(self.gradients)

    @cached_property
    def executable(self) -> Runnable:
        return load(self.whole, self.optimised, self._sharing(lambda other: other.whole))

    @cached_property
    def gradient_executable(self) -> Runnable:
        optimised = self.optimised if self.gradients is self.whole else None
        return load(self.gradients, optimised, self._sharing(lambda other: other.gradients))

    @cached_property
    def counting(self) -> Runnable | None:
        """The program that counts the trips of loops whose trip count depends on data, if there are any."""
        counting = self.gradient_program.counting
        return None if counting is None else load(counting, sharing=Sharing(self.pipeline.options.shapes))


class Outputs:
    """The arrays that a compiled program writes, new ones for each call."""

    def __init__(self, program: Program) -> None:
        names = dict.fromkeys([*program.outputs.values(), *(("status",) if program.checks else ())])
        self._arrays = [(name, shape_of(program.buffers[name]), program.buffers[name].dtype) for name in names]

    def __call__(self) -> dict[str, Array]:
        return {name: empty(shape, dtype) for name, shape, dtype in self._arrays}

    def partly(self, chosen: Container[str], make: Callable[[tuple[int, ...], np.dtype[Any]], Any]) -> dict[str, Any]:
        """The arrays, the chosen ones from `make`."""
        return {name: (make if name in chosen else empty)(shape, dtype) for name, shape, dtype in self._arrays}


def shape_of(buffer: Buffer) -> tuple[int, ...]:
    return tuple(extent.const for extent in buffer.shape)
