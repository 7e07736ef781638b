"""Distributive law on sums: a number by which a sum is multiplied wherever it is used moves into the sum's terms.

``t[j] = 0; for p: t[j] += a[p] * b[p, j]; y[j] += alpha * (x[j] + t[j])`` is ``t[j] = 0; for p: t[j] += alpha * (a[p] *
b[p, j]); y[j] += alpha * x[j] + t[j]``. That takes more multiplications, unless one of the factors can be multiplied by
the number before the loop (`scale_once`). But then the derivative with respect to the number does not need the values
of the sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Expr, Op, Read, reads
from sdfgad.ir.program import Block, Compute, Program, Statement, buffers_of, computes, transform, written
from sdfgad.optimise.accumulation.first_assign import is_clear
from sdfgad.optimise.sums.terms import as_sum


@dataclass(frozen=True)
class Candidate:
    """The program with a number moved into the sums that a temporary holds."""

    program: Program
    number: str
    temporary: str

    def sums_of(self, program: Program) -> Iterator[Compute]:
        """The statements that write the temporary."""
        return (s for s in computes(program.body) if s.target.buffer == self.temporary)


def with_numbers_in_sums(program: Program) -> Iterator[Candidate]:
    """All ways to move one number into one temporary that is written by nothing but sums."""
    changing = written(program.body)
    outside = program.interface
    makers, users = _makers_and_users(program)
    for name in sorted(changing - outside):
        sums = makers.get(name, [])
        if not all(is_clear(s, 0) or as_sum(s) is not None for s in sums) or all(is_clear(s, 0) for s in sums):
            continue
        for number in dict.fromkeys(_numbers(users.get(name, ()), name)):
            if number.buffer not in changing:
                moving = _Moving(name, number)
                body = transform(program.body, moving.statement)
                if moving.is_possible:
                    yield Candidate(program.with_body(body), number.buffer, name)


def _makers_and_users(program: Program) -> tuple[dict[str, list[Compute]], dict[str, list[Compute]]]:
    """For each buffer, the statements that write it, and those that read it in their values."""
    makers: dict[str, list[Compute]] = {}
    users: dict[str, list[Compute]] = {}
    for statement in computes(program.body):
        makers.setdefault(statement.target.buffer, []).append(statement)
        for name in dict.fromkeys(read.buffer for read in reads(statement.value)):
            users.setdefault(name, []).append(statement)
    return makers, users


def _numbers(users: Iterable[Compute], name: str) -> Iterator[Read]:
    """The scalars that occur in statements which read a buffer and write another one."""
    for statement in users:
        if statement.target.buffer != name:
            found = reads(statement.value)
            yield from (read for read in found if not read.index and read.dtype == statement.value.dtype)


class _Moving:
    """Moves a number from the uses of a temporary to the statements that write it."""

    def __init__(self, name: str, number: Read) -> None:
        self.name, self.number = name, number
        self.is_possible = True

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute):
            self.is_possible &= self.name not in buffers_of(statement)
            return (statement,)
        if statement.target.buffer == self.name:
            return (self.sum(statement),)
        value = self.used(statement.value)
        self.is_possible &= value is not None
        return (statement,) if value is None else (replace(statement, value=value),)

    def sum(self, statement: Compute) -> Compute:
        """A statement that adds to the temporary, multiplied by the number; a clear as it is."""
        summed = as_sum(statement)
        if summed is None:
            return statement
        return replace(summed, value=Op("multiply", (self.number, summed.value), summed.value.dtype))

    def used(self, value: Expr) -> Expr | None:
        """An expression without the number where it multiplies the temporary; None if it is used otherwise."""
        if not self.is_in(value):
            return value
        if not isinstance(value, Op):
            return None
        if value.name == "multiply" and self.number in value.args:
            return self.product(value.args[value.args[0] is self.number])
        return _with(value, [self.used(arg) for arg in value.args])

    def product(self, value: Expr) -> Expr | None:
        """The number times an expression, in which the temporary contains that factor already."""
        if not self.is_in(value):
            return Op("multiply", (self.number, value), value.dtype)
        if isinstance(value, Read):
            return value
        if isinstance(value, Op) and value.name in ("add", "subtract", "negative"):
            return _with(value, [self.product(arg) for arg in value.args])
        return None

    def is_in(self, value: Expr) -> bool:
        return any(read.buffer == self.name for read in reads(value))


def _with(value: Op, args: list[Expr | None]) -> Expr | None:
    known = tuple(arg for arg in args if arg is not None)
    return Op(value.name, known, value.dtype) if len(known) == len(args) else None
