"""A layout: one way to compute a gradient (what is stored, recomputed, checkpointed, strip-mined), and its peak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.counting import is_counted
from sdfgad.ir.program import Block, Loop, Program
from sdfgad.memory.lifetimes import evaluate, peak_bytes
from sdfgad.plan.cut import Cut
from sdfgad.plan.problem import Solution
from sdfgad.plan.segments import Segments


@dataclass(frozen=True)
class Sizes:
    """What the memory of one call depends on.

    Attributes:
        integers: values of the program's run-time integers.
        trips: numbers of trips that depend on data and have been counted, by name (`sdfgad.gradient.counting`).
        copies: bytes of copies of arguments that are not contiguous.
    """

    integers: Mapping[str, int]
    trips: Mapping[str, int] = field(default_factory=dict)
    copies: int = 0

    def trips_of(self, loop: Loop) -> int:
        """The trips of a loop that can be checkpointed."""
        return self.trips[loop.var] if is_counted(loop) else max(evaluate(loop.trips, self.integers), 0)

    def of(self, gradient_program: GradientProgram) -> dict[str, int]:
        """All integers on which a gradient program's sizes depend, except those of checkpointing."""
        return {**self.integers, **gradient_program.slots(self.integers, self.trips)}


@dataclass(frozen=True, eq=False)
class Code:
    """A gradient program as it is compiled; layouts that differ in numbers only share it.

    Attributes:
        gradient_program: the program, not optimised.
        strip_mined: the program with some of its statements strip-mined, or None if none are.
        cuts: which statements these are.
        without: the names of passes that are left out.
    """

    gradient_program: GradientProgram
    strip_mined: Program | None = None
    cuts: tuple[Cut, ...] = ()
    without: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (self.gradient_program, self.strip_mined, self.cuts, self.without)

    @property
    def source(self) -> Program:
        """The program that is compiled, before it is optimised."""
        return self.gradient_program.program if self.strip_mined is None else self.strip_mined

    @cached_property
    def before_loops(self) -> Program:
        """The program after the passes before loop fusion, when each statement can still be strip-mined by itself."""
        from sdfgad.optimise.passes import before_loops, optimise  # What is found compiled does without the import.

        return optimise(self.source, before_loops(self.source.device), self.without)

    @cached_property
    def program(self) -> Program:
        """The program, optimised."""
        from sdfgad.optimise.passes import from_loops, optimise

        return optimise(self.before_loops, from_loops(self.source.device), self.without)

    @cached_property
    def complete(self) -> Program:
        """The program, optimised by all passes: what is compiled."""
        from sdfgad.optimise.passes import optimise

        return optimise(self.source) if self.without else self.program

    @cached_property
    def counting(self) -> Program | None:
        """The program that counts trips whose number depends on data, optimised."""
        from sdfgad.optimise.passes import optimise

        return (
            None
            if self.gradient_program.counting is None
            else optimise(self.gradient_program.counting, without=self.without)
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """One way to compute a gradient.

    Attributes:
        code: the program, which other layouts may share.
        body: the primal's statements, which `gradient_program.points` number.
        recomputed: for each recomputed value, the statements that compute it.
        segments: how loops are checkpointed, by statement number.
        solution: the solution of the planning problem, or None if nothing was decided.
        status, gap, solver, seconds: how it was found.
    """

    code: Code
    body: Block
    recomputed: tuple[Any, ...]
    segments: Mapping[int, Segments] = field(default_factory=dict)
    solution: Solution | None = None
    status: str = "fixed"
    gap: float | None = 0.0
    solver: str = "none"
    seconds: float = 0.0

    @property
    def gradient_program(self) -> GradientProgram:
        return self.code.gradient_program

    @property
    def program(self) -> Program:
        return self.code.program

    @property
    def gradients_only(self) -> Program:
        """The program without the output's value, and so without what only that needs."""
        whole = self.code.source
        gradients = {name: buffer for name, buffer in whole.outputs.items() if buffer != self.gradient_program.value}
        return replace(whole, outputs=gradients)

    @property
    def decided(self) -> Solution:
        """The solution of the planning problem, which must exist."""
        assert self.solution is not None
        return self.solution

    @property
    def structure(self) -> tuple[Any, ...]:
        """A key, equal for layouts with the same compiled code."""
        return self.recomputed, tuple(sorted(self.segments)), self.code.cuts

    def for_trips(self, sizes: Sizes) -> Layout:
        """The same layout for other numbers of trips."""
        if not self.segments:
            return self
        loops = {number: checkpoint.loop for number, checkpoint in self.gradient_program.checkpoints.items()}
        segments = {number: one.for_trips(sizes.trips_of(loops[number])) for number, one in self.segments.items()}
        return self if segments == self.segments else replace(self, segments=segments)

    def passed(self, sizes: Sizes) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, int]]:
        """The checkpointing tables and all integers that the compiled program takes, for numbers of trips."""
        sized = self.for_trips(sizes)
        return sized.tables[0], sized.integers(sizes)

    @cached_property
    def tables(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, int]]:
        """The checkpointing tables and integers that the compiled program takes as arguments."""
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        integers: dict[str, int] = {}
        for number, checkpoint in self.gradient_program.checkpoints.items():
            segments = self.segments[number]
            forward, reverse = segments.forward(), segments.reverse()
            arrays |= {checkpoint.forward.name: forward, checkpoint.reverse.name: reverse}
            values = (segments.length, segments.slots, len(forward), len(reverse))
            integers |= dict(zip(checkpoint.integers, values, strict=True))
        return arrays, integers

    def integers(self, sizes: Sizes) -> dict[str, int]:
        return replace(sizes, integers={**sizes.integers, **self.tables[1]}).of(self.gradient_program)

    def peak_bytes(self, sizes: Sizes) -> int:
        """The memory peak of a call in bytes."""
        integers, counting = self.integers(sizes), self.code.counting
        first = peak_bytes(counting, integers) if counting is not None else 0
        return max(first, peak_bytes(self.program, integers)) + sizes.copies
