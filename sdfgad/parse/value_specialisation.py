"""Value specialisation: an integer that data decides, ``n = int(np.ceil(x4))``, as a constant of the program.

The statements so far compute it for the call at hand. The program that is made with it is valid for calls of which it
is the same, which their own runs of these statements tell: a guard, as in tracing compilers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sdfgad.errors import DecidedByRounding, Location, SdfgadError, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import MESSAGES, Access, Block, Branch, Buffer, Compute, Loop, Statement, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.emitter import Emitter
from sdfgad.parse.values import cast

VARIES = "a length or other integer here is computed from the values of arrays or floats that a loop changes"
BY_ROUNDING = "rounding decides a length, or another integer that must be known before the run"
WITH_TOLERANCE = "Compare with a tolerance: int(x + 1e-9), or x > limit + 1e-9."
# Each one is an output of the guard, and a check.
MOST_VALUES = 256
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
    last = next((k for k, one in reversed([*enumerate(body)]) if _has_open_loop(one)), 0)
    found = [one.target.buffer if isinstance(one, Compute) else "" for one in body[:last]]
    cuts = [0, *(k + 1 for k, name in enumerate(found) if name in values)]
    left = body[cuts[-1] :]
    for start, end in reversed([*pairwise(cuts)]):
        goes_on = _is(Access(found[end - 1]).read(INT), values[found[end - 1]])
        left = (*body[start:end], Branch(goes_on, left, ()))
    return left


def _compute(b: Emitter, name: str, form: Lin) -> None:
    """Emit an integer into a new buffer, before the loops and branches around."""
    b.buffers[name] = Buffer(name, (), INT, where=b.where)
    b.blocks[0].append(Compute((), Access(name), Int(form), where=b.where))


def _read(form: Lin) -> set[str]:
    return {one.buffer for one in reads(Int(form))}


def _is_known(b: Emitter, form: Lin, carried: frozenset[str]) -> bool:
    """Whether an integer is known before the loops and branches around."""
    loops, read = frozenset(var for _, var, _ in b.loops), _read(form)
    changed = carried.union(*(written(tuple(block)) for block in b.blocks[1:]))
    is_before = form.symbols.isdisjoint(loops) and read.isdisjoint(changed) and _may_be_before(b, form)
    return is_before and MESSAGES not in b.buffers


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


class Mispredicted(Exception):
    """An integer that has been predicted is another one in compiled code, which rounds otherwise."""


class TooManyBranches(TooManyValues):
    """More branches that a call decides than a program may have; what they have been decided for is refused."""


# Where the program asks for an integer, and how many it has asked for there before.
Place = tuple[Location | None, int]


@dataclass(frozen=True)
class _Measured:
    """An integer that is a constant: its value, the number of statements before, its buffer."""

    value: int
    position: int
    name: str

    def is_current(self, b: Emitter, read: set[str]) -> bool:
        """Whether nothing has been written since to what it is computed of."""
        since = (b.blocks[0][self.position :], *b.blocks[1:])
        return all(read.isdisjoint(written(tuple(block))) for block in since)


@dataclass
class Values:
    """The integers that are constants of one attempt to parse a program though data decides them.

    Value prediction: an attempt takes what interpretation computes, or else what the attempt before had, without a
    compiled run, which `are_as_predicted` makes up for.

    Attributes:
        program: the statements so far, which leave integers in some buffers.
        run: what these are in the call at hand, by compiled code.
        predict: the same by interpretation, None where it takes too long; None once that has been so.
        predicted: the integers of an attempt before.
        part: the part of the program that computes all of them so far.
        found: what they are, by the names of their buffers.
        places: where they are asked for, by the names of their buffers.
        inside: what they are computed of -> the loops inside of which they have been used.
        sides: those that decide branches.
        measured: the same, by what is computed.
        is_predicted: whether any was taken from an attempt before.
        is_interpreted: whether any was computed by interpretation.
    """

    program: Callable[[tuple[str, ...]], Any]
    run: Callable[[Any], Mapping[str, int]]
    predict: Callable[[Any], Mapping[str, int] | None] | None
    predicted: Mapping[Place, int] = field(default_factory=dict)
    part: Any = None
    found: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    inside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sides: frozenset[str] = frozenset()
    measured: Mapping[Lin, _Measured] = field(default_factory=dict)
    is_predicted: bool = False
    is_interpreted: bool = False

    def snapshot(self) -> tuple[Any, ...]:
        return self.part, self.found, self.places, self.inside, self.sides, self.measured

    def restore(self, state: tuple[Any, ...]) -> None:
        self.part, self.found, self.places, self.inside, self.sides, self.measured = state

    @property
    def by_place(self) -> Mapping[Place, int]:
        """What another attempt may predict."""
        return {place: self.found[name] for name, place in self.places.items()}

    def are_as_predicted(self, is_last: bool) -> bool:
        """Whether integers that were taken from an attempt before are those of the call at hand.

        Args:
            is_last: whether also those are looked at that interpretation has computed, which only rounding changes.
        """
        if self.part is None or not (self.is_predicted or (is_last and self.is_interpreted)):
            return True
        try:
            return self.run(self.part) == self.found
        except SdfgadError:
            return False

    def integer(self, b: Emitter, form: Lin, carried: frozenset[str], name: str) -> int | None:
        """The value of a form; None if it is not known before the loops and branches around.

        Args:
            carried: the buffers in which the loops around hand on values.
            name: that of a new buffer.

        Raises:
            DecidedByRounding: an integer before this one has come out otherwise this time.
            Mispredicted: the same of one that was predicted.
            TooManyValues: there are as many such integers as there may be.
        """
        if not _is_known(b, form, carried):
            return None
        loops, read = frozenset(var for _, var, _ in b.loops), _read(form)
        self.inside = {**self.inside, **{one: self.inside.get(one, frozenset()) | loops for one in read}}
        known = self._current(b, form)
        return self._new(b, form, name).value if known is None else known.value

    def _current(self, b: Emitter, form: Lin) -> _Measured | None:
        known = self.measured.get(form)
        return known if known is not None and known.is_current(b, _read(form)) else None

    def _place(self, b: Emitter) -> Place:
        """That of the next integer."""
        return b.where, sum(where == b.where for where, _ in self.places.values())

    def _new(self, b: Emitter, form: Lin, name: str) -> _Measured:
        """Make an integer a constant, and have the program check that it is the same in a run."""
        if len(self.found) == MOST_VALUES:
            raise TooManyValues(TOO_MANY, b.where, FEWER)
        _compute(b, name, form)
        part, place = self.program((*self.found, name)), self._place(b)
        value = self._interpreted(part, name)
        if value is None and place in self.predicted:
            value, self.is_predicted = self.predicted[place], True
        if value is None:
            value = self._run(b, part)[name]
        made = _Measured(value, len(b.blocks[0]), name)
        self.part, self.found, self.places = part, {**self.found, name: value}, {**self.places, name: place}
        self.measured = {**self.measured, form: made}
        b.check(_is(Int(form), value), (), BY_ROUNDING, DecidedByRounding, WITH_TOLERANCE)
        return made

    def _interpreted(self, part: Any, name: str) -> int | None:
        found = None if self.predict is None else self.predict(part)
        if found is None or any(found[one] != value for one, value in self.found.items()):
            self.predict = None
            return None
        self.is_interpreted = True
        return found[name]

    def _run(self, b: Emitter, part: Any) -> Mapping[str, int]:
        try:
            run = self.run(part)
            if any(run[one] != value for one, value in self.found.items()):
                raise DecidedByRounding(BY_ROUNDING, b.where, WITH_TOLERANCE)
        except DecidedByRounding as error:
            if self.is_interpreted or self.is_predicted:
                raise Mispredicted from error
            raise
        return run

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
