"""Internal iteration: a loop over a generator function becomes a closure, which the generator calls where it yields.

``for v in steps(x): total = total + v`` is parsed as ``def body(v): nonlocal total; total = total + v``, and each
``yield v`` of `steps` as ``body(v)``. The generator's loops are then ordinary loops, which need not be written out, and
data may decide how often they run. Python runs the same statements in the same order.

An attempt to parse the program comes upon such a loop and raises `Inverted`; the next one parses the function around it
with that loop inverted (`with_inverted_loops`).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from sdfgad.parse.backtracking import ChoicePoint, attempted
from sdfgad.parse.binding import bind
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.frame import Frame
from sdfgad.parse.generators import Generator
from sdfgad.parse.inverted_loops import BODY, ITEM, LoopPlace, bodies, calling, counter, with_inverted_loops
from sdfgad.parse.jumps import stops
from sdfgad.parse.managers import is_errstate
from sdfgad.parse.ranges import gone_over
from sdfgad.parse.values import UNDEFINED, Iteration, MaybeBound

# What a closure cannot hold, or would bind for itself.
BARRED = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal | ast.Delete


class Inverts(Enum):
    """Whether an attempt to parse a program inverts loops: written out they may give what an inverted one does not."""

    FIRST = 0
    NEVER = 1
    LAST = 2


class Inverted(Exception):
    """Raised at a loop over a generator function which the next attempt to parse the program inverts."""

    def __init__(self, place: LoopPlace) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class _Call:
    """What a loop goes over: the call of a generator function, with numbers from `start` on if that is one."""

    generator: Generator
    start: int | None = None

    @staticmethod
    def of(b: Builder, value: Any) -> _Call | None:
        """None of something else, and of a generator that has begun."""
        made, start = value, None
        if isinstance(value, Iteration) and value.function is builtins.enumerate and id(value) not in b.exhausted:
            made, *first = value.sources
            start = first[0] if first else 0
        is_new = isinstance(made, Generator) and id(made) not in b.exhausted and _is_loop(made)
        return _Call(made, start) if is_new and (start is None or type(start) is int) else None

    def may_end_early(self, node: ast.For) -> bool:
        """Whether a loop may end the generator, as nothing else goes on with it."""
        parts = node.iter.args if self.is_numbered and isinstance(node.iter, ast.Call) else []
        return any(self.generator.call is one for one in (node.iter, *parts))

    @property
    def is_numbered(self) -> bool:
        return self.start is not None


def is_inverted(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop by calling the generator function that it goes over with its body; returns whether it is such a
    loop, and was found before.

    Raises:
        Inverted: it is such a loop, and was not.
    """
    b, call = frame.b, _Call.of(frame.b, value)
    if call is None or (stops(node) and not call.may_end_early(node)):
        return False
    body = bodies(node).get(call.is_numbered)
    if body is None:
        _invert(frame, node, call)
        return False
    gone_over(b, call.generator)
    b.exhausted[id(value)] = value, None
    here = b.where
    if call.start is not None:
        bind(frame, ast.Name(counter(node), ast.Store()), call.start)
    _declare(frame, body)
    inner = call.generator.make()
    generator = replace(inner.source, node=calling(inner.source.node, bool(stops(node))))
    inner.source = with_inverted_loops(generator, b.inverted)
    inner.env[BODY] = Closure.of(frame, body)
    inner.run()
    b.where = here
    return True


def _declare(frame: Frame, body: ast.FunctionDef) -> None:
    """Have cells for the names that a closure binds, where some have none, as it may bind them on some paths alone."""
    for one in body.body[:2]:
        for name in one.names if isinstance(one, ast.Nonlocal | ast.Global) else ():
            cells = frame.cells_of(name)
            if cells is not None and name not in cells:
                cells[name] = MaybeBound(UNDEFINED, False)


def _invert(frame: Frame, node: ast.For, call: _Call) -> None:
    """Have a loop inverted in the next attempt, if that may be done."""
    b, place = frame.b, LoopPlace(frame.source.file, node.lineno, node.col_offset, call.is_numbered)
    is_own = id(node) in frame.source.parents and not frame.source.is_generator
    if b.inverts and is_own and place not in b.inverted and _is_plain(node):
        raise Inverted(place)


def _is_loop(generator: Generator) -> bool:
    """Whether a generator function yields in a loop, and only where a call could be.

    That of one that calls itself, as it goes over a tree, is written out: each level would call the one around it.
    """
    node = generator.node
    own = list(_own(node))
    called = [one.func for one in own if isinstance(one, ast.Call)]
    if any(node.name in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in called):
        return False
    statements = [one.value for one in own if isinstance(one, ast.Expr)]
    yields = [one for one in own if isinstance(one, YIELDS)]
    around = [one for one in own if isinstance(one, ast.For | ast.While | ast.Try | ast.With)]
    holding = [one for one in around if any(isinstance(part, YIELDS) for part in _own(one))]
    is_simple = all(any(one is value for value in statements) for one in yields)
    is_simple = is_simple and all(map(_may_hold, holding))
    return is_simple and any(isinstance(one, ast.For | ast.While) for one in holding)


YIELDS = ast.Yield | ast.YieldFrom


def _may_hold(node: ast.AST) -> bool:
    """Whether a statement may hold a call in place of a ``yield``, which may raise what the body of a loop does."""
    is_plain = isinstance(node, ast.For | ast.While) or (isinstance(node, ast.Try) and not node.handlers)
    return is_plain or (isinstance(node, ast.With) and is_errstate(node))


def _own(node: ast.AST) -> Sequence[ast.AST]:
    """The nodes within one, without those of functions that it defines."""
    found: list[ast.AST] = []
    left = list(ast.iter_child_nodes(node))
    while left:
        one = left.pop()
        found.append(one)
        if not isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            left += ast.iter_child_nodes(one)
    return found


def _is_plain(node: ast.For) -> bool:
    """Whether the body of a loop could be that of a function."""
    own = [one for statement in node.body for one in ast.walk(statement)]
    names = {one.id for one in own if isinstance(one, ast.Name)}
    handlers = [one for one in own if isinstance(one, ast.ExceptHandler) and one.name]
    is_barred = any(isinstance(one, BARRED | YIELDS) for one in own)
    return not (is_barred or handlers or names & {"super", "__class__", "locals"})


# --- all items at once

FOUND, VALUES = "<found>", "__sdfgad_values"


def collected(frame: Frame, node: Collecting, value: Any) -> Any:
    """The items of a call of a generator function, or of a comprehension over one, as a list to which loops append.

    Returns:
        The list, or what follows a list of unknown length; None where the loops of the generator are written out.
    """
    if not frame.b.inverts or _Call.of(frame.b, value) is None:
        return None
    if any(isinstance(one, ast.NamedExpr | YIELDS) for one in ast.walk(node)):
        return None
    return frame.call(node, Closure.of(frame, _collecting(node)), [value], {})


def all_items(frame: Frame, value: Generator) -> Any:
    """The items of a call of a generator function which something consumes at once, as `collected` gives them."""
    if not isinstance(value.call, ast.Call):
        return None
    return attempted(frame, partial(collected, frame, value.call, value))


def is_search(frame: Frame, node: ast.Call) -> bool:
    """Whether a call is ``next(... for ... in g() if ...)`` of a generator function, which it ends early."""
    first = node.args[0] if node.args else None
    if not isinstance(first, ast.GeneratorExp) or not frame.b.inverts or len(first.generators) > 1:
        return False
    (clause,) = first.generators
    is_plain = clause.ifs and isinstance(clause.iter, ast.Call) and not node.keywords
    if not is_plain or any(isinstance(one, ast.NamedExpr | YIELDS) for one in ast.walk(node)):
        return False
    if frame.eval(node.func) is not builtins.next:
        return False
    point = ChoicePoint.of(frame)
    found = _Call.of(frame.b, frame.eval(clause.iter))
    point.backtrack(frame)
    return found is not None


def first_found(frame: Frame, node: ast.Call) -> Any:
    """The value of such a call: a function that returns the item out of a loop."""
    return frame.call(node, Closure.of(frame, _searching(node)), [], {})


@lru_cache(maxsize=1 << 10)
def _searching(node: ast.Call) -> ast.FunctionDef:
    items: Any = node.args[0]
    (clause,) = items.generators
    test = clause.ifs[0] if len(clause.ifs) == 1 else ast.BoolOp(ast.And(), clause.ifs)
    loop = ast.copy_location(
        ast.For(clause.target, clause.iter, [ast.If(test, [ast.Return(items.elt)], [])], []), items
    )
    stop = ast.Call(ast.Name("StopIteration", ast.Load()), [], [])
    end = ast.Return(node.args[1]) if len(node.args) > 1 else ast.Raise(stop)
    made = ast.FunctionDef("<search>", ast.arguments([], [], None, [], [], None, []), [loop, end], [], None)
    return ast.fix_missing_locations(ast.copy_location(made, node))


Collecting = ast.Call | ast.ListComp | ast.GeneratorExp


@lru_cache(maxsize=1 << 10)
def _collecting(node: Collecting) -> ast.FunctionDef:
    """A function that appends the items to a list."""
    item, clauses = (ast.Name(ITEM, ast.Load()), []) if isinstance(node, ast.Call) else (node.elt, node.generators)
    append = ast.Attribute(ast.Name(FOUND, ast.Load()), "append", ast.Load())
    loop: ast.stmt = ast.Expr(ast.Call(append, [item], []))
    for one in reversed(clauses):
        for test in reversed(one.ifs):
            loop = ast.If(test, [loop], [])
        values = ast.Name(VALUES, ast.Load()) if one is clauses[0] else one.iter
        loop = ast.copy_location(ast.For(one.target, values, [loop], []), one.target)
    if not clauses:
        loop = ast.For(ast.Name(ITEM, ast.Store()), ast.Name(VALUES, ast.Load()), [loop], [])
    parameters = ast.arguments([], [ast.arg(VALUES)], None, [], [], None, [])
    first = ast.Assign([ast.Name(FOUND, ast.Store())], ast.List([], ast.Load()))
    body = [first, loop, ast.Return(ast.Name(FOUND, ast.Load()))]
    made = ast.FunctionDef("<items>", parameters, body, [], None)
    return ast.fix_missing_locations(ast.copy_location(made, node))
