"""Program slicing: how often a ``while`` runs whose test reads known numbers alone, as ``while t < 1.0: ...; t += dt``.

The slice of the loop, which is the test and the statements that compute what it reads, is run while parsing. The
loop then has a known number of trips, in which time is data as anything else.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sdfgad.parse.frame import Frame
from sdfgad.parse.induction_variables import NotCounted
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import assigned_names

MOST_TRIPS, LARGE = 10**5, 10**15
# What a slice may consist of; the functions are those of Python.
OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS = frozenset({"abs", "float", "int", "max", "min", "round"})
Numbers = dict[str, Any]
# The value of an expression, by those of names.
Computed = Callable[[Numbers], Any]


@dataclass(frozen=True)
class Trips:
    """How often a loop runs.

    Attributes:
        values: the numbers that the names of its slice have at its end.
        read: those of names that it only reads.
    """

    count: int
    values: dict[str, int | float]
    read: dict[str, int | float]

    def require_same(self, frame: Frame) -> None:
        """Require that the loop, which has been parsed, has left what its slice reads as it was.

        Raises:
            NotCounted: it has not.
        """
        for name, value in self.read.items():
            now = _value(frame, name)
            if type(now) is not type(value) or now != value:
                raise NotCounted


class _NotPlain(Exception):
    """Raised for a slice that consists of other things."""


@dataclass(frozen=True)
class _Slice:
    """A loop's test, and the assignments that compute what it reads.

    Attributes:
        assigned: the names that they assign, and `read`: all others.
    """

    test: Computed
    assignments: tuple[tuple[str, Computed], ...]
    assigned: frozenset[str]
    read: frozenset[str]


@lru_cache(maxsize=1 << 10)
def _run(found: _Slice, start: frozenset[tuple[str, int | float, type]]) -> tuple[int, Numbers] | None:
    """The trips of a slice that begins with some numbers, and those that it ends with; None if it may not end."""
    names: Numbers = {name: value for name, value, _ in start}
    for count in range(MOST_TRIPS + 1):
        if not found.test(names):
            return count, names
        for name, value in found.assignments:
            names[name] = value(names)
        # Python's integers may grow without end.
        if any(abs(names[name]) > LARGE for name in found.assigned):
            return None
    return None


def known_trips(frame: Frame, node: ast.While) -> Trips | None:
    """Those of a loop that is about to be parsed; None where its test is not known, or may never fail."""
    found = None if stops(node) or node.orelse else _slice_of(node)
    if found is None or any(frame.cells_of(name) is not None for name in found.assigned | found.read):
        return None
    functions = {name for name in FUNCTIONS & found.read if _value(frame, name) is getattr(builtins, name)}
    read = {name: _value(frame, name) for name in found.read - functions}
    names = {name: frame.env[name] for name in found.assigned if name in frame.env} | read
    if not all(type(value) in (int, float) for value in names.values()):
        return None
    try:
        ended = _run(found, frozenset((name, value, type(value)) for name, value in names.items()))
    except (KeyError, ArithmeticError, TypeError, ValueError):
        return None
    return None if ended is None else Trips(ended[0], {name: ended[1][name] for name in found.assigned}, read)


def _value(frame: Frame, name: str) -> Any:
    return frame.eval(ast.copy_location(ast.Name(name, ast.Load()), frame.source.node))


@lru_cache(maxsize=1 << 10)
def _slice_of(node: ast.While) -> _Slice | None:
    """None where what the test reads is computed otherwise than by plain assignments of numbers."""
    wanted, statements = set(_names([node.test])), list[ast.stmt]()
    while True:
        statements = [one for one in node.body if not wanted.isdisjoint(assigned_names(one))]
        more = wanted.union(_names(statements))
        if more == wanted:
            break
        wanted = more
    try:
        assignments = tuple(map(_assignment, statements))
        assigned = frozenset(name for name, _ in assignments)
        if assigned.isdisjoint(_names([node.test])):
            return None
        return _Slice(_computed(node.test), assignments, assigned, frozenset(wanted) - assigned)
    except _NotPlain:
        return None


def _names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    return (one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))


def _assignment(node: ast.stmt) -> tuple[str, Computed]:
    match node:
        case ast.Assign([ast.Name(name)], value):
            return name, _computed(value)
        case ast.AugAssign(ast.Name(name), operation, value):
            return name, _computed(ast.BinOp(ast.Name(name, ast.Load()), operation, value))
    raise _NotPlain


def _computed(node: ast.expr) -> Computed:
    """An expression of numbers, names and operators, and of calls of a few functions of numbers."""
    match node:
        case ast.Name(name):
            return lambda names: names[name]
        case ast.Constant(value) if type(value) in (int, float, bool):
            return lambda names: value
        case ast.BinOp(left, kind, right) if type(kind) in OPERATORS:
            return _applied(OPERATORS[type(kind)], left, right)
        case ast.UnaryOp(kind, operand) if type(kind) in OPERATORS:
            return _applied(OPERATORS[type(kind)], operand)
        case ast.Compare(left, [kind], [right]) if type(kind) in OPERATORS:
            return _applied(OPERATORS[type(kind)], left, right)
        case ast.BoolOp(kind, values):
            return _first(isinstance(kind, ast.Or), [_computed(value) for value in values])
        case ast.IfExp(test, then, orelse):
            holds, one, other = _computed(test), _computed(then), _computed(orelse)
            return lambda names: one(names) if holds(names) else other(names)
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
            return _applied(getattr(builtins, name), *arguments)
    raise _NotPlain


def _first(ends: bool, parts: Sequence[Computed]) -> Computed:
    """``and`` and ``or``: the first value whose truth ends it, or the last one."""

    def value(names: Numbers) -> Any:
        found = None
        for part in parts:
            found = part(names)
            if bool(found) is ends:
                break
        return found

    return value


def _applied(function: Callable[..., Any], *operands: ast.expr) -> Computed:
    parts = [_computed(one) for one in operands]
    if len(parts) == 2:
        left, right = parts
        return lambda names: function(left(names), right(names))
    return lambda names: function(*(part(names) for part in parts))
