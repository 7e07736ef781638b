"""Value specialisation: an integer that data decides, ``n = int(np.ceil(x4))``, as a constant of the program.

The statements so far compute it for the call at hand. The program that is made with it is valid for calls of which it
is the same, which their own runs of these statements tell: a guard, as in tracing compilers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdfgad.errors import DecidedByRounding, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, reads
from sdfgad.ir.program import MESSAGES, Access, Buffer, Compute, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.emitter import Emitter

VARIES = "a length or other integer here is computed from the values of arrays or floats that a loop changes"
BY_ROUNDING = "rounding decides a length, or another integer that must be known before the run"
WITH_TOLERANCE = "Compare with a tolerance: int(x + 1e-9), or x > limit + 1e-9."
# Each one takes a compiled program of its own.
MOST_VALUES = 64
TOO_MANY = f"more than {MOST_VALUES} lengths or other integers are computed from the values of arrays or floats"
FEWER = (
    "Each of them is a constant of the compiled program: make fewer trips of an unrolled loop, keep arrays whole and "
    "select by np.where(mask, x, 0.0), or pass the integers as arguments."
)


class TooManyValues(UnsupportedProgram):
    """More integers that data decides than a program may have as constants: other assumptions do not help."""


@dataclass
class Values:
    """The integers that are constants of one attempt to parse a program though data decides them.

    Attributes:
        measure: computes what is in some buffers, each of one integer.
        guard: what it has computed last, which is all of them.
        inside: what they are computed of -> the loops inside of which they have been used.
    """

    measure: Callable[[tuple[str, ...]], Any]
    guard: Any = None
    inside: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def snapshot(self) -> tuple[Any, ...]:
        return self.guard, self.inside

    def restore(self, state: tuple[Any, ...]) -> None:
        self.guard, self.inside = state

    @property
    def found(self) -> Mapping[str, int]:
        return {} if self.guard is None else self.guard.values

    def integer(self, b: Emitter, form: Lin, carried: frozenset[str], name: str) -> int | None:
        """The value of a form; None if it is not known before the loops and branches around.

        Args:
            carried: the buffers in which the loops around hand on values.
            name: that of a new buffer.

        Raises:
            DecidedByRounding: an integer before this one has come out otherwise this time.
            TooManyValues: there are as many such integers as there may be.
        """
        loops, read = frozenset(var for _, var, _ in b.loops), {one.buffer for one in reads(Int(form))}
        changed = carried.union(*(written(tuple(block)) for block in b.blocks[1:]))
        is_known = form.symbols.isdisjoint(loops) and read.isdisjoint(changed)
        if not is_known or MESSAGES in b.buffers:
            return None
        if len(self.found) == MOST_VALUES:
            raise TooManyValues(TOO_MANY, b.where, FEWER)
        b.buffers[name] = Buffer(name, (), INT, where=b.where)
        b.blocks[0].append(Compute((), Access(name), Int(form), where=b.where))
        before, self.guard = self.found, self.measure((*self.found, name))
        if any(self.found[one] != value for one, value in before.items()):
            raise DecidedByRounding(BY_ROUNDING, b.where, WITH_TOLERANCE)
        self.inside = {**self.inside, **{one: self.inside.get(one, frozenset()) | loops for one in read}}
        same = Op("equal", (Int(form), Const(self.found[name], INT)), BOOL)
        b.check(same, (), BY_ROUNDING, DecidedByRounding, WITH_TOLERANCE)
        return self.found[name]

    def require_same(self, b: Emitter, buffer: str) -> None:
        """Refuse a change, inside of a loop, of what an integer is computed of that the loop has used.

        Raises:
            NeedsConstant: it is one.
        """
        if within := self.inside.get(buffer, frozenset()).intersection(var for _, var, _ in b.loops):
            raise NeedsConstant({*within}, b.where, VARIES)
