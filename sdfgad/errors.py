"""Every exception of sdfgad: one tree, each saying what happened, where, and what to do about it.

`Location` names a line of the user's own program; the message of an exception that carries one ends with
``file.py:12`` and that line's text.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's program: file, 1-based line number, and the line's text without indentation."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Blame:
    """Branches without which a program might be parsed.

    Attributes:
        lines: of those that data decides.
        integers: the run-time integers and counters that decide others.
    """

    lines: frozenset[Location] = frozenset()
    integers: frozenset[str] = frozenset()

    def __or__(self, other: Blame) -> Blame:
        return Blame(self.lines | other.lines, self.integers | other.integers)


class IgnoredPrint(UserWarning):
    """The program prints, warns or logs; its compiled form does not."""


class CacheWarning(UserWarning):
    """The cache folder cannot be used; the message names it, says why, and where files go instead."""


class MiscompiledWarning(UserWarning):
    """The compiler's optimised code gave other results than plain code, which is used instead."""


class BisectionWarning(UserWarning):
    """A loop narrows an interval by comparisons alone: where it ends has no derivative by what is compared."""


class SdfgadError(Exception):
    """Root of all exceptions raised by sdfgad.

    Attributes:
        what: what went wrong, one sentence.
        where: the `Location` of the user's line, or None where no line is to blame.
        todo: what the user can do about it.
        blame: the branches without which the program might be parsed.
    """

    blame = Blame()

    def __init__(self, what: str, where: Location | None = None, todo: str = "") -> None:
        self.what, self.where, self.todo = what, where, todo
        super().__init__(self._text())

    def locate(self, where: Location | None) -> None:
        """Name the user's line, unless the error names one."""
        if self.where is None:
            self.where = where
            self.args = (self._text(),)

    def _text(self) -> str:
        place = [] if self.where is None else [f"  at {self.where}"]
        return "\n".join([self.what, *place, *([f"  {self.todo}"] if self.todo else [])])

    def __reduce__(self) -> tuple[Any, ...]:
        # As it is: subclasses take other arguments than its text.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[SdfgadError], args: tuple[Any, ...], attributes: dict[str, Any]) -> SdfgadError:
    """An error that another process has raised."""
    error = BaseException.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class UnsupportedProgram(SdfgadError):
    """The program cannot be parsed: no source, or a statement or function that sdfgad does not know."""


class PythonRaises(UnsupportedProgram):
    """Python, too, would certainly raise an exception at this line: a handler in the program may catch it.

    Attributes:
        is_passed_on: whether data decides if the statement comes to that, as in a side of a conditional expression.
    """

    def __init__(self, what: str, where: Location | None, todo: str, exception: BaseException) -> None:
        super().__init__(what, where, todo)
        self.exception, self.is_passed_on = exception, False


class UnsupportedGraph(SdfgadError):
    """A graph, an SDFG or that of a model, has something that sdfgad does not know; the message names it."""


class AmbiguousArray(UnsupportedProgram):
    """A name may stand for several arrays, chosen at run time, and one of them has changed since.

    Attributes:
        buffer: the storage that stands for the array.
        is_of_object: whether it stands for several objects instead.
    """

    is_of_object = False

    def __init__(self, what: str, where: Location | None, todo: str, buffer: str) -> None:
        self.buffer = buffer
        super().__init__(what, where, todo)


def chosen_object(what: str, where: Location | None, todo: str) -> AmbiguousArray:
    """What to raise where an object is used that may be one of several."""
    error = AmbiguousArray(what, where, todo, "")
    error.is_of_object = True
    return error


class UpdateOfCopy(AmbiguousArray):
    """An array that is chosen or re-bound at run time is updated in place.

    `name` is its name, and `others` are those of the arrays of which it may be one, as far as they have some.
    """

    def __init__(self, buffer: str, where: Location | None, name: str = "", others: Sequence[str] = ()) -> None:
        also = f" and may be that of {' or '.join(others)}" if others else ""
        copied = name or "y"
        super().__init__(
            f"an array that is chosen or re-bound at run time is updated in place through this name{also}",
            where,
            f"Write `{copied} = {copied}.copy()` before it, if the update is not meant for the others, "
            "or update the array by its own name.",
            buffer,
        )


class Rebound(UnsupportedProgram):
    """A name changes its shape or kind in a loop or branch that runs at run time.

    Attributes:
        is_of_text: whether it stands for several strings or members of enumerations.
        is_of_object: whether it stands for several objects.
        choice: the conditional expression that has several values here, which a branch may replace.
    """

    is_of_text = False
    is_of_object = False
    choice: ast.IfExp | None = None


class MissingRule(SdfgadError):
    """Operations on the differentiated path have no derivative rule.

    Attributes:
        operations: every such operation with its location, not only the first.
    """

    def __init__(self, operations: Sequence[tuple[str, Location | None]]) -> None:
        self.operations = tuple(operations)
        rows = "\n".join(f"  {name} at {where}" for name, where in self.operations)
        super().__init__(
            f"no derivative rule for:\n{rows}",
            todo="Rewrite these operations, or leave their inputs out of `wrt`.",
        )


class WrtError(SdfgadError):
    """`wrt` names something that cannot be differentiated: unknown, or not floating."""


class UnusedArgument(WrtError):
    """The output does not depend on an argument of `wrt`, so its gradient would be identically zero."""


class OutputError(SdfgadError):
    """`output` is unknown or ambiguous, or a non-scalar output has neither `reduce` nor a cotangent."""


class ArgumentError(SdfgadError, TypeError):
    """The arguments of a call do not fit the program: number, names, types, shapes or dtypes."""


class InvalidIndex(SdfgadError, IndexError):
    """An index is out of range where NumPy would raise IndexError."""


class ShapeMismatch(SdfgadError, ValueError):
    """Shapes do not broadcast or match where NumPy would raise ValueError."""


class UnboundVariable(SdfgadError, UnboundLocalError):
    """A variable is read that no executed statement has assigned.

    Attributes:
        name: of the variable, as far as it is known.
    """

    def __init__(self, what: str, where: Location | None = None, todo: str = "", name: str = "") -> None:
        super().__init__(what, where, todo)
        # UnboundLocalError has an attribute of this name, too.
        self.name = name
        # Whether no path assigns it.
        self.is_certain = False
        # Whether what reads it first sets it, too, so that all trips of a loop but the first one have it.
        self.is_set_here = False


class NoneUsed(SdfgadError, TypeError):
    """A value that is None on the path that was taken is read as a number, an array or an object."""


class ProgramRaises(SdfgadError):
    """The program reached one of its own ``raise`` statements.

    Attributes:
        exception: what it raises, where a handler of the program may catch it.
    """

    exception: BaseException | None = None


class DivisionByZero(SdfgadError, ZeroDivisionError):
    """A number of Python is divided by zero, which raises ZeroDivisionError there."""


class SingularMatrix(SdfgadError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite, where NumPy would raise LinAlgError."""


class GradientMismatch(SdfgadError, AssertionError):
    """`check_grads` found a gradient that disagrees with finite differences."""


class NotHolomorphic(SdfgadError):
    """`check_grads` is to take a complex step, which does not give the derivative of this program."""


class CompilerError(SdfgadError):
    """There is no C++ compiler, or it failed on generated code."""


class NotImportable(SdfgadError, pickle.PicklingError):
    """A gradient is to be sent to another process, which cannot import the function that it is of."""


class CacheError(SdfgadError):
    """Files that are to be kept between runs can be written or deleted nowhere; the message names the folder."""


class OutOfMemory(SdfgadError, MemoryError):
    """The machine has not as much memory as a compiled program needs; what it held has been released."""


class DeviceError(SdfgadError):
    """There is no GPU, driver or compiler of kernels that can be used, or one of these, or a program there, failed."""


class MissingPackage(SdfgadError, ImportError):
    """A part of sdfgad needs a package that is not installed."""

    def __init__(self, package: str, module: str, extra: str) -> None:
        super().__init__(f"sdfgad.{module} needs {package}", todo=f'Install it: pip install "sdfgad[{extra}]".')


class DecidedByRounding(SdfgadError):
    """Data decides a length, by its last digits: two compiled programs, rounded otherwise, have found two of them."""


class TooFewSlots(SdfgadError):
    """A compiled program was passed fewer slots than it needs; it has released what it held. Users never see this."""


class InvalidProgram(SdfgadError, AssertionError):
    """A program of sdfgad's own is none, or breaks what it promises: an error of sdfgad, not of the user's."""


class InfeasibleBudget(SdfgadError):
    """No plan keeps the memory limit.

    Attributes:
        minimum_bytes: the smallest limit that is known to be kept: it works, and every smaller one is refused.
        largest: of the largest values that are stored for the reverse sweep: name, bytes, and the line that makes it.
    """

    def __init__(
        self, what: str, minimum_bytes: int, todo: str = "", largest: Sequence[tuple[str, int, str]] = ()
    ) -> None:
        self.minimum_bytes, self.largest = minimum_bytes, tuple(largest)
        super().__init__(what, todo=todo)
