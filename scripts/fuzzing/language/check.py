"""What is checked of programs of Python's constructs: values, errors and slopes with several arguments, interpreted."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from scripts.checking import random_like
from scripts.fuzzing.case import function_of
from scripts.fuzzing.check import DOUBLE, Check, Failed, difference
from scripts.fuzzing.reference import LARGEST, Line, Rejected, is_chaotic, value_of
from scripts.fuzzing.verdict import REFUSALS
from sdfgad.errors import ProgramRaises
from sdfgad.parse.primal import Primal
from sdfgad.runtime.batch import Batch
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.signature import bind

# Data decides much in these programs, so that they run with more arguments than others, the last ones far from zero.
DRAWS, FAR = 6, 4
# The share of programs that are compiled, too.
COMPILED = 0.03
OF_NUMBERS = ("math domain error", "math range error", "float division", "float modulo", "division by zero")


class LanguageCheck(Check):
    """The checks of one program; what is compiled of it is checked as of other programs."""

    raised = (Exception,)

    def prepare(self) -> None:
        """Compare values, errors and slopes; no program need be moderate with all of its arguments."""
        self.function = function_of(self.case, self.folder)
        self.primals: list[Primal] = []
        outcomes = [self._outcome(number, self._arguments(number)) for number in range(DRAWS)]
        if all(outcome == "rejected" for outcome in outcomes):
            raise Rejected
        self.verdict.note("runs compared", sum(outcome != "rejected" for outcome in outcomes))
        self.verdict.note("runs that raise", outcomes.count("raised"))
        self.verdict.note("slopes judged", outcomes.count("right"))
        self.verdict.note("parsed", len(self.primals))
        if self.chosen(COMPILED):
            super().prepare()

    def add_default(self, batch: Batch) -> None:
        if self._is_compiled:
            super().add_default(batch)

    def add_plans(self, batch: Batch) -> None:
        if self._is_compiled:
            super().add_plans(batch)

    def check_default(self) -> None:
        if self._is_compiled:
            super().check_default()

    def check_forward(self) -> None:
        if self._is_compiled:
            super().check_forward()

    def check_threads(self) -> None:
        if self._is_compiled:
            super().check_threads()

    def check_interpreter(self) -> None:
        """Nothing: that is what `prepare` did."""

    @property
    def _is_compiled(self) -> bool:
        return hasattr(self, "gradient")

    # --- one run

    def _arguments(self, number: int) -> tuple[Any, ...]:
        scale = 2.0 if number >= FAR else 1.0
        return tuple(
            scale * value if argument.is_floating else value
            for argument, value in zip(self.case.arguments.values(), self.case.drawn(number), strict=True)
        )

    def _outcome(self, number: int, args: tuple[Any, ...]) -> str:
        """Compare one run with Python's: "raised", "rejected", or how differences judge the slope."""
        from tests.helpers_ir import checked_outputs

        try:
            expected = value_of(self.function, self.case, args)
        except (NameError, TypeError, AssertionError):  # Assertions are not checked.
            return "rejected"
        except Exception as error:
            expected = error
            # What operations on numbers raise is checked only where a handler catches it.
            if str(error).startswith(OF_NUMBERS):
                return "rejected"
        if not isinstance(expected, Exception) and not abs(expected) < LARGEST:
            return "rejected"
        try:
            primal = self._primal(args)
            found = checked_outputs(primal, *copy.deepcopy(args))["return"]
        except Exception as error:
            if isinstance(expected, Exception) and isinstance(error, (ProgramRaises, type(expected))):
                return "raised"
            if isinstance(error, REFUSALS):
                raise
            raise Failed(
                f"{type(error).__name__} is raised", f"draw {number}: {error}\nPython: {expected!r}"
            ) from error
        if isinstance(expected, Exception):
            raise Failed("nothing is raised", f"draw {number}: {found!r}\nPython: {expected!r}")
        if difference(found, expected) > DOUBLE[0] and not is_chaotic(self.function, self.case, args):
            raise Failed("wrong value", f"draw {number}: {found!r}\nPython: {expected!r}")
        return self._slope(number, args, expected, primal)

    def _primal(self, args: tuple[Any, ...]) -> Primal:
        """A program that was parsed with other arguments, if it is valid for these; else a new one."""
        from tests.helpers_ir import parsed

        call = bind(self.function, args, {})
        for primal in self.primals:
            if primal.guard is None and Arguments(primal).fits(call):
                return primal
        self.primals.append(parsed(self.function, *copy.deepcopy(args)))
        return self.primals[-1]

    def _slope(self, number: int, args: tuple[Any, ...], value: Any, primal: Primal) -> str:
        from tests.helpers_ir import evaluated_gradients, gradient_of

        cotangent = random_like(value, np.random.default_rng([self.case.seed, number]))
        floating = [name for name in inspect.signature(self.function).parameters if name in primal.inputs]
        made = gradient_of(primal, floating)
        found = evaluated_gradients(primal, made, cotangent, *copy.deepcopy(args))[1]
        gradients = {
            name: found.get(name, np.zeros(np.shape(a))) for name, a in zip(self.case.arguments, args, strict=True)
        }
        judged = Line(self.function, self.case, args, cotangent, number).judged(gradients, DOUBLE[1])
        if judged.state == "wrong":
            raise Failed("wrong gradient", f"draw {number}: slope {judged.slope!r}, differences {judged.measured!r}")
        return judged.state
