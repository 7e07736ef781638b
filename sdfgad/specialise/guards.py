"""Guards of value specialisation: runs of the part of a program that computes integers which are its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from sdfgad.errors import SdfgadError
from sdfgad.interpret.vectorised import TooMuchWork, Vectorised
from sdfgad.ir.serial import serialised
from sdfgad.optimise.before_ad import LIVE
from sdfgad.optimise.pass_manager import run_passes
from sdfgad.parse.primal import Guard, Measure, Primal
from sdfgad.runtime.differential import Runnable, load
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.compiled import Outputs
from sdfgad.specialise.signature import Call

# What interpretation may take of one call, roughly: about as long as a program of a hundred statements to compile.
MOST_SECONDS = 1.0


class Measuring:
    """The part of a program that computes some integers, compiled on first use."""

    def __init__(self, primal: Primal) -> None:
        self.program = run_passes(primal.program, LIVE)
        self.arguments = Arguments(replace(primal, program=self.program, guard=None))

    @cached_property
    def _key(self) -> str:
        return serialised(self.program)

    @cached_property
    def _executable(self) -> Runnable:
        # The program that is compiled for these integers computes them once more, and is tested.
        return load(self.program, is_tested=False)

    def values(self, call: Call) -> Mapping[str, int]:
        """The integers of a call, by the names of the outputs: they are computed once.

        Raises:
            InvalidIndex: an index was out of range; and what else a run raises.
        """
        if self._key not in call.measured:
            arrays = self.arguments.inputs(call) | Outputs(self.program)()
            self._executable(arrays, self.arguments.integers(call))
            self.arguments.raise_failed_checks(arrays)
            call.measured[self._key] = {name: int(arrays[buffer]) for name, buffer in self.program.outputs.items()}
        return call.measured[self._key]


class Guarded:
    """Whether a program is valid for the integers that data decides in a call."""

    def __init__(self, guard: Guard) -> None:
        self._measuring, self._values = Measuring(guard.primal), guard.values

    def holds(self, call: Call) -> bool:
        try:
            return self._measuring.values(call) == self._values
        except SdfgadError:
            # With other integers before it, an index may be out of range: then the program is not valid, either.
            return False


def measured_for(call: Call) -> Measure:
    """What gives the parser the integers of a call; raises as `Measuring.values` does."""
    vectorised = Vectorised(MOST_SECONDS)
    return Measure(lambda primal: Measuring(primal).values(call), lambda primal: _predicted(primal, call, vectorised))


def _predicted(primal: Primal, call: Call, vectorised: Vectorised) -> Mapping[str, int] | None:
    """The integers of a call by interpretation; None where it takes too long, or a run has to raise an error."""
    arguments, program = Arguments(primal), primal.program
    try:
        store = vectorised.run(program, arguments.inputs(call), arguments.integers(call))
    except (SdfgadError, TooMuchWork, ArithmeticError, LookupError, MemoryError, TypeError, ValueError):
        return None
    if program.checks and program.failed(int(store["status"])) is not None:
        return None
    return {name: int(store[buffer]) for name, buffer in program.outputs.items()}
