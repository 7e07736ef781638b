"""Where exceptions become values: the ``raise`` on data that a ``try`` around it, or around a call of its function,
catches.
"""

from __future__ import annotations

import ast

from sdfgad.errors import SdfgadError
from sdfgad.parse.emitter import Guard, exception_of
from sdfgad.parse.exception_lowering import is_possible
from sdfgad.parse.exception_values import Handler, Place, Throw, Throws, needs_exception, place_of
from sdfgad.parse.frame import Frame


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
    calls = _calls(frame, guard)
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
        raise Throws(throw)


def _calls(frame: Frame, guard: Guard) -> tuple[Place, ...] | None:
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
