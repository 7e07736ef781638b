"""Coroutines: runs generator functions, each statement when its turn comes between those of their consumer."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import conditions
from sdfgad.parse.binding import bind
from sdfgad.parse.frame import Frame
from sdfgad.parse.iterators import as_sequence, limited
from sdfgad.parse.jumps import structured
from sdfgad.parse.values import Iteration

# How a block ends.
Running = Iterator[Any]
BREAK, CONTINUE, RETURN, END = "break", "continue", "return", ""
# A `while` that has made so many trips may not end.
MOST_TRIPS = 1000
TODO = "Collect the items in a list or an array instead of yielding them, and return it."


@dataclass(frozen=True, eq=False)
class Generator(Iteration):
    """What a call of a generator function returns: nothing runs before the first item is asked for.

    Attributes:
        make: a new frame in which the function begins.
        call: the call.
        node: the function.
        collect: what gives all its items as `at_once` does.
    """

    make: Callable[[], Frame] = field(kw_only=True)
    call: ast.AST = field(kw_only=True)
    node: ast.FunctionDef = field(kw_only=True)
    collect: Callable[[Generator], Any] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_once", partial(self.collect, self))


def items(frame: Frame) -> Iterator[Any]:
    here = frame.b.where
    frame.open_cells()
    node = frame.source.node
    assert isinstance(node, ast.FunctionDef)
    yield from _block(frame, node.body)
    frame.b.where = here


def _block(frame: Frame, body: list[ast.stmt]) -> Any:
    """The items of statements; the generator returns how these end."""
    for node in body:
        end = yield from _statement(frame, node)
        if end:
            return end
    return END


def _statement(frame: Frame, node: ast.stmt) -> Any:
    frame.b.where = frame.where(node)
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return {ast.Return: RETURN, ast.Break: BREAK, ast.Continue: CONTINUE}[type(node)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
        value = None if node.value.value is None else frame.eval(node.value.value)
        yield from _handed_on(frame, iter([value]))
        return END
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.YieldFrom):
        yield from _handed_on(frame, as_sequence(frame, node, frame.eval(node.value.value)))
        return END
    if isinstance(node, ast.If) and _has_turn(node):
        test = _known(frame, node.test)
        return (yield from _block(frame, node.body if test else node.orelse))
    if isinstance(node, (ast.For, ast.While)) and _has_turn(node):
        return (yield from _loop(frame, node))
    if isinstance(node, ast.Try) and not node.handlers and _has_turn(node) and frame.b.is_entering:
        return (yield from _finally(frame, node))
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own(node)):
        raise frame.unsupported(
            node,
            "`yield` is supported only as a statement of its own",
            "Write `yield value` as a statement, not inside an expression.",
        )
    frame.block(structured([node]))
    return END


def _finally(frame: Frame, node: ast.Try) -> Any:
    """``try`` and ``finally`` of what ``with`` enters: where anything raises, so does the compiled program.

    Of a generator that need not run to its end, Python would run the latter where it is forgotten.
    """
    end = (yield from _block(frame, [*node.body, *node.orelse])) or END
    return (yield from _block(frame, node.finalbody)) or end


def _handed_on(frame: Frame, values: Iterator[Any]) -> Running:
    """Yield values to what goes over the items, which must go on in the same block of the program."""
    b, blocks, caller = frame.b, list(frame.b.blocks), frame.b.where
    for value in values:
        where = b.where
        yield b.settle(value)
        if len(blocks) != len(b.blocks) or not all(map(operator.is_, blocks, b.blocks)):
            what = "a generator function goes on in another loop or branch, which is decided only at run time"
            raise NeedsConstant(b.symbols_here(), caller, what, TODO)
        b.where = where


def _loop(frame: Frame, node: ast.For | ast.While) -> Any:
    frame.loops.append(node)
    end = END
    for _ in _trips(frame, node):
        end = yield from _block(frame, node.body)
        if end in (BREAK, RETURN):
            break
    frame.loops.remove(node)
    if end == RETURN:
        return RETURN
    return END if end == BREAK else (yield from _block(frame, node.orelse))


def _trips(frame: Frame, node: ast.For | ast.While) -> Running:
    """Begin the trips of a loop, one by one."""
    if isinstance(node, ast.While):
        trips = iter(partial(_known, frame, node.test), False)
        yield from limited(frame, node, trips, MOST_TRIPS, "this loop of a generator function")
        return
    for value in as_sequence(frame, node.iter, frame.eval(node.iter)):
        bind(frame, node.target, value)
        yield None


def _known(frame: Frame, test: ast.expr) -> bool:
    """A condition, which must be known while parsing."""
    value = conditions.test(frame, test)
    if isinstance(value, bool):
        return value
    what = "whether a generator function has a further item depends on run-time values"
    symbols = {s for form in conditions.affine_forms(value.at()) or () for s in form.symbols}
    raise NeedsConstant(symbols | frame.b.symbols_here(), frame.where(test), what, TODO)


def _has_turn(node: ast.stmt) -> bool:
    """Whether a statement yields, or leaves a block."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Return, ast.Break, ast.Continue)
    return any(isinstance(n, kinds) for n in _own(node))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, without those of functions that it defines."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.GeneratorExp)):
            yield from _own(child)
