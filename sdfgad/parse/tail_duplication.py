"""Tail duplication: parses the statements after a loop that may have no trip once for no trips, and once for others.

After such a loop, a name that it re-binds refers to its array from before the loop, which may have aliases, or to that
of the last trip. A phi node copies either, which is valid as long as neither is updated; else the tail is duplicated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from sdfgad.errors import AmbiguousArray, PythonRaises
from sdfgad.ir.expr import Lin
from sdfgad.parse import attribute_moves, control, exceptions, loop_attempts, loop_strategies
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.frame import Frame, Return
from sdfgad.parse.ignored_calls import leaves_out
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.jumps import with_result
from sdfgad.parse.loop_heads import Head, head_of
from sdfgad.parse.loop_state import LoopNode
from sdfgad.parse.ranges import gone_over


@dataclass(frozen=True)
class LoopWithTail:
    """A parsed loop, the statements after it, the choice point before it, and the buffers that it has created."""

    node: LoopNode
    rest: list[ast.stmt]
    point: ChoicePoint
    new_buffers: set[str]

    @staticmethod
    def of(frame: Frame, node: LoopNode, rest: list[ast.stmt]) -> LoopWithTail:
        """Parse the loop, and record the choice point before it."""
        point, old = ChoicePoint.of(frame), set(frame.b.buffers)
        frame.statement(node)
        return LoopWithTail(node, rest, point, set(frame.b.buffers) - old)


def block(frame: Frame, statements: list[ast.stmt]) -> Return | None:
    """Parse statements; those after a loop twice, where whether it has a trip decides which array a name refers to."""
    parsed: list[LoopWithTail] = []
    parse, depth = partial(_in_order, frame, statements, parsed), len(frame.loops)
    while True:
        try:
            return parse()
        except PythonRaises as error:
            if not _is_decided_by_data(frame, error):
                raise
            exceptions.raises_if_run(frame, error)
            del frame.loops[depth:]
            return None
        except AmbiguousArray as error:
            position = next((k for k, loop in enumerate(parsed) if error.buffer in loop.new_buffers), None)
            if position is None or not control.may_duplicate_tail(frame.b):
                raise
        parse = partial(_duplicated, frame, parsed[position])
        # Only the tails of loops before this one can still be duplicated.
        del parsed[position:]


def _is_decided_by_data(frame: Frame, error: PythonRaises) -> bool:
    """Whether these statements, in which Python raises, are a side of a branch that data decides, in no loop.

    In a loop more may be known of what they read when it is parsed again.
    """
    b = frame.b
    is_other = b.loops or not b.decisions or len(b.blocks) == frame.entered
    if is_other or error.is_passed_on or b.catches(type(error.exception)):
        return False
    return b.decisions[-1].depth == len(b.blocks) and not b.decisions[-1].symbols


def _in_order(frame: Frame, statements: list[ast.stmt], parsed: list[LoopWithTail]) -> Return | None:
    """Parse statements in order, and append the loops among them to `parsed`."""
    with frame.b.logs.failing_late():
        return _each_in_order(frame, statements, parsed)


def _each_in_order(frame: Frame, statements: list[ast.stmt], parsed: list[LoopWithTail]) -> Return | None:
    for position, statement in enumerate(statements):
        frame.b.where = frame.where(statement)
        if leaves_out(frame, statement):
            continue
        with_rest = _with_rest(statement)
        if with_rest is not None:
            with frame.reported(statement):
                attempt = partial(with_rest, frame, statement, statements[position + 1 :])
                return attribute_moves.parsed(frame, statement, attempt)
        result, is_all = None, False
        with frame.going_on():
            result, is_all = _other(frame, statement, statements[position + 1 :], parsed)
        if is_all or result is not None:
            return result
    return None


def _with_rest(node: ast.stmt) -> Callable[..., Return | None] | None:
    """What parses a branch, or an assignment that is one, together with what follows it."""
    if isinstance(node, ast.If):
        return control.branch
    is_choice = isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp)
    return control.assignment if is_choice else None


def _other(
    frame: Frame, statement: ast.stmt, rest: list[ast.stmt], parsed: list[LoopWithTail]
) -> tuple[Return | None, bool]:
    """Parse a statement that is no branch; also returns whether what follows has been parsed, too."""
    if isinstance(statement, (ast.For, ast.While)):
        parsed.append(LoopWithTail.of(frame, statement, rest))
        return None, False
    if _has_choice(frame.source.node) and _has_choice(statement):
        return control.with_choices(frame, statement, rest)
    return frame.statement(statement), False


@lru_cache(maxsize=1 << 14)
def _has_choice(node: ast.AST) -> bool:
    """Whether there is a conditional expression in a node; cached, as a loop's body is parsed several times."""
    return any(isinstance(n, ast.IfExp) for n in ast.walk(node))


def _duplicated(frame: Frame, loop: LoopWithTail) -> Return | None:
    """Parse the tail of a loop twice: for no trips, and after the loop with its first trip peeled."""
    loop.point.backtrack(frame)
    node = loop.node
    head = Head(node)
    if isinstance(node, ast.For):
        head = head_of(frame, node, gone_over(frame.b, iterable_of(frame, node.iter, node)))  # type: ignore[assignment]
    test = True if head is None else head.test(frame, Lin(0))
    if head is None or test is True:
        # There is only one path: parsing fails as before.
        loop.point.backtrack(frame)
        frame.statement(node)
        return frame.block(loop.rest)
    follows, end = with_result(loop.rest)

    def some() -> None:
        loop_attempts.first_trip(frame, head)
        loop_strategies.parse_loop(frame, head.rest(), may_peel=False)
        frame.block(follows)

    control.branch_on(frame, test, some, lambda: frame.block(follows), node)
    return frame.block(end)
