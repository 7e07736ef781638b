"""Exceptions: ``try`` statements and ``raise``.

What certainly raises while a program is parsed goes to its handler, as in Python. What may raise only at run time is an
error of the compiled program: there is no handler at run time. So whether a handler runs is decided while parsing where
that is possible, by run-time integers as constants or written-out loops; else compiled code raises where it would run.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from sdfgad.errors import ProgramRaises, PythonRaises, SdfgadError, ShapeMismatch, UnboundVariable, UnsupportedProgram
from sdfgad.ir.expr import BOOL, Const
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import conditions
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.emitter import Guard, exception_of
from sdfgad.parse.exception_objects import thrown_for
from sdfgad.parse.exception_values import as_raise, is_exception
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import may_change_something
from sdfgad.parse.source import source_text
from sdfgad.parse.throwing import require_value
from sdfgad.parse.values import Record

CAUGHT = "Test for it by an `if` before, or leave out the `try`."
OWN = str(Path(__file__).parent)


def try_(frame: Frame, node: ast.Try) -> None:
    """``try`` with its handlers, and ``else`` and ``finally``."""
    if getattr(node, "leaves", False):
        raise frame.unsupported(
            node,
            "a `return`, `break` or `continue` in `finally` is not supported",
            "Write it after the `try` statement.",
        )
    try:
        _handled(frame, node)
    except SdfgadError as error:
        if exception_of(error) is not None:
            frame.block(node.finalbody)
        raise
    frame.block(node.finalbody)


def _handled(frame: Frame, node: ast.Try) -> None:
    """The body, and then the handler of what it raises, or ``else``."""
    kinds = [_kinds(frame, handler) for handler in node.handlers]
    error = _protected(frame, node, tuple(kinds))
    if error is None:
        frame.block(node.orelse)
        return
    exception = exception_of(error)
    for handler, group in zip(node.handlers, kinds, strict=True):
        _require_clear(frame, handler, error, group)
        if isinstance(exception, group):
            _handle(frame, handler, error)
            return
    raise error


def _protected(frame: Frame, node: ast.Try, groups: tuple[tuple[type, ...], ...]) -> SdfgadError | None:
    """Parse the body of a ``try``; returns what it certainly raises, if a handler may catch that.

    Args:
        groups: for each handler, the classes that it catches.
    """
    b, depth, first = frame.b, len(frame.loops), len(frame.b.hazards)
    guard = Guard(len(b.blocks), groups, frame, node)
    kinds = guard.kinds
    b.tries.append(guard)
    raised: SdfgadError | None = None
    try:
        frame.block(node.body)
    except SdfgadError as error:
        if not isinstance(exception_of(error), kinds):
            raise
        raised = error
        del frame.loops[depth:]
    finally:
        b.tries.pop()
    _require_no_hazard(frame, node, first, kinds)
    return raised


def _require_no_hazard(frame: Frame, node: ast.Try, first: int, kinds: tuple[type, ...]) -> None:
    """Refuse a handler that the compiled program might reach.

    Raises:
        NeedsConstant: with run-time integers or counters as constants, it may be known that it does not.
    """
    for unraised, by in frame.b.unraised.items():
        if any(issubclass(unraised, kind) for kind in kinds):
            what = f"`except` catches {unraised.__name__}, which compiled code does not raise, whatever {by} says"
            raise UnsupportedProgram(what, frame.where(node), "Test the values instead: if np.all(np.isfinite(x)).")
    for hazard in frame.b.hazards[first:]:
        if frame.b.raises_instead and hazard.is_checked:
            continue
        for kind in kinds:
            found = next((one for one in hazard.kinds if issubclass(one, kind) or issubclass(kind, one)), None)
            if found is not None:
                frame.b.needs_handler = True
                what = f"{hazard.what}; this is known only at run time, where no `except` can catch it"
                raise NeedsConstant(set(hazard.symbols), hazard.where or frame.where(node), what, CAUGHT)


def _require_clear(frame: Frame, handler: ast.ExceptHandler, error: SdfgadError, kinds: tuple[type, ...]) -> None:
    """Refuse a handler for some kinds of ValueError where which one NumPy raises is not known."""
    of_numpy = isinstance(error, (ShapeMismatch, UnboundVariable))
    broad = type(exception_of(error))
    if of_numpy and any(issubclass(kind, broad) and kind is not broad for kind in kinds):
        what = f"whether this `except` catches what the line {error.where} raises is not known"
        raise frame.unsupported(handler, what, f"Write `except {broad.__name__}`.")


def _kinds(frame: Frame, handler: ast.ExceptHandler) -> tuple[type, ...]:
    """The classes that a handler catches."""
    if handler.type is None:
        return (BaseException,)
    value = frame.eval(handler.type)
    kinds = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise frame.unsupported(
            handler,
            f"`except {source_text(handler.type)}` does not name exceptions",
            "Name a class, `except ValueError`, or several, `except (ValueError, KeyError)`.",
        )
    return kinds


def _handle(frame: Frame, handler: ast.ExceptHandler, error: SdfgadError) -> None:
    """Parse a handler's body; its name is bound in it, and unbound afterwards."""
    b = frame.b
    b.handling.append(error)
    if handler.name:
        exception = exception_of(error)
        objects = [record for thrown, record in b.thrown if thrown is exception]
        frame.env[handler.name] = objects[0] if objects else exception
    try:
        frame.block(handler.body)
    finally:
        b.handling.pop()
    if handler.name:
        frame.env.pop(handler.name, None)


# --- raise and assert


def raises(frame: Frame, node: ast.Raise) -> None:
    """A ``raise``: an error while parsing where it is certainly reached, else a check at run time that fails."""
    b = frame.b
    if node.exc is None and b.handling:
        _raise(frame, b.handling[-1])
    own = _own_text(frame, node)
    if own.todo:
        raise frame.unsupported(node, own.what, own.todo)
    if own.what:
        what, todo = own.what, "NumPy raises here, too."
    else:
        what = f"the program raises {_raised_text(frame, node)}"
        todo = "Python raises it, too, for these arguments."
    error = ProgramRaises(what, frame.where(node), todo)
    if b.tries:
        error.exception = _exception(frame, node)
    if _is_caught(frame, error):
        require_value(frame, node, error, _is_class(frame, node))
    if len(b.blocks) <= (frame.entered if frame.is_definition else 1) or _is_caught(frame, error):
        _raise(frame, error)
    kinds = () if error.exception is None else (type(error.exception),)
    b.check(Const(False, BOOL), (), what, ProgramRaises, todo, kinds)


def _raised_text(frame: Frame, node: ast.Raise) -> str:
    """What a ``raise`` raises, as messages name it."""
    if node.exc is not None and is_exception(node.exc):
        value = frame.eval(node.exc)
        cls = value.cls if isinstance(value, Record) else type(value)
        return f"`{cls.__name__}` again"
    return "`an exception`" if node.exc is None else f"`{ast.unparse(node.exc)}`"


def raises_if_run(frame: Frame, error: PythonRaises) -> None:
    """What Python certainly raises in statements that data may skip: a check at run time that fails."""
    frame.b.where = error.where
    frame.b.check(Const(False, BOOL), (), error.what, ProgramRaises, "Python raises it, too, where it comes here.")


class OwnText(NamedTuple):
    """What a definition of ours raises: ``"what: todo"`` for what it does not support, else what NumPy raises."""

    what: str = ""
    todo: str = ""


def _own_text(frame: Frame, node: ast.Raise) -> OwnText:
    match node.exc:
        case ast.Call(args=[ast.Constant(value=str(text))]) if frame.source.file.startswith(OWN):
            what, _, todo = text.partition(": ")
            return OwnText(what, f"{todo[:1].upper()}{todo[1:]}." if todo else "")
    return OwnText()


def _is_caught(frame: Frame, error: SdfgadError) -> bool:
    return any(isinstance(exception_of(error), guard.kinds) for guard in frame.b.tries)


def _raise(frame: Frame, error: SdfgadError) -> None:
    """Raise, if it is certain that the program comes here whenever it enters the ``try`` that catches it."""
    raise frame.b.caught_outside(error) or error


def _exception(frame: Frame, node: ast.Raise) -> BaseException:
    value = RuntimeError("No active exception to reraise") if node.exc is None else frame.eval(node.exc)
    if node.exc is not None and isinstance(value, type) and issubclass(value, BaseException):
        value = frame.eval(ast.copy_location(ast.Call(node.exc, [], []), node))
    if isinstance(value, Record) and issubclass(value.cls, BaseException):
        return thrown_for(frame.b, value, source_text(node))
    if not isinstance(value, BaseException):
        raise frame.unsupported(
            node, f"`{source_text(node)}` raises what is no exception", "Raise an exception: raise ValueError(message)."
        )
    return value


def _is_class(frame: Frame, node: ast.Raise) -> bool:
    """Whether a statement raises a class by its name, so that Python calls it."""
    value = None if node.exc is None or isinstance(node.exc, ast.Call) else frame.eval(node.exc)
    return isinstance(value, type)


def _evaluate(frame: Frame, test: ast.expr) -> None:
    """What a test changes, it changes also where nobody asks for its value; one that is not supported is left out."""
    point = ChoicePoint.of(frame)
    try:
        conditions.test(frame, test)
    except UnsupportedProgram:
        point.backtrack(frame)


def assert_(frame: Frame, node: ast.Assert) -> None:
    """An assertion, which compiled programs do not check: it counts only where a handler may catch it."""
    if not any(issubclass(AssertionError, guard.kinds) for guard in frame.b.tries):
        if may_change_something(frame, node.test):
            _evaluate(frame, node.test)
        return
    frame.block([as_raise(node)])
