"""Tail duplication: what follows a loop that may not run, parsed once for no trips and once for others.

After such a loop a name that it re-binds stands for its array from before the loop, to which other names may refer, or
for the last trip's. A copy of either does as long as neither is updated; where one is, the paths are kept apart.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial

from sdfgad.errors import AmbiguousArray
from sdfgad.ir.expr import Lin
from sdfgad.parse import control, loops
from sdfgad.parse.frame import Frame, Return
from sdfgad.parse.jumps import with_result
from sdfgad.parse.loop_state import LoopNode


@dataclass(frozen=True)
class Passed:
    """A loop that has been parsed, what follows it, and the place before it; `made` is the storage that it has made."""

    node: LoopNode
    rest: list[ast.stmt]
    point: control.Point
    made: set[str]

    @staticmethod
    def of(frame: Frame, node: LoopNode, rest: list[ast.stmt]) -> Passed:
        """Parse the loop."""
        point, old = control.Point.of(frame), set(frame.b.buffers)
        frame.statement(node)
        return Passed(node, rest, point, set(frame.b.buffers) - old)


def block(frame: Frame, statements: list[ast.stmt]) -> Return | None:
    """Parse statements; those after a loop twice, where an array that it may leave as it was must be told apart."""
    passed: list[Passed] = []
    parse = partial(_each, frame, statements, passed)
    while True:
        try:
            return parse()
        except AmbiguousArray as error:
            position = next((k for k, loop in enumerate(passed) if error.buffer in loop.made), None)
            if position is None or not control.may_split(frame.b):
                raise
        parse = partial(_apart, frame, passed[position])
        # Loops before it may be to blame for what fails next.
        del passed[position:]


def _each(frame: Frame, statements: list[ast.stmt], passed: list[Passed]) -> Return | None:
    """Parse one statement after the other, and note the loops."""
    for position, statement in enumerate(statements):
        frame.b.where = frame.where(statement)
        if isinstance(statement, ast.If):
            return control.branch(frame, statement, statements[position + 1 :])
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.IfExp):
            return control.assignment(frame, statement, statements[position + 1 :])
        if isinstance(statement, (ast.For, ast.While)):
            passed.append(Passed.of(frame, statement, statements[position + 1 :]))
            continue
        result = frame.statement(statement)
        if result is not None:
            return result
    return None


def _apart(frame: Frame, loop: Passed) -> Return | None:
    """Parse what follows a loop for no trips, and for the first trip, by itself, and the others."""
    loop.point.go_back(frame)
    node = loop.node
    head = loops.Head(node) if isinstance(node, ast.While) else loops.head_of(frame, node, frame.eval(node.iter))
    test = True if head is None else head.test(frame, Lin(0))
    if head is None or test is True:
        # Nothing to be told apart; it fails again.
        frame.statement(node)
        return frame.block(loop.rest)
    follows, end = with_result(loop.rest)

    def some() -> None:
        loops.first_trip(frame, head)
        loops.repeat(frame, head.rest(), may_peel=False)
        frame.block(follows)

    control.choose(frame, test, some, lambda: frame.block(follows), node)
    return frame.block(end)
