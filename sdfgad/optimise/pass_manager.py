"""Pass manager: passes are records, which run one after the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from sdfgad.ir.program import Program

VARIABLE = "SDFGAD_VERIFY"
Run = Callable[[Program], Program]


class Phase(Enum):
    """What a pass works on; the phases follow each other in this order."""

    PRIMAL = "before differentiation"
    STATEMENTS = "statements"
    LOOPS = "loops that statements share"
    DEVICE = "kernels of a device"


@dataclass(frozen=True)
class Pass:
    """One pass over a program.

    Attributes:
        name: by which it can be left out; a pass that runs several times has the same name each time.
        phase: what it works on.
        needs: the names of passes that have run before, because it works on what they leave.
        motive: what it does and why, in one sentence, which `explain --diff` prints.
        run: the pass itself.
    """

    name: str
    phase: Phase
    needs: tuple[str, ...]
    motive: str
    run: Run

    def __call__(self, program: Program) -> Program:
        return self.run(program)


def pass_of(phase: Phase, *runs: Run, name: str = "", needs: tuple[str, ...] = (), motive: str = "") -> Pass:
    """The record of a pass that consists of `runs`, one after the other.

    Its name is by default that of the first one, its motive the first line of that one's module.
    """
    text = sys.modules[runs[0].__module__].__doc__ or ""

    def run(program: Program) -> Program:
        for one in runs:
            program = one(program)
        return program

    motive = motive or text.strip().partition("\n")[0]
    return Pass(name or runs[0].__name__, phase, needs, motive, run if len(runs) > 1 else runs[0])


def in_order(passes: Iterable[Pass]) -> tuple[Pass, ...]:
    """The passes, whose phases follow each other, and which have what they need before them.

    Raises:
        ValueError: they are in no such order.
    """
    table, seen, phases = tuple(passes), set[str](), list(Phase)
    for before, one in zip((None, *table), table, strict=False):
        if before is not None and phases.index(before.phase) > phases.index(one.phase):
            raise ValueError(f"the pass `{one.name}` is of the phase {one.phase}, and runs after one of {before.phase}")
        if missing := [name for name in one.needs if name not in seen]:
            raise ValueError(f"the pass `{one.name}` runs before what it needs: {', '.join(missing)}")
        seen.add(one.name)
    return table


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
