"""Fresh names and renaming in a finished program: of parameters and buffers."""

from __future__ import annotations

from collections.abc import Sequence

from sdfgad.ir.expr import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Compute, Loop, Program, reindexed, walk


def names_of(program: Program) -> Names:
    """A generator of names that the program does not use."""
    taken = {*program.buffers, *program.integers}
    taken |= {s.var for s in walk(program.body) if isinstance(s, Loop)}
    taken |= {name for s in walk(program.body) if isinstance(s, Compute) for name, _ in s.params}
    return Names(taken)


def renamed(statement: Compute, names: Sequence[str]) -> Compute:
    """A statement with these names for its parameters, in their order."""
    symbols = {old: Lin.symbol(new) for (old, _), new in zip(statement.params, names, strict=True)}
    params = tuple((new, extent) for (_, extent), new in zip(statement.params, names, strict=True))
    return reindexed(statement, params, symbols)
