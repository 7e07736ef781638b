"""A gradient program, lowered and compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sdfgad.ir.program import Program
from sdfgad.lowering.assemble import GradientProgram
from sdfgad.optimize import optimise
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_program


@dataclass(frozen=True, eq=False)
class Built:
    """The gradient program of one layout, compiled when it is first needed."""

    made: GradientProgram
    program: Program

    @cached_property
    def sdfg(self) -> Any:
        # These import DaCe, which takes a while, and a program that is found compiled does without.
        from sdfgad.lowering.colours import colour
        from sdfgad.lowering.sdfg import lower

        sdfg = lower(self.program)
        colour(sdfg, self.made)
        return sdfg

    @cached_property
    def executable(self) -> Executable:
        return Executable(compile_program(self.program))

    @cached_property
    def counting(self) -> Executable | None:
        """Counts the trips of loops whose number of trips is data."""
        counting = self.made.counting
        return None if counting is None else Executable(compile_program(optimise(counting)))
