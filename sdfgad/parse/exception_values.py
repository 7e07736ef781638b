"""Exceptions as values: where data decides whether a function raises, it returns that, and its callers test it.

``h = attempt(h)`` within ``try``, of a function that may raise `Rejected`, is parsed as ``t, flag = attempt(h)``; where
the flag is set it goes on with the handler, else with ``h = t``. The function returns ``(undefined, True)`` in place
of its ``raise``, and ``(value, False)`` elsewhere. So do functions between it and the ``try``.

An attempt to parse the program comes upon such a ``raise`` and raises `Throws`; the next one parses the functions that
are called from the ``try`` down to it in that form.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from sdfgad.parse.values import UNDEFINED

# A file, and where a node begins and ends in it.
Place = tuple[str, int, int, int, int]


@dataclass(frozen=True, order=True)
class Handler:
    """A handler of a ``try`` statement, for exceptions of one class.

    Attributes:
        place: that of the ``try``.
        is_named: whether it needs the exception itself.
    """

    place: Place
    index: int
    kind: str
    is_named: bool

    @property
    def flag(self) -> str:
        """The name of whether there is such an exception."""
        return f"<{self.kind} {self.place[1]}, {self.place[2]}>"

    @property
    def exception(self) -> str:
        """The name of the exception."""
        return f"<exception {self.kind} {self.place[1]}, {self.place[2]}>"

    @property
    def names(self) -> list[str]:
        """The names of whether an exception goes to it, and of the exception."""
        return [self.flag, self.exception] if self.is_named else [self.flag]


@dataclass(frozen=True)
class Throw:
    """A ``raise``, or an operation that raises, that goes to a handler, and the calls from the ``try`` down to it.

    Attributes:
        is_class: whether it names a class rather than an exception.
        kind: of an operation that raises in Python, such as ``math.sqrt(x)``, the class; its `place` is that of the
            operation. None of a ``raise``.
    """

    handler: Handler
    place: Place
    calls: tuple[Place, ...]
    is_class: bool
    kind: type[BaseException] | None = None


class Raises(ast.expr):
    """Whether an operation raises an exception of a class; it is evaluated for that alone, and does not raise."""

    _fields = ("value", "kind")
    value: ast.expr
    kind: type[BaseException]

    @classmethod
    def of(cls, value: ast.expr, kind: type[BaseException]) -> Raises:
        made = cls()
        made.value, made.kind = value, kind
        return made


def kinds_tested(node: ast.AST) -> tuple[type[BaseException], ...]:
    """The classes of exceptions that an operation cannot raise here, as it has been tested for them."""
    return getattr(node, "kinds_tested", ())


class Throws(Exception):
    """Raised where the next attempt to parse the program makes values of more exceptions."""

    def __init__(self, throws: frozenset[Throw]) -> None:
        super().__init__(throws)
        self.throws = throws


def place_of(file: str, node: ast.AST) -> Place:
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    line, column, last, end = (getattr(node, name, None) or 0 for name in names)
    return file, line, column, last, end


def as_raise(node: ast.Assert) -> ast.If:
    """An assertion as what it does where a handler may catch it: the ``raise`` is at its place."""
    exception = ast.Call(ast.Constant(AssertionError), [node.msg] if node.msg else [], [])  # type: ignore[arg-type]
    made = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Raise(exception, None)], [])
    for one in (made, made.test, made.body[0], exception, exception.func):
        ast.copy_location(one, node)
    return made


def handlers_of_call(node: ast.AST) -> tuple[Handler, ...]:
    """The handlers whose exceptions the call of a function returns."""
    return getattr(node, "handlers_of_call", ())


def needs_exception(handler: ast.ExceptHandler) -> bool:
    """Whether a handler uses the exception, or raises it again."""
    return handler.name is not None or any(_raises_again(one) for part in handler.body for one in ast.walk(part))


def _raises_again(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) and node.exc is None


class Parts(tuple[Any, ...]):
    """What a call returns that throws: its value, and for each handler whether an exception goes to it."""

    @staticmethod
    def of(node: ast.Call, value: Any) -> Any:
        """The value of a call that may throw, but has not."""
        if isinstance(value, Parts):
            return tuple(value)
        handlers = handlers_of_call(node)
        none = [part for one in handlers for part in (False, UNDEFINED)[: len(one.names)]]
        return (value, *none) if handlers else value


def undefined() -> ast.expr:
    """What is never read."""
    return ast.Constant(UNDEFINED)  # type: ignore[arg-type]


def is_exception(node: ast.expr | None) -> bool:
    """Whether an expression names the exception that a handler has caught as a value."""
    return isinstance(node, ast.Name) and node.id.startswith("<exception")
