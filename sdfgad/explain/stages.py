"""Stages of one program for given arguments, as the compiler goes through them, and each pass in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sdfgad.explain.listing import adjoint_listing, program_listing, sdfg_listing
from sdfgad.ir.program import Program
from sdfgad.pipeline import Pipeline
from sdfgad.planning.layout import Layout
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation

if TYPE_CHECKING:
    from sdfgad.optimise.pass_manager import Pass


@dataclass(frozen=True)
class Step:
    """What one pass did.

    Attributes:
        name, motive: of the pass.
        before, after: the program; the same where the pass changed nothing.
        seconds: how long the pass took.
    """

    name: str
    motive: str
    before: Program
    after: Program
    seconds: float

    @property
    def is_change(self) -> bool:
        return self.before != self.after


def steps(program: Program, passes: Sequence[Pass], without: Sequence[str]) -> Iterator[Step]:
    """Each pass in turn, but for those of the names in `without`."""
    for one in passes:
        if one.name not in without:
            start = time.perf_counter()
            after = one.run(program)
            yield Step(one.name, one.motive, program, after, time.perf_counter() - start)
            program = after


@dataclass(frozen=True, eq=False)
class Stages:
    """The records of a pipeline for one call, with each pass in between; the user may leave some passes out."""

    specialisation: Specialisation
    call: Call

    @property
    def pipeline(self) -> Pipeline:
        return self.specialisation.pipeline

    @property
    def without(self) -> tuple[str, ...]:
        return self.pipeline.options.without

    @cached_property
    def layout(self) -> Layout:
        return self.specialisation.layout(self.call)

    @cached_property
    def early_passes(self) -> tuple[Pass, ...]:
        """The passes before differentiation; but one where the user's options keep the program as it is."""
        from sdfgad.optimise.before_ad import EARLY, LIVE, prepare

        is_taken = prepare(self.pipeline.parsed.program, without=self.without) == self.pipeline.primal.program
        return EARLY if is_taken else LIVE

    @property
    def late_passes(self) -> tuple[Pass, ...]:
        from sdfgad.optimise.passes import PASSES

        return PASSES

    @cached_property
    def early(self) -> tuple[Step, ...]:
        """The passes before differentiation."""
        return tuple(steps(self.pipeline.parsed.program, self.early_passes, self.without))

    @cached_property
    def late(self) -> tuple[Step, ...]:
        """The passes over the gradient program."""
        return tuple(steps(self.gradient, self.late_passes, self.without))

    @property
    def gradient(self) -> Program:
        return self.pipeline.gradient(self.layout)

    @property
    def optimised(self) -> Program:
        return self.late[-1].after if self.late else self.gradient


@dataclass(frozen=True)
class Stage:
    """A stage that can be shown.

    Attributes:
        record: what it makes.
        text: that as text.
        passes: the passes that have run by then.
    """

    record: Callable[[Stages], Any]
    text: Callable[[Any], str]
    passes: Callable[[Stages], tuple[Step, ...]]


def _none(_: Stages) -> tuple[Step, ...]:
    return ()


def _early(stages: Stages) -> tuple[Step, ...]:
    return stages.early


def _all(stages: Stages) -> tuple[Step, ...]:
    return (*stages.early, *stages.late)


STAGES: Mapping[str, Stage] = {
    "parsed": Stage(lambda stages: stages.pipeline.parsed.program, program_listing, _none),
    "adjoint": Stage(lambda stages: stages.pipeline.adjoint, adjoint_listing, _early),
    "plan": Stage(lambda stages: stages.specialisation.plan(stages.call), str, _early),
    "gradient": Stage(lambda stages: stages.gradient, program_listing, _early),
    "optimised": Stage(lambda stages: stages.optimised, program_listing, _all),
    "sdfg": Stage(lambda stages: stages.pipeline.graph(stages.layout, stages.optimised), sdfg_listing, _all),
    "code": Stage(lambda stages: stages.pipeline.code(stages.optimised), str, _all),
}
