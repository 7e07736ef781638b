"""Program slicing: how often a ``while`` runs whose test reads known numbers alone, as ``while t < 1.0: ...; t += dt``.

The slice of the loop, which is the test and the statements that compute what it reads, is run by Python itself. The
loop then has a known number of trips, in which time is data as anything else.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from sdfgad.parse.frame import Frame
from sdfgad.parse.induction_variables import NotCounted
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import assigned_names

MOST_TRIPS, LARGE = 10**6, 10**15
# What a slice may consist of; the functions are those of Python.
EXPRESSIONS = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.Call,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
    ast.expr_context,
)
FUNCTIONS = frozenset({"abs", "float", "int", "max", "min", "round"})


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


@dataclass(frozen=True)
class _Slice:
    """A loop as Python code that counts its trips; `assigned` are the names that it assigns, and `read` all others."""

    code: CodeType
    assigned: frozenset[str]
    read: frozenset[str]


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
        exec(found.code, {}, names)
    except (NameError, ArithmeticError, ValueError):
        return None
    count = names.pop(COUNT)
    return Trips(count, {name: names[name] for name in found.assigned}, read) if count <= MOST_TRIPS else None


def _value(frame: Frame, name: str) -> Any:
    return frame.eval(ast.copy_location(ast.Name(name, ast.Load()), frame.source.node))


COUNT = "__sdfgad_trips"


@lru_cache(maxsize=1 << 10)
def _slice_of(node: ast.While) -> _Slice | None:
    """None where what the test reads is computed otherwise than by plain assignments of numbers."""
    wanted, statements = set(_names([node.test])), list[ast.stmt]()
    if not _is_plain(node.test):
        return None
    while True:
        statements = [one for one in node.body if not wanted.isdisjoint(assigned_names(one))]
        if not all(map(_is_plain_assignment, statements)):
            return None
        more = wanted.union(_names(statements))
        if more == wanted:
            break
        wanted = more
    assigned = frozenset(name for one in statements for name in assigned_names(one))
    if not statements or not assigned & set(_names([node.test])):
        return None
    return _Slice(_code(node, statements, assigned), assigned, frozenset(wanted) - assigned)


def _names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    return (one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))


def _is_plain_assignment(node: ast.stmt) -> bool:
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and _is_plain(node.value)
    is_one = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return is_one and _is_plain(node.value)  # type: ignore[attr-defined]


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression consists of numbers, names and operators, and calls of a few functions of numbers."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    are_plain = all(isinstance(one.func, ast.Name) and one.func.id in FUNCTIONS and not one.keywords for one in calls)
    return are_plain and all(isinstance(one, EXPRESSIONS) for one in ast.walk(node))


def _code(node: ast.While, statements: Sequence[ast.stmt], assigned: Iterable[str]) -> CodeType:
    """The slice, with a count of its trips, which ends it where they are too many."""
    text = [f"{COUNT} = 0", f"while {COUNT} <= {MOST_TRIPS} and ({ast.unparse(node.test)}):", f"    {COUNT} += 1"]
    text += [f"    {ast.unparse(one)}" for one in statements]
    # Python's integers may grow without end.
    text += [f"    if abs({name}) > {LARGE}: raise OverflowError" for name in assigned]
    return compile("\n".join(text), "<slice>", "exec")
