"""Pass manager: passes are records, which run one after the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sdfgad.ir.program import Program

VARIABLE = "SDFGAD_VERIFY"


@dataclass(frozen=True)
class Pass:
    """One pass over a program.

    Attributes:
        name: by which it can be left out; a pass that runs several times has the same name each time.
        motive: what it does and why, in one sentence: the first line of its module, which `explain --diff` prints.
        run: the pass itself.
    """

    name: str
    motive: str
    run: Callable[[Program], Program]

    def __call__(self, program: Program) -> Program:
        return self.run(program)


def pass_of(run: Callable[[Program], Program]) -> Pass:
    """The record of a pass, whose motive is the first line of its module's docstring."""
    text = sys.modules[run.__module__].__doc__ or ""
    return Pass(run.__name__, text.strip().partition("\n")[0], run)


def run_passes(program: Program, passes: Sequence[Pass], without: Collection[str] = ()) -> Program:
    """Runs passes in order, except those named in `without`; with SDFGAD_VERIFY=1 the program is verified after each.

    Raises:
        InvalidProgram: SDFGAD_VERIFY is 1, and a pass has returned a malformed program.
    """
    is_verified = os.environ.get(VARIABLE) == "1"
    for one in passes:
        if one.name in without:
            continue
        before, program = program, one.run(program)
        if is_verified and program is not before:
            from sdfgad.ir.verify import verify

            verify(program, f"after the pass `{one.name}`")
    return program
