"""Strings that depend on run-time values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sdfgad.errors import Location
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant

RUN_TIME_TEXT = "a string that depends on run-time values"
USE_NUMBERS = "Use the numbers in it instead of the string."


class RunTimeText(str):
    """A string that depends on run-time values, by its source: it can be printed, but is never equal to another.

    `symbols`: the run-time integers that are all that it depends on; empty if it depends on more.
    `make`: what makes it of its `parts`, integers or such strings, if that is all that it depends on.
    """

    symbols: frozenset[str] = frozenset()
    parts: tuple[Any, ...] = ()
    make: Callable[..., str] | None = None

    @classmethod
    def of(cls, source: str, parts: Sequence[Any], make: Callable[..., str]) -> RunTimeText:
        """A string that is made of parts, by its source."""
        made = cls(source)
        if all(isinstance(part, Lin) or is_plain(part) or _is_made(part) for part in parts):
            symbols = (part.symbols for part in parts if isinstance(part, (Lin, RunTimeText)))
            made.symbols, made.parts, made.make = frozenset().union(*symbols), tuple(parts), make
        return made

    def __hash__(self) -> int:
        raise TypeError(f"{RUN_TIME_TEXT} cannot be a key")

    def __str__(self) -> str:
        # So that a text that is made of it, such as that of an exception, is one of these, too.
        return self

    def __add__(self, other: str) -> RunTimeText:
        return RunTimeText.of(str.__add__(self, other), (self, other), operator.add)

    def __radd__(self, other: str) -> RunTimeText:
        return RunTimeText.of(str.__add__(other, self), (other, self), operator.add)

    def __mul__(self, count: Any) -> RunTimeText:
        return RunTimeText.of(str.__mul__(self, count), (self, count), operator.mul)

    __rmul__ = __mul__

    def __len__(self) -> int:
        raise TypeError(f"the length of {RUN_TIME_TEXT} is not known")

    def __getitem__(self, index: Any) -> RunTimeText:
        return RunTimeText(str(self))

    def __bool__(self) -> bool:
        return True


class KeyText(RunTimeText):
    """A key of a dict, in a loop over the dict that is one of the program: another string in each trip."""


def require_handed_on(value: KeyText, node: ast.expr, parent: ast.AST | None, where: Location | None) -> None:
    """Ask for a loop over a dict to be written out where a key of this is more than handed on, or looked up.

    Raises:
        NeedsConstant: it is.
    """
    is_fine = isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Return, ast.Tuple, ast.keyword, ast.Expr))
    is_fine = is_fine or (isinstance(parent, ast.Call) and parent.func is not node)
    is_fine = is_fine or (isinstance(parent, ast.Subscript) and parent.slice is node)
    if isinstance(parent, ast.Assign):
        is_fine = all(isinstance(target, ast.Name) for target in parent.targets)
    if not is_fine:
        require_known(value, where)


def require_no_texts(function: Any, values: Iterable[Any], where: Location | None) -> None:
    """The same of such keys that a function gets which is not parsed, and of other such strings if it is Python's."""
    is_error = isinstance(function, type) and issubclass(function, BaseException)
    is_pythons = getattr(function, "__module__", None) == "builtins" and not is_error
    for value in values:
        if isinstance(value, RunTimeText if is_pythons else KeyText):
            require_known(value, where)


def _is_made(part: Any) -> bool:
    return isinstance(part, RunTimeText) and part.make is not None


def require_known(value: Any, where: Location | None) -> None:
    """Ask for the integers in a string to be constants, where its text matters.

    Raises:
        NeedsConstant: it depends on such integers alone.
    """
    if isinstance(value, RunTimeText) and value.symbols:
        what = "a string with a run-time integer in it is compared, or is a key"
        raise NeedsConstant(set(value.symbols), where, what, "Use the integer itself instead of the string.")


def is_plain(value: Any) -> bool:
    """Whether a value known while parsing is the very object that Python would have, down to its parts."""
    if isinstance(value, (tuple, list)):
        return all(map(is_plain, value))
    if isinstance(value, RunTimeText):
        return False
    return value is None or isinstance(value, (str, bytes, bool, int, float, complex, np.generic, np.dtype, type))
