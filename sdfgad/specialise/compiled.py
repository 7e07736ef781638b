"""Lazy compilation of gradient programs: lowered, compiled and loaded when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.gradient.assemble import GradientProgram
from sdfgad.ir.program import Buffer, Program
from sdfgad.runtime.differential import Runnable, load
from sdfgad.runtime.pool import empty

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Compiled:
    """The gradient program of one layout, compiled on first use: with the output's value, and without.

    Attributes:
        gradient_program: the assembled program with its tapes, checkpoints and names.
        whole: the program that is compiled.
        optimised: the same program after all passes, which the accounts of its memory asked for before.
        gradients: the program without the output's value.
    """

    gradient_program: GradientProgram
    whole: Program
    optimised: Callable[[], Program]
    gradients: Program

    @cached_property
    def sdfg(self) -> Any:
        # These import DaCe, which takes a while, and a program that is found compiled does without.
        from sdfgad.sdfg.groups import add_groups
        from sdfgad.sdfg.writer import write

        sdfg = write(self.optimised())
        add_groups(sdfg, self.gradient_program)
        return sdfg

    @cached_property
    def outputs(self) -> Outputs:
        return Outputs(self.whole)

    @cached_property
    def gradient_outputs(self) -> Outputs:
        return Outputs(self.gradients)

    @cached_property
    def executable(self) -> Runnable:
        return load(self.whole, self.optimised)

    @cached_property
    def gradient_executable(self) -> Runnable:
        return load(self.gradients, self.optimised if self.gradients is self.whole else None)

    @cached_property
    def counting(self) -> Runnable | None:
        """The program that counts the trips of loops whose trip count depends on data, if there are any."""
        counting = self.gradient_program.counting
        return None if counting is None else load(counting)


class Outputs:
    """The arrays that a compiled program writes, new ones for each call."""

    def __init__(self, program: Program) -> None:
        names = dict.fromkeys([*program.outputs.values(), *(("status",) if program.checks else ())])
        self._arrays = [(name, shape_of(program.buffers[name]), program.buffers[name].dtype) for name in names]

    def __call__(self) -> dict[str, Array]:
        return {name: empty(shape, dtype) for name, shape, dtype in self._arrays}


def shape_of(buffer: Buffer) -> tuple[int, ...]:
    return tuple(extent.const for extent in buffer.shape)
