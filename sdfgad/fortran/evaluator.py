"""What translations of expressions need of each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn

from sdfgad.fortran.kinds import INTEGER
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.values import Value


class Evaluator(ABC):
    """Translates expressions of one scope to NumPy text.

    Attributes:
        lows: integer variables that are never below a number here: counters of loops, by their texts.
        counters: how many names have been made of a stem.
        before: lines to write before the present statement; None where there may be none.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lows: dict[str, int] = {}
        self.counters: dict[str, int] = {}
        self.before: list[str] | None = None

    @abstractmethod
    def value(self, node: Any) -> Value:
        """The value of an expression."""

    @abstractmethod
    def variable(self, node: Any) -> Variable:
        """The variable of a name, as it is declared."""

    @abstractmethod
    def of(self, node: Any, found: Any) -> Value:
        """The value of what a node designates."""

    @abstractmethod
    def within(self, home: Scope | None) -> Evaluator:
        """The same for the names of another scope, in the text of this one."""

    @abstractmethod
    def bounded_by(self, value: Value) -> None:
        """Notes that an array has a value as its lower bound."""

    def refuse(self, node: Any, what: str, todo: str) -> NoReturn:
        """Raises: UnsupportedProgram, with the line of the node."""
        self.scope.refuse(node, what, todo)

    def integer(self, node: Any) -> Value:
        """An integer number.

        Raises:
            UnsupportedProgram: the expression is none.
        """
        value = self.value(node)
        if value.kind.base != "integer" or value.rank:
            self.refuse(node, f"`{node}` is no integer but {described(value)}", "Write an integer, such as int(x).")
        return value

    def known(self, node: Any) -> int:
        """An integer that is known without running.

        Raises:
            UnsupportedProgram: it is not.
        """
        value = self.integer(node)
        if value.number is None:
            self.refuse(node, f"`{node}` must be known when the program is compiled", "Write a number or a parameter.")
        return int(value.number)

    def fresh(self, stem: str) -> str:
        """A name that no variable has: those of Fortran start with a letter."""
        self.counters[stem] = self.counters.get(stem, 0) + 1
        return f"__{stem}_{self.counters[stem]}"


def described(value: Value) -> str:
    if value.rank:
        return f"an array of {value.kind} with {value.rank} axes"
    return value.kind.noun


def integer_text(text: str, low: int | None = None) -> Value:
    return Value(text, INTEGER, low=low)
