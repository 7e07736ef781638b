"""Statement emission: the blocks and checks of a program under construction, and proofs about its integers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.dependence.sets import Domain
from sdfgad.errors import (
    ArgumentError,
    DecidedByRounding,
    InvalidIndex,
    Location,
    ProgramRaises,
    PythonRaises,
    SdfgadError,
    ShapeMismatch,
    SingularMatrix,
    UnboundVariable,
)
from sdfgad.ir.expr import INT, Const, Expr, IntLike, Lin, Op, as_linear, reads
from sdfgad.ir.program import FIRST_CHECK, Access, Branch, Buffer, Check, Compute, Loop, Statement
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.values import Index, shape_text

STATUS = "status"


@dataclass(frozen=True)
class Decision:
    """A side of a branch that is being parsed.

    Attributes:
        depth: how many blocks are open in it.
        symbols: the run-time integers and counters that decide the branch, none where data does.
        holds: what is true on this side.
        where: the line of the condition.
    """

    depth: int
    symbols: set[str]
    holds: Expr
    where: Location | None


@dataclass(frozen=True)
class Guard:
    """A ``try`` whose body is being parsed.

    Attributes:
        depth: how many blocks are open around it.
        groups: for each handler, the classes that it catches.
        frame, node: where it is.
    """

    depth: int
    groups: tuple[tuple[type, ...], ...]
    frame: Any
    node: ast.Try

    @property
    def kinds(self) -> tuple[type, ...]:
        """What its handlers catch."""
        return tuple(kind for group in self.groups for kind in group)


@dataclass(frozen=True)
class Hazard:
    """What may raise at run time in Python: the exceptions, a sentence about it, the line, and what it depends on.

    Attributes:
        is_checked: whether the compiled program raises there, too.
    """

    kinds: tuple[type[BaseException], ...]
    what: str
    where: Location | None
    symbols: frozenset[str]
    is_checked: bool


Params = tuple[tuple[str, Lin], ...]


@dataclass
class Collected:
    """The conditions, each everywhere in a box, under which statements of a block do not raise a class."""

    kind: type[BaseException]
    depth: int
    conditions: list[tuple[Expr, Params]] = field(default_factory=list)


def exception_of(error: SdfgadError) -> BaseException | None:
    """What Python certainly raises where the parser raises an error; None for what is only not supported."""
    if isinstance(error, (PythonRaises, ProgramRaises)):
        return error.exception
    if isinstance(error, UnboundVariable):
        return NameError(RunTimeText(error.what)) if error.is_certain else None
    for kind, python in ((ShapeMismatch, ValueError), (InvalidIndex, IndexError), (ArgumentError, TypeError)):
        if isinstance(error, kind):
            # The text is not NumPy's.
            return python(RunTimeText(error.what))
    return None


HANDLED = "In Python `except` goes on; compiled code cannot: test for it by an `if` before."


def python_kind(error: type[SdfgadError]) -> type[BaseException]:
    """The exception that Python raises where a check of the program fails."""
    return next(cls for cls in error.__mro__ if not issubclass(cls, SdfgadError))  # type: ignore[return-value]


class Emitter:
    """The insertion point of statements, and the integer constraints that hold there.

    Attributes:
        integers: run-time integer symbols -> their values in the call that the program is parsed for.
        context: the values of `integers` for which the program holds; shrinks as facts are assumed.
        domain: constraints of the loop counters at the insertion point.
        where: the user's line that is being parsed.
    """

    def __init__(self, integers: dict[str, int]) -> None:
        self.integers = integers
        names = ", ".join(integers)
        self.context = isl.Set(f"[{names}] -> {{ : }}")
        self._values = isl.Set(f"[{names}] -> {{ : {' and '.join(f'{n} = {v}' for n, v in integers.items())} }}")
        self.buffers: dict[str, Buffer] = {}
        self.domain = Domain()
        self.where: Location | None = None
        self.checks: list[Check] = []
        self.blocks: list[list[Statement]] = [[]]
        # The loops around the current statement: the depth of the body, the counter and the trip count of each.
        self.loops: list[tuple[int, str, Lin]] = []
        # The branches around the present statement, from the outermost one.
        self.decisions: list[Decision] = []
        # The bodies of ``try`` around it, what its handlers handle, and all that may raise at run time so far.
        self.tries: list[Guard] = []
        self.handling: list[SdfgadError] = []
        self.hazards: list[Hazard] = []
        # What the operations that are evaluated do with what they may raise, and of classes that are not raised the
        # conditions under which they are not.
        self.operations: list[Callable[[Sequence[type[BaseException]]], bool]] = []
        self.collected: list[Collected] = []
        # Whether compiled code may raise where a handler would run, and whether there is something of the kind.
        self.raises_instead, self.needs_handler = False, False
        # What the program has asked NumPy to raise, which compiled code does not -> by what it has asked.
        self.unraised: dict[type[Exception], str] = {}
        # Whether negative indices count from the end, and sections end where their array does, as in Python.
        self.counts_back = True

    # --- statements

    def emit(self, statement: Statement) -> None:
        self.blocks[-1].append(statement)

    def learn(self, *forms: Lin) -> None:
        """Take forms as >= 0 until the end of the present block."""
        self.domain = self.domain.with_form(*forms)

    @contextmanager
    def block(self, *forms: Lin) -> Iterator[list[Statement]]:
        """Statements emitted inside go to the yielded list; `forms` >= 0 hold there."""
        outer, body = self.domain, list[Statement]()
        self.domain = outer.with_form(*forms)
        self.blocks.append(body)
        try:
            yield body
        except SdfgadError as error:
            raise (self.caught_outside(error) or error) from error.__cause__
        finally:
            if self.blocks and self.blocks[-1] is body:
                self.blocks.pop()
            self.domain = outer

    @contextmanager
    def at_depth(self, depth: int) -> Iterator[None]:
        """Statements emitted inside go before the loops and branches around from the block of a depth on."""
        inner, loops = self.blocks[depth:], self.loops
        del self.blocks[depth:]
        self.loops = [loop for loop in loops if loop[0] <= depth]
        try:
            yield
        finally:
            self.blocks += inner
            self.loops = loops

    @contextmanager
    def indexed(self, counts_back: bool) -> Iterator[None]:
        """Indices inside are those of a source of which `counts_back` holds."""
        outer, self.counts_back = self.counts_back, counts_back
        try:
            yield
        finally:
            self.counts_back = outer

    def symbols_here(self) -> set[str]:
        """The run-time integers, and counters of loops, on which it depends whether the program comes here."""
        return {s for form in self.domain.forms for s in form.symbols} | {var for _, var, _ in self.loops}

    def caught_outside(self, error: SdfgadError) -> NeedsConstant | None:
        """What to raise instead of an exception that a handler outside this block would catch: it is not certain."""
        raised, depth = exception_of(error), len(self.blocks)
        if raised is None or not any(guard.depth < depth and isinstance(raised, guard.kinds) for guard in self.tries):
            return None
        if any(guard.depth == depth and isinstance(raised, guard.kinds) for guard in self.tries):
            return None
        name = type(raised).__name__
        what = f"{name} may be raised here, in a loop or branch that is decided at run time: no `except` can catch it"
        return NeedsConstant(self.symbols_here(), error.where, what, "Test for it by an `if` instead of the `try`.")

    def catches(self, kind: type[BaseException]) -> bool:
        """Whether a handler around the present statement catches exceptions of a class."""
        return any(issubclass(kind, guard.kinds) for guard in self.tries)

    def may_raise(
        self, what: str, *kinds: type[BaseException], symbols: Iterable[str] = (), unless: Expr | None = None
    ) -> None:
        """Record that Python may raise at run time; a handler that would catch that is refused.

        Args:
            symbols: run-time integers on which it depends, besides those by which the program comes here.
            unless: where this holds, it does not; so the compiled program may raise where the handler would run.
        """
        if not self.tries or self._is_collected(kinds, unless):
            return
        if unless is not None and not symbols and self._require_test(kinds):
            return
        is_caught = any(map(self.catches, kinds))
        if self.raises_instead and is_caught and unless is not None:
            self.check(unless, (), what, ProgramRaises, HANDLED, kinds)
        else:
            self._note(what, kinds, frozenset(symbols), is_checked=False)

    # --- operations that raise, as values

    @contextmanager
    def collecting(self, kind: type[BaseException]) -> Iterator[list[tuple[Expr, Params]]]:
        """The conditions under which operations inside do not raise a class; they are not checked."""
        self.collected.append(Collected(kind, len(self.blocks)))
        try:
            yield self.collected[-1].conditions
        finally:
            self.collected.pop()

    @contextmanager
    def outside_operations(self) -> Iterator[None]:
        """What functions of the user do is no part of the operations from which they are called."""
        operations, collected = self.operations, self.collected
        self.operations, self.collected = [], []
        try:
            yield
        finally:
            self.operations, self.collected = operations, collected

    def _is_collected(self, kinds: Sequence[type[BaseException]], condition: Expr | None, box: Params = ()) -> bool:
        found = next((one for one in self.collected if one.kind in kinds and one.depth == len(self.blocks)), None)
        if found is None or condition is None:
            return False
        found.conditions.append((condition, box))
        return True

    def _require_test(self, kinds: Sequence[type[BaseException]]) -> bool:
        """Have the operation that is evaluated be tested, if a handler catches what it raises; whether it will be."""
        return bool(self.operations) and any(map(self.catches, kinds)) and self.operations[-1](kinds)

    def _note(
        self, what: str, kinds: tuple[type[BaseException], ...], symbols: frozenset[str], is_checked: bool
    ) -> None:
        if self.tries:
            self.hazards.append(Hazard(kinds, what, self.where, frozenset(self.symbols_here()) | symbols, is_checked))

    def loop(self, var: str, trips: Lin, guards: tuple[Lin, ...], body: list[Statement], is_open: bool = False) -> None:
        self.emit(Loop(var, trips, tuple(body), guards, where=self.where, is_open=is_open))

    def branch(self, condition: Expr, then: list[Statement], orelse: list[Statement], guards: tuple[Lin, ...]) -> None:
        if then or orelse:
            self.emit(Branch(condition, tuple(then), tuple(orelse), guards, self.where))

    # --- checks

    def check(
        self,
        condition: Expr,
        box: tuple[tuple[str, Lin], ...],
        message: str,
        error: type[SdfgadError] = InvalidIndex,
        todo: str = "NumPy raises IndexError here, too.",
        kinds: tuple[type[BaseException], ...] = (),
    ) -> None:
        """Emit a run-time check: an error at the current line if `condition` is false anywhere in the box.

        A handler around it is refused: with constants it may be decided while parsing whether it runs. Of matrices it
        never is, so that the error itself says where Python goes on.

        Args:
            kinds: the classes that Python raises; by default those that `error` stands for.
        """
        if self.tries and not issubclass(error, DecidedByRounding):
            caught = kinds or (python_kind(error),)
            if self._is_collected(caught, condition, box):
                return
            if issubclass(error, SingularMatrix):
                self._require_test(caught)
        if not issubclass(error, (DecidedByRounding, SingularMatrix)):
            kinds = kinds or (python_kind(error),)
            self._note(message, kinds, frozenset(as_linear(condition).symbols), is_checked=True)
            todo = HANDLED if self.raises_instead and any(map(self.catches, kinds)) else todo
        elif self.catches(np.linalg.LinAlgError):
            todo = HANDLED
        self.emit_check(Check(error, message, self.where, todo), condition, box)

    def emit_check(
        self, check: Check, condition: Expr, box: tuple[tuple[str, Lin], ...], count: Expr | None = None
    ) -> None:
        """Emit a check, and where it fails report a count, in units of `SLOTS`."""
        if STATUS not in self.buffers:
            self.buffers[STATUS] = Buffer(STATUS, (), INT)
        self.checks.append(check)
        # The maximum of the codes is that of the first check that fails.
        code: Expr = Const(FIRST_CHECK - len(self.checks), INT)
        code = code if count is None else Op("add", (code, count), INT)
        code = Op("select", (condition, Const(0, INT), code), INT)
        self.emit(Compute(box, Access(STATUS), code, "maximum", self.where))

    def check_size(self, shape: Index, itemsize: int = 1) -> None:
        """Refuse an array whose elements, or bytes, are too many for an int64, as NumPy does.

        Raises:
            ShapeMismatch: they are.
        """
        sizes = [extent.const for extent in shape if extent.is_const]
        if itemsize * math.prod(sizes) >= 2**63:
            raise ShapeMismatch(
                f"an array of shape {shape_text(shape)} has too many elements for a 64-bit computer",
                self.where,
                "Make the array smaller; NumPy raises here, too.",
            )

    # --- integers

    def holds(self, form: IntLike) -> bool:
        """Whether `form` >= 0 here; may restrict `context`, but never so that it excludes the present call."""
        form = Lin.of(form)
        if form.is_const or self.domain.implies(form):
            return form.const >= 0 if form.is_const else True
        if not self.integers:
            return False
        bad = self.domain.parameters_violating(form, tuple(self.integers)) & self.context
        if bad.is_empty():
            return True
        if not (bad & self._values).is_empty():
            return False
        self.context = (self.context - bad).coalesce()
        return True

    def is_zero(self, form: IntLike) -> bool:
        form = Lin.of(form)
        return form.const == 0 if form.is_const else self.holds(form) and self.holds(-form)

    def largest(self, form: Lin) -> int:
        """The largest value of `form` here, at least 0.

        Raises:
            NeedsConstant: it is unbounded, so the symbols that it depends on must become constants.
        """
        bound = self.domain.maximum(form, self.context)
        if bound is None:
            raise NeedsConstant(self.symbols_behind(form.symbols), self.where)
        return max(bound, 0)

    def deciders(self, condition: Expr) -> set[str]:
        """The run-time integers and counters that decide a condition; none where data does."""
        return set() if reads(condition) else self.symbols_behind(condition.symbols)

    def symbols_behind(self, symbols: Iterable[str]) -> set[str]:
        """The run-time integers on which loop counters and others of them depend, or the counters if on none."""
        found = set(symbols)
        while True:
            linked = {s for f in self.domain.forms if f.symbols & found for s in f.symbols}
            if linked <= found:
                break
            found |= linked
        return (found & set(self.integers)) or found
