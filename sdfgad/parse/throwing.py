"""Where exceptions become values: the ``raise``, or the operation that raises, that a ``try`` around it, or around a
call of its function, catches, where data decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, reduce
from typing import Any

from sdfgad.errors import SdfgadError
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op, conjunction
from sdfgad.ir.program import Access, Compute
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import Guard, Params, exception_of
from sdfgad.parse.exception_lowering import is_possible
from sdfgad.parse.exception_values import (
    Handler,
    Place,
    Raises,
    Throw,
    Throws,
    kinds_tested,
    needs_exception,
    place_of,
)
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import may_change_something
from sdfgad.parse.values import scalar

Operation = ast.Call | ast.BinOp | ast.AugAssign


def require_value(frame: Frame, node: ast.Raise, error: SdfgadError, is_class: bool) -> None:
    """Have a ``raise`` be a value in the next attempt, if data decides whether the program comes there.

    Raises:
        Throws: it can be one, and is none.
    """
    b, exception = frame.b, exception_of(error)
    guard = next(one for one in reversed(b.tries) if isinstance(exception, one.kinds))
    is_by_data = any(one.depth > guard.depth and not one.symbols for one in b.decisions)
    if not (b.may_throw and is_by_data):
        return
    calls = calls_from(frame, guard)
    if calls is None:
        return
    index = next(at for at, group in enumerate(guard.groups) if isinstance(exception, group))
    place = place_of(guard.frame.source.file, guard.node)
    kind = f"{type(exception).__module__}.{type(exception).__qualname__}"
    handler = Handler(place, index, kind, needs_exception(guard.node.handlers[index]))
    throw = Throw(handler, place_of(frame.source.file, node), calls, is_class)
    # Of a statement that raises several classes the flags would not say which.
    is_clear = all(one.handler.kind == kind for one in b.throws if one.place == throw.place)
    if is_clear and throw not in b.throws:
        raise Throws(frozenset({throw}))


@contextmanager
def operating(frame: Frame, node: Operation) -> Iterator[None]:
    """While an operation is evaluated: what it may raise at run time becomes a value, or it has been tested for it."""
    b = frame.b
    if not b.tries or frame.is_definition:
        yield
        return
    b.operations.append(partial(_require_test, frame, node))
    try:
        with ExitStack() as stack:
            for kind in kinds_tested(node):
                stack.enter_context(b.collecting(kind))
            yield
    finally:
        b.operations.pop()


def raises(frame: Frame, node: Raises) -> Any:
    """Whether an operation raises; its value is not used."""
    b = frame.b
    with b.collecting(node.kind) as conditions:
        frame.eval(node.value)
    everywhere: list[Expr] = [Const(True, BOOL), *(_in_all(b, *one) for one in conditions)]
    regular = reduce(conjunction, everywhere)
    return b.materialise(scalar(Op("logical_not", (regular,), BOOL)))


def _in_all(b: Builder, condition: Expr, box: Params) -> Expr:
    """Whether a condition holds everywhere in a box."""
    if not box:
        return condition
    failing = Access(b.new_buffer("failing", (), INT).name)
    b.emit(Compute((), failing, Const(0, INT), None, b.where))
    one = Op("select", (condition, Const(0, INT), Const(1, INT)), INT)
    b.emit(Compute(box, failing, one, "maximum", b.where))
    return Op("equal", (failing.read(INT), Const(0, INT)), BOOL)


def _require_test(frame: Frame, node: Operation, kinds: Sequence[type[BaseException]]) -> bool:
    """Have an operation be tested in the next attempt, if a handler catches what it raises; whether it will be."""
    b = frame.b
    guard = next((one for one in reversed(b.tries) if issubclass(kinds[0], one.kinds)), None)
    is_known = isinstance(node, ast.Call | ast.BinOp) or isinstance(node.target, ast.Name)
    # It is evaluated twice.
    if guard is None or not b.may_throw or not is_known or may_change_something(frame, node):
        return False
    groups = [next((at for at, group in enumerate(guard.groups) if issubclass(kind, group)), None) for kind in kinds]
    calls, place = calls_from(frame, guard), place_of(frame.source.file, node)
    # Of several classes it is not known which one it would be.
    is_there = any(one.kind and one.place == place for one in b.throws)
    if calls is None or len(set(groups)) > 1 or not (is_there or is_possible(frame.source, place, kinds[0])):
        return False
    index = groups[0]
    assert index is not None
    is_named = needs_exception(guard.node.handlers[index])
    if is_named and len(kinds) > 1:
        return False
    name = f"{kinds[0].__module__}.{kinds[0].__qualname__}"
    handler = Handler(place_of(guard.frame.source.file, guard.node), index, name, is_named)
    throw = Throw(handler, place, calls, is_class=False, kind=kinds[0])
    if throw in b.throws:
        return False
    # One attempt finds all of them: it goes on as if none raised.
    b.untested.add(throw)
    return True


def require_tested(b: Builder) -> None:
    """Parse the program anew if operations were not tested that handlers catch.

    Raises:
        Throws: some were not.
    """
    if b.untested:
        raise Throws(frozenset(b.untested))


def calls_from(frame: Frame, guard: Guard) -> tuple[Place, ...] | None:
    """The calls from a ``try`` down to a frame; None if one of them cannot be tested for what it throws."""
    calls: list[Place] = []
    while frame is not guard.frame:
        call, caller = frame.call_node, frame.caller
        if call is None or caller is None:
            return None
        place = place_of(caller.source.file, call)
        if not is_possible(caller.source, place):
            return None
        calls.append(place)
        frame = caller
    return tuple(calls)
