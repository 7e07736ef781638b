"""Fresh names and renaming in a finished program: of parameters and buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Read, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Compute, Loop, Program, rewrite_statement, walk


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
    target = Access(statement.target.buffer, tuple(lin.substitute(symbols) for lin in statement.target.index))
    return replace(statement, params=params, target=target, value=rewrite(statement.value, symbols))


def with_buffers(statement: Compute, names: Mapping[str, str]) -> Compute:
    """A statement that reads and writes buffers of these new names instead."""

    def named(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer not in names:
            return None
        return Read(names[node.buffer], node.index, node.dtype)

    changed = rewrite_statement(statement, replace_node=named)
    assert isinstance(changed, Compute)
    target = replace(changed.target, buffer=names.get(changed.target.buffer, changed.target.buffer))
    return replace(changed, target=target)
