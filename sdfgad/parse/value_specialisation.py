"""Value specialisation: an integer that data decides, ``n = int(np.ceil(x4))``, as a constant of the program.

The statements so far compute it for the call at hand. The program that is made with it is valid for calls of which it
is the same, which their own runs of these statements tell: a guard, as in tracing compilers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdfgad.errors import DecidedByRounding, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import MESSAGES, Access, Block, Branch, Buffer, Compute, Loop, Statement, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.emitter import Emitter
from sdfgad.parse.values import cast

VARIES = "a length or other integer here is computed from the values of arrays or floats that a loop changes"
BY_ROUNDING = "rounding decides a length, or another integer that must be known before the run"
WITH_TOLERANCE = "Compare with a tolerance: int(x + 1e-9), or x > limit + 1e-9."
# Each one takes a compiled program of its own.
MOST_VALUES = 64
# The same of branches, which are as many as trips where a loop is written out.
MOST_SIDES = 16
TOO_MANY = f"more than {MOST_VALUES} lengths or other integers are computed from the values of arrays or floats"
FEWER = (
    "Each of them is a constant of the compiled program: make fewer trips of an unrolled loop, keep arrays whole and "
    "select by np.where(mask, x, 0.0), or pass the integers as arguments."
)


def leaving(body: Block, values: Mapping[str, int]) -> Block:
    """Statements that compute integers, which end where one is another: loops behind it might not end.

    Args:
        values: what the integers must be, by the names of their buffers.
    """
    for k, one in enumerate(body):
        name = one.target.buffer if isinstance(one, Compute) else ""
        if name in values and any(map(_has_open_loop, body[k + 1 :])):
            goes_on = _is(Access(name).read(INT), values[name])
            return (*body[: k + 1], Branch(goes_on, leaving(body[k + 1 :], values), ()))
    return body


def _may_be_before(b: Emitter, form: Lin) -> bool:
    """Whether a form may be computed before the loops and branches around: only there may its indices be in range."""
    return len(b.blocks) == 1 or all(index.is_const for one in reads(Int(form)) for index in one.index)


def _is(value: Expr, known: int) -> Expr:
    return Op("equal", (value, Const(known, INT)), BOOL)


def _has_open_loop(statement: Statement) -> bool:
    """Whether data decides how many trips a loop has."""
    if isinstance(statement, Loop):
        return not statement.trips.is_affine or statement.is_open or any(map(_has_open_loop, statement.body))
    return isinstance(statement, Branch) and any(map(_has_open_loop, (*statement.then, *statement.orelse)))


class TooManyValues(UnsupportedProgram):
    """More integers that data decides than a program may have as constants: other assumptions do not help."""


class TooManyBranches(TooManyValues):
    """More branches that a call decides than a program may have; what they have been decided for is refused."""


@dataclass(frozen=True)
class _Measured:
    """An integer that has been measured: the name of its buffer, and the number of statements before."""

    name: str
    position: int

    def is_current(self, b: Emitter, read: set[str]) -> bool:
        """Whether nothing has been written since to what it is computed of."""
        since = (b.blocks[0][self.position :], *b.blocks[1:])
        return all(read.isdisjoint(written(tuple(block))) for block in since)


@dataclass
class Values:
    """The integers that are constants of one attempt to parse a program though data decides them.

    Attributes:
        measure: computes what is in some buffers, each of one integer.
        guard: what it has computed last, which is all of them.
        inside: what they are computed of -> the loops inside of which they have been used.
        sides: those that decide branches.
        measured: those that have been measured, by what is computed.
    """

    measure: Callable[[tuple[str, ...]], Any]
    guard: Any = None
    inside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sides: frozenset[str] = frozenset()
    measured: Mapping[Lin, _Measured] = field(default_factory=dict)

    def snapshot(self) -> tuple[Any, ...]:
        return self.guard, self.inside, self.sides, self.measured

    def restore(self, state: tuple[Any, ...]) -> None:
        self.guard, self.inside, self.sides, self.measured = state

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
        is_known = form.symbols.isdisjoint(loops) and read.isdisjoint(changed) and _may_be_before(b, form)
        if not is_known or MESSAGES in b.buffers:
            return None
        self.inside = {**self.inside, **{one: self.inside.get(one, frozenset()) | loops for one in read}}
        again = self.measured.get(form)
        if again is None or not again.is_current(b, read):
            again = self._new(b, form, name)
        return self.found[again.name]

    def _new(self, b: Emitter, form: Lin, name: str) -> _Measured:
        """Measure an integer for the call at hand, and have the program check that it is the same in a run."""
        if len(self.found) == MOST_VALUES:
            raise TooManyValues(TOO_MANY, b.where, FEWER)
        b.buffers[name] = Buffer(name, (), INT, where=b.where)
        b.blocks[0].append(Compute((), Access(name), Int(form), where=b.where))
        made = _Measured(name, len(b.blocks[0]))
        before, self.guard = self.found, self.measure((*self.found, name))
        if any(self.found[one] != value for one, value in before.items()):
            raise DecidedByRounding(BY_ROUNDING, b.where, WITH_TOLERANCE)
        self.measured = {**self.measured, form: made}
        b.check(_is(Int(form), self.found[name]), (), BY_ROUNDING, DecidedByRounding, WITH_TOLERANCE)
        return made

    def truth(self, b: Emitter, condition: Expr, carried: frozenset[str], name: str) -> bool | None:
        """Whether a condition holds; as `integer`.

        Raises:
            TooManyBranches: as many conditions as may be constants are some already.
        """
        form = as_linear(cast(condition, INT))
        if form not in self.measured and len(self.sides) == MOST_SIDES:
            raise TooManyBranches(TOO_MANY, b.where, FEWER)
        found = self.integer(b, form, carried, name)
        if found is None:
            return None
        self.sides |= {self.measured[form].name}
        return bool(found)

    def require_same(self, b: Emitter, buffer: str) -> None:
        """Refuse a change, inside of a loop, of what an integer is computed of that the loop has used.

        Raises:
            NeedsConstant: it is one.
        """
        if within := self.inside.get(buffer, frozenset()).intersection(var for _, var, _ in b.loops):
            raise NeedsConstant({*within}, b.where, VARIES)
