"""Activation frame: the state of one call of a function while it is parsed.

The parsers of statements and expressions call the frame for nested ones, so they need not import each other.
`interpreter.py` implements the dispatch.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import Location, UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.source import Source
from sdfgad.parse.values import UNDEFINED, Holder, Tensor

# The name of the dict of a frame's closure cells.
CELLS = "<cells>"


@dataclass(frozen=True)
class Return:
    """A return statement was reached."""

    value: Any
    where: Location | None


class Frame(Holder, ABC):
    """One call of one function: its source and its local names.

    `is_definition`: the function is a definition of `parse.library`; errors in it name the user's line that called it.
    """

    def __init__(
        self, b: Builder, source: Source, env: dict[str, Any], depth: int = 0, is_definition: bool = False
    ) -> None:
        self.b, self.source, self.env, self.depth, self.is_definition = b, source, env, depth, is_definition
        # The frame that calls this function, and that in which it is defined, if it is a nested one.
        self.caller: Frame | None = None
        self.lexical: Frame | None = None
        # The call there whose value is what this function returns; None of one that is called on the way.
        self.call_node: ast.AST | None = None
        # The frame in which `:=` binds names: for a comprehension, that of the function around it.
        self.scope: Frame = self
        self.loops: list[ast.stmt] = []
        # The names that were read where only some paths had bound them, which a check at run time allows.
        self.checked_names: set[str] = set()
        # Loops around whose trips are parsed one by one: those that are unrolled or peeled.
        self.repeated: list[ast.stmt] = []
        # What the loops around the present statement go over.
        self.iterables: list[Any] = []
        # How many blocks are open where the user's line calls the outermost definition.
        self.entered = len(b.blocks)
        # Buffers from before the call, which names of the caller may refer to.
        self.caller_buffers = frozenset(b.buffers)
        # What has been evaluated of the expressions under way, operands of calls for one.
        self.operands: list[Any] = []
        # Those of the caller's buffers to which something without a name may refer: half of a list that is made, say.
        self.foreign = self.caller_buffers
        # The call whose function is next inlined at once, not by what goes over items, say.
        self.direct: ast.Call | None = None

    @property
    def held(self) -> Iterable[Any]:
        return (*self.env.values(), *self.iterables, self.caller, self.lexical)

    @abstractmethod
    def block(self, statements: list[ast.stmt]) -> Return | None:
        """Parse statements, up to one that certainly returns."""

    @abstractmethod
    def statement(self, node: ast.stmt) -> Return | None:
        """Parse one statement by itself."""

    @abstractmethod
    def reported(self, node: ast.stmt) -> AbstractContextManager[None]:
        """Within it, what fails is an error of a statement."""

    @abstractmethod
    def eval(self, node: ast.expr) -> Any:
        """The value of an expression."""

    @abstractmethod
    def chosen(self, condition: Tensor, arms: tuple[Callable[[], Any], Callable[[], Any]], join: Any) -> Any:
        """Parse two expressions, of which a condition at run time chooses one; what `join` makes of their values."""

    @property
    def around(self) -> list[ast.stmt]:
        """All loops around the present statement: their next trips may read what it binds."""
        return [*self.loops, *self.repeated]

    @contextmanager
    def holding(self, operands: list[Any]) -> Iterator[None]:
        """Within it, these are operands of an expression whose evaluation is under way."""
        self.operands.append(operands)
        try:
            yield
        finally:
            self.operands.pop()

    @contextmanager
    def repeating(self, loop: ast.stmt) -> Iterator[None]:
        """Within it, one trip of a loop is parsed, which others may follow."""
        self.repeated.append(loop)
        try:
            yield
        finally:
            self.repeated.pop()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """As `Logs.going_on`; the loops in the statement are left."""
        depth = len(self.loops)
        with self.b.logs.going_on():
            yield
        del self.loops[depth:]

    def open_cells(self) -> None:
        """Closure cells: keep the names that nested functions bind in a dict, whose items loops and branches carry."""
        if not self.source.cells:
            return
        cells = {name: self.env.pop(name) for name in self.source.cells if name in self.env}
        self.b.contents.add(cells, len(self.b.blocks))
        self.env[CELLS] = cells

    def cells_of(self, name: str) -> dict[str, Any] | None:
        """The dict in which a name is kept that nested functions bind, or a global one; None for another name."""
        frame: Frame | None = self.scope
        if name in self.source.globals:
            return self.b.namespaces.get(id(self.source.namespace))
        if name in self.source.nonlocals:
            frame = self.scope.lexical
            while frame is not None and name not in frame.source.cells:
                frame = frame.lexical
        elif name not in self.source.cells:
            return None
        return None if frame is None else frame.scope.env.get(CELLS)

    @abstractmethod
    def call(
        self,
        node: ast.AST,
        function: Any,
        positional: list[Any],
        keywords: dict[str, Any],
        is_definition: bool = False,
    ) -> Any:
        """The value of a call of a function of the user."""

    def run(self) -> Any:
        """The function's return value; None where it returns nothing."""
        return _returned(self.returned())

    def returned(self) -> Any:
        """What the function returns, where parts of it may be undefined."""
        self.open_cells()
        result = self.block(self.source.body)
        return None if result is None else result.value

    def inner(self, source: Source, env: dict[str, Any], depth: int, is_definition: bool) -> Frame:
        """A new frame, of the same class, for a function that is called here."""
        made = type(self)(self.b, source, env, depth, is_definition)
        if self.is_definition:
            made.entered = self.entered
        return made

    def unsupported(self, node: ast.AST, what: str, todo: str) -> UnsupportedProgram:
        return UnsupportedProgram(what, self.where(node), todo)

    def where(self, node: ast.AST) -> Location | None:
        """The user's line that errors about a node name."""
        return self.b.where if self.is_definition else self.source.where(node)


def _returned(value: Any) -> Any:
    """The value that a function returns; None where no ``return`` was reached."""
    if isinstance(value, tuple) and any(part is UNDEFINED for part in value):
        return None
    return None if value is UNDEFINED else value
