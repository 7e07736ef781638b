"""Merges equal values: ``a = f(x); b = f(x)`` becomes ``a = f(x)``, with ``a`` in place of ``b``.

Calls of the same function with the same arguments, such as the two histograms of a weighted mean, compute much twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Lin, Rewriter
from sdfgad.ir.program import Access, Buffer, Call, Compute, Program, Statement, reads_of, walk, written
from sdfgad.ir.rename import renamed


def merge_equal(program: Program) -> Program:
    """The program in which what equal statements of its body make of equal, final values is made once."""
    names = _equals(program)
    if not names:
        return program
    body = renamed(tuple(s for s in program.body if not written((s,)) & set(names)), names)
    kept = {name: buffer for name, buffer in program.buffers.items() if name not in names}
    return replace(program, body=body, buffers=kept)


def _equals(program: Program) -> dict[str, str]:
    """Buffers, and the earlier ones that hold the same."""
    places, outputs = _places(program), {*program.outputs.values()}
    known: dict[Hashable, str] = {}
    names: dict[str, str] = {}
    for position, statement in enumerate(program.body):
        for name in written((statement,)) - {*program.inputs}:
            place = places[name]
            if place.last_write != position or not place.is_final(places):
                continue
            made = renamed(tuple(program.body[k] for k in place.writes), names)
            equal = known.setdefault(_key(made, program.buffers[name]), name)
            if equal != name and name not in outputs and place.first_read > position:
                names[name] = equal
    return names


@dataclass
class _Place:
    """Where in the body a buffer is used.

    Attributes:
        writes, reads: the positions of the statements that do so, or have a statement in them that does.
        sources: what is read by the statements that write.
        is_plain: whether these are statements of the body itself.
    """

    writes: list[int]
    reads: list[int]
    sources: list[tuple[int, str]]
    is_plain: bool = True

    @property
    def last_write(self) -> int:
        return self.writes[-1] if self.writes else -1

    @property
    def first_read(self) -> int:
        return self.reads[0] if self.reads else self.last_write + 1

    def is_final(self, places: Mapping[str, _Place]) -> bool:
        """Whether it is made of values that no longer change."""
        return self.is_plain and all(places[name].last_write < position for position, name in self.sources)


def _places(program: Program) -> dict[str, _Place]:
    found: dict[str, _Place] = defaultdict(lambda: _Place([], [], []))
    for position, statement in enumerate(program.body):
        nested = list(walk((statement,)))
        read = {node.buffer for s in nested for node in reads_of(s)}
        read |= {whole.buffer for s in nested if isinstance(s, Call) for whole in s.inputs}
        for name in sorted(read):
            found[name].reads.append(position)
        for name in written((statement,)):
            place = found[name]
            place.writes.append(position)
            place.sources += [(position, source) for source in read]
            place.is_plain &= isinstance(statement, Compute)
    return found


def _key(made: tuple[Statement, ...], buffer: Buffer) -> Hashable:
    """The statements that make a buffer, whatever they call it and their parameters."""
    return (buffer.shape, buffer.dtype, *(_anonymous(statement) for statement in made))


def _anonymous(statement: Statement) -> Statement:
    assert isinstance(statement, Compute)
    names = {name: f"{k}" for k, (name, _) in enumerate(statement.params)}
    params = tuple((names[name], extent) for name, extent in statement.params)
    rewriter = Rewriter({old: Lin.symbol(new) for old, new in names.items()})
    target = Access("", rewriter.index(statement.target.index))
    return replace(statement, params=params, target=target, value=rewriter(statement.value), where=None)
