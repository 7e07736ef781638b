"""Trip counting: a program that counts the trips of loops whose number of trips is data, before the gradient runs.

A count has a name: ``k`` is the number of all trips of the loop with counter ``k``, and ``k in t`` the largest number
of them in one trip of the loop ``t`` around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sdfgad.ir.expr import INT, Const, Expr, Op, reads
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, Program, Statement, transform
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Residual

# What the names of outputs that are counts begin with.
TRIPS = "trips of "


def is_counted(loop: Loop) -> bool:
    """Whether a loop's number of trips is data."""
    return any(isinstance(atom, Expr) and reads(atom) for atom, _ in loop.trips.terms)


def count_within(inner: Loop, outer: Loop) -> str:
    """The name of the largest number of trips of a loop in one trip of another one around it."""
    return f"{inner.var} in {outer.var}"


def step(counter: Buffer, by: int) -> Compute:
    return Compute((), Access(counter.name), Const(by, INT), "add")


def cleared(scalar: Buffer) -> Compute:
    return Compute((), Access(scalar.name), Const(0, INT))


def counts_in(outputs: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, int]:
    """The counts, by name, in the values of a program's outputs, by buffer."""
    return {name: int(values[buffer]) for name, buffer in counted_in(outputs).items()}


def counted_in(outputs: Mapping[str, str]) -> dict[str, str]:
    """The buffers of a program's outputs that are counts, by name."""
    return {name.removeprefix(TRIPS): buffer for name, buffer in outputs.items() if name.startswith(TRIPS)}


def counting_program(adjoint: Adjoint, loops: Iterable[Loop]) -> Program | None:
    """The forward program with counts as its outputs: those of `loops`, and what tapes may depend on; None if none."""
    names = adjoint.fresh_names()
    tallies = _Tallies(names)
    for loop in loops:
        tallies.add(loop, None)
    for _, residual in sorted(adjoint.residuals.items()):
        for inner, outer in _counts_for(residual):
            tallies.add(inner, outer)
    if not tallies.counters:
        return None
    primal = adjoint.primal
    return replace(
        primal,
        name=names.fresh(f"{primal.name}_trips"),
        buffers={**primal.buffers, **{buffer.name: buffer for buffer in tallies.buffers}},
        outputs={f"{TRIPS}{name}": buffer.name for name, buffer in tallies.results.items()},
        body=(*map(cleared, tallies.results.values()), *transform(primal.body, tallies.counting)),
    )


def _counts_for(residual: Residual) -> Iterator[tuple[Loop, Loop | None]]:
    """What a residual's tape may depend on: a loop, and the one in a trip of which it is counted (None: in all)."""
    loops = [loop for _, loop in residual.loops]
    counted = [position for position, loop in enumerate(loops) if is_counted(loop)]
    if not counted:
        return
    yield loops[-1], None
    if counted[0] == 0:
        yield loops[0], None
    for outer in loops[:-1]:
        yield loops[-1], outer


@dataclass(frozen=True)
class _Most:
    """The largest number of trips of an inner loop in one trip of an outer one."""

    counter: Buffer
    start: Buffer
    most: Buffer

    @property
    def before(self) -> Compute:
        return Compute((), Access(self.start.name), self._read(self.counter))

    @property
    def after(self) -> Compute:
        made = Op("subtract", (self._read(self.counter), self._read(self.start)), INT)
        return Compute((), Access(self.most.name), made, "maximum")

    @staticmethod
    def _read(scalar: Buffer) -> Expr:
        return Access(scalar.name).read(INT)


class _Tallies:
    """The counts of a program by name, and the statements that keep them."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.counters: dict[str, Buffer] = {}
        self.within: dict[str, dict[str, _Most]] = {}

    def add(self, inner: Loop, outer: Loop | None) -> None:
        if inner.var not in self.counters:
            self.counters[inner.var] = self._scalar(f"{inner.var}_count")
        found = self.within.setdefault(outer.var, {}) if outer is not None else {}
        if outer is not None and count_within(inner, outer) not in found:
            start, most = (self._scalar(f"{inner.var}_{what}") for what in ("start", "most"))
            found[count_within(inner, outer)] = _Most(self.counters[inner.var], start, most)

    def _scalar(self, name: str) -> Buffer:
        return Buffer(self.names.fresh(name), (), INT)

    @property
    def results(self) -> dict[str, Buffer]:
        """The scalars that hold the counts."""
        return self.counters | {name: one.most for found in self.within.values() for name, one in found.items()}

    @property
    def buffers(self) -> list[Buffer]:
        return [*self.results.values(), *(one.start for found in self.within.values() for one in found.values())]

    def counting(self, statement: Statement) -> Block:
        """A statement that counts its trips."""
        if not isinstance(statement, Loop):
            return (statement,)
        mosts = self.within.get(statement.var, {}).values()
        steps = [step(self.counters[statement.var], 1)] if statement.var in self.counters else []
        body = (*(one.before for one in mosts), *statement.body, *(one.after for one in mosts), *steps)
        return (replace(statement, body=body),)
