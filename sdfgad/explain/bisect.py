"""Bisection: the first stage or pass after which a program computes something else."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.api.check import FiniteDifferences, called, part_of
from sdfgad.explain.interpreter import Interpreter, with_totals
from sdfgad.explain.stages import Stages, Step, steps
from sdfgad.ir.library import require_silent
from sdfgad.ir.program import Program
from sdfgad.ir.verify import verify
from sdfgad.optimise.pass_manager import Pass
from sdfgad.parse.draws import restore
from sdfgad.runtime.build import compile_source
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import source_of_optimised
from sdfgad.specialise.compiled import Outputs
from sdfgad.specialise.signature import as_input

Array = np.ndarray[Any, Any]
Arrays = dict[str, Any]

# Passes change the order of operations, and so how results are rounded: up to so much of the largest element.
TOLERANCE, SINGLE = 1e-9, 1e-3
# What is as small as that beside all arguments and results may be zero but for rounding, and counts as that large.
SMALL = 1e-3
# Of cotangents, directions and the orders of parallel trips, which are others after each pass.
SEED = 1


@dataclass(frozen=True)
class Outcome:
    """What a program computed after one stage or pass.

    Attributes:
        name: of the stage or pass.
        kind: "stage" or "pass".
        difference: by how much a result differs at most, relative to the largest element; infinity where it has
            another shape or is infinite or NaN elsewhere, and where the program could not be run.
        limit: the difference that is allowed.
        detail: which result differs, or what happened.
    """

    name: str
    kind: str
    difference: float
    limit: float
    detail: str

    @property
    def is_right(self) -> bool:
        return self.difference <= self.limit


@dataclass(frozen=True)
class Bisection:
    """What the bisection found.

    Attributes:
        outcomes: of each stage and each pass that changed the program, in order, up to the first wrong one.
        passes: the passes that have run, as an `Explanation` has them.
    """

    outcomes: tuple[Outcome, ...]
    passes: tuple[Step, ...] = ()

    @property
    def wrong(self) -> Outcome | None:
        """The first wrong one, or None where all agree."""
        return next((one for one in self.outcomes if not one.is_right), None)

    def __str__(self) -> str:
        width = max(len(f"{one.kind} {one.name}") for one in self.outcomes)
        lines = [f"{f'{one.kind} {one.name}':{width}}  {_amount(one)}" for one in self.outcomes]
        return "\n".join([*lines, "", self._verdict()])

    def _verdict(self) -> str:
        wrong = self.wrong
        if wrong is None:
            return "All agree."
        motives = [step.motive for step in self.passes if wrong.kind == "pass" and step.name == wrong.name]
        return "\n".join([f"The {wrong.kind} `{wrong.name}` is the first that differs: {wrong.detail}.", *motives[-1:]])


def _amount(one: Outcome) -> str:
    return f"{one.difference:.1e}" + ("" if one.is_right else f", allowed are {one.limit:.0e}")


def bisected(stages: Stages) -> Bisection:
    """Run a program after each stage and pass, until one computes something else.

    Raises: UnsupportedProgram: it communicates, which the interpreter does not.
    """
    require_silent(stages.pipeline.parsed.program.body, "a bisection of a program")
    run = _Run(stages)
    outcomes: list[Outcome] = []
    for outcome in run.outcomes():
        outcomes.append(outcome)
        if not outcome.is_right:
            break
    return Bisection(tuple(outcomes), tuple(run.passes))


class _Run:
    """The programs of all stages, on the same arguments."""

    def __init__(self, stages: Stages) -> None:
        self.stages, self.specialisation, self.passes = stages, stages.specialisation, list[Step]()
        call, primal = stages.call, stages.specialisation.primal
        self.check = FiniteDifferences(call, stages.specialisation, np.random.default_rng(SEED))
        self.arrays: Arrays = dict(primal.captured) | call.numbers(primal.draws)
        self.arrays |= {b: as_input(call.values[n], call.kinds[n]) for n, b in primal.inputs.items()}
        self.integers = {symbol: int(call.kinds[name]) for name, symbol in primal.integers.items()}

    def outcomes(self) -> Iterator[Outcome]:
        stages, program = self.stages, self.stages.pipeline.parsed.program
        found = yield from self.ran("parsed", "stage", program, self.by_numpy(), self.interpreted)
        yield from self.after_passes(program, stages.early_passes, found)
        value = {self.specialisation.output: found[self.specialisation.output]}
        self.add_gradient_inputs()
        found = yield from self.ran("gradient", "stage", stages.gradient, value, self.interpreted)
        yield self.slope(found)
        program = yield from self.after_passes(stages.gradient, stages.late_passes, found)
        yield from self.ran("code", "stage", program, found, self.compiled)

    def after_passes(
        self, program: Program, passes: Sequence[Pass], expected: Arrays
    ) -> Generator[Outcome, None, Program]:
        for one in passes:
            try:
                done = list(steps(program, (one,), self.stages.without))
            except Exception as error:
                yield failed(one.name, "pass", error)
                return program
            if not done:
                continue
            (step,) = done
            self.passes.append(step)
            program = step.after
            if step.is_change:
                yield from self.ran(step.name, "pass", program, expected, self.interpreted)
        return program

    def ran(
        self, name: str, kind: str, program: Program, expected: Arrays, run: Callable[[Program], Arrays]
    ) -> Generator[Outcome, None, Arrays]:
        """How the results of a program differ from what is expected; returns them."""
        try:
            found = run(program)
        except Exception as error:
            # Whatever a wrong program leads to: that it does is what was asked for.
            yield failed(name, kind, error)
            return {}
        yield worst(name, kind, found, expected, max(map(_largest, self.arrays.values()), default=0.0))
        return found

    # --- ways to run

    def by_numpy(self) -> Arrays:
        """The outputs as the user's function computes them."""
        call = self.stages.call
        restore(self.check.states)
        values = call.arguments(copy.deepcopy(dict(call.values)))
        with np.errstate(all="ignore"):
            returned = called(self.specialisation.primal.source.function, values)
        names = self.stages.pipeline.parsed.program.outputs
        return {name: np.asarray(part_of({"return": returned} | values, name)) for name in names}

    def interpreted(self, program: Program) -> Arrays:
        verify(program)
        with np.errstate(all="ignore"):
            run = Interpreter(program, self.arrays, self.integers, SEED + len(self.passes))
        self.raise_failed(program, run.store)
        return run.outputs

    def compiled(self, program: Program) -> Arrays:
        arrays = {**self.arrays, **Outputs(program)()}
        Executable(compile_source(source_of_optimised(program)))(arrays, self.integers)
        self.raise_failed(program, arrays)
        return {name: arrays[buffer] for name, buffer in program.outputs.items()}

    def raise_failed(self, program: Program, arrays: Arrays) -> None:
        failed = program.failed(int(arrays["status"])) if program.checks else None
        if failed is not None:
            raise failed.failure()

    # --- gradients

    def add_gradient_inputs(self) -> None:
        """A cotangent, the tables of kept states, and numbers of trips that are data."""
        layout = self.stages.layout
        tables, lengths = layout.tables
        self.integers = with_totals(layout.gradient_program, self.arrays, self.integers | lengths)
        self.arrays = {**self.arrays, **tables, layout.gradient_program.cotangent: self.check.cotangent()}

    def slope(self, found: Arrays) -> Outcome:
        """The gradients against central differences of the user's function."""
        inputs, values = self.specialisation.primal.inputs, self.stages.call.values
        names = {name: f"gradient of {inputs[name]}" for name in self.specialisation.wrt}
        bars = {n: found[name] if name in found else np.zeros_like(values[n]) for n, name in names.items()}
        error, _ = self.check.along(bars)
        detail = "the gradients are no central differences of the function: they are wrong, or it is not smooth here"
        return Outcome("gradient by differences", "stage", error, self.check.tolerance, detail)


def failed(name: str, kind: str, error: Exception) -> Outcome:
    """Of what cannot be run at all."""
    text = " ".join(str(error).split())
    return Outcome(name, kind, math.inf, 0.0, f"{type(error).__name__}: {text}")


def worst(name: str, kind: str, found: Arrays, expected: Arrays, largest: float) -> Outcome:
    """The result that differs most, relative to what is allowed."""
    if missing := expected.keys() - found.keys():
        return Outcome(name, kind, math.inf, 0.0, f"{', '.join(sorted(missing))} is missing")
    least = SMALL * max([largest, *(_largest(y) for y in expected.values())])
    outcomes = [
        Outcome(
            name, kind, difference(found[n], y, least), SINGLE if _is_single(y) else TOLERANCE, f"`{n}` is another one"
        )
        for n, y in expected.items()
    ]
    return max(outcomes, key=lambda one: one.difference / one.limit)


def difference(found: Array, expected: Array, least: float = 0.0) -> float:
    """The largest difference of an element relative to the largest element, or to `least`.

    It is infinite where shapes differ, or elements that are infinite or no numbers.
    """
    x, y = np.asarray(found), np.asarray(expected)
    if x.shape != y.shape:
        return math.inf
    if y.dtype.kind not in "fc":
        return 0.0 if np.array_equal(x, y) else math.inf
    is_finite = np.isfinite(y)
    if not np.array_equal(x[~is_finite], y[~is_finite], equal_nan=True) or not np.isfinite(x[is_finite]).all():
        return math.inf
    most = float(np.max(np.abs(x[is_finite] - y[is_finite]), initial=0.0))
    return most / max(_largest(y), least, float(np.finfo(y.dtype).tiny)) if most else 0.0


def _largest(array: Array) -> float:
    """The size of the largest element that is finite, of real or complex numbers."""
    if np.asarray(array).dtype.kind not in "fc":
        return 0.0
    return float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0))


def _is_single(array: Array) -> bool:
    return array.dtype in (np.float32, np.complex64)
