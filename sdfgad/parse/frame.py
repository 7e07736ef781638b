"""One call of a function while it is parsed: all that those who parse its statements and expressions know of it.

What is inside of a statement or expression they give to the frame, which gives it to whoever parses that; so they
need not know each other. Who parses what is said in `interpreter.py`, above them all.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import Location, UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.source import Source
from sdfgad.parse.values import UNDEFINED


@dataclass(frozen=True)
class Return:
    """A return statement was reached."""

    value: Any
    where: Location | None


class Frame(ABC):
    """One call of one function: its source and its local names.

    `is_ours`: the function says what a NumPy function does; errors in it name the user's line that called it.
    """

    def __init__(self, b: Builder, source: Source, env: dict[str, Any], depth: int = 0, is_ours: bool = False) -> None:
        self.b, self.source, self.env, self.depth, self.is_ours = b, source, env, depth, is_ours
        # The frame in which a nested function is defined.
        self.lexical: Frame | None = None
        # The frame in which `:=` binds; a comprehension's is the one around it.
        self.scope: Frame = self
        self.loops: list[ast.stmt] = []
        # Buffers that a caller, too, may refer to.
        self.known = frozenset(b.buffers)

    @abstractmethod
    def block(self, statements: list[ast.stmt]) -> Return | None:
        """Parse statements, up to one that certainly returns."""

    @abstractmethod
    def statement(self, node: ast.stmt) -> Return | None:
        """Parse one statement by itself."""

    @abstractmethod
    def eval(self, node: ast.expr) -> Any:
        """The value of an expression."""

    def run(self) -> Any:
        """The function's return value; None where it returns nothing."""
        result = self.block(self.source.body)
        return None if result is None else _returned(result.value)

    def inner(self, source: Source, env: dict[str, Any], depth: int, is_ours: bool) -> Frame:
        """A frame of its own for what is called here, parsed in the same way."""
        return type(self)(self.b, source, env, depth, is_ours)

    def unsupported(self, node: ast.AST, what: str) -> UnsupportedProgram:
        return UnsupportedProgram(what, self.where(node), "Rewrite this line with supported NumPy, or leave it out.")

    def where(self, node: ast.AST) -> Location | None:
        """The user's line that is to blame for a node."""
        return self.b.where if self.is_ours else self.source.where(node)


def _returned(value: Any) -> Any:
    """What a function returns; nothing where no ``return`` was reached."""
    if isinstance(value, tuple) and any(part is UNDEFINED for part in value):
        return None
    return None if value is UNDEFINED else value
