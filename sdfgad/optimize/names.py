"""New names for a finished program."""

from __future__ import annotations

from sdfgad.ir.names import Names
from sdfgad.ir.program import Compute, Loop, Program, walk


def names_of(program: Program) -> Names:
    """A maker of names that the program does not use."""
    taken = {*program.buffers, *program.integers}
    taken |= {s.var for s in walk(program.body) if isinstance(s, Loop)}
    taken |= {name for s in walk(program.body) if isinstance(s, Compute) for name, _ in s.params}
    return Names(taken)
