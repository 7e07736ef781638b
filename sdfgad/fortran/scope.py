"""Scopes: what the names of a routine and of its module stand for."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sdfgad.errors import UnsupportedProgram
from sdfgad.fortran.kinds import INTEGER, REAL, Kind
from sdfgad.fortran.syntax import File
from sdfgad.fortran.values import Value

IMPLICIT: Mapping[str, Kind] = {c: INTEGER if c in "ijklmn" else REAL for c in "abcdefghijklmnopqrstuvwxyz"}
# Names that generated text has a use for.
TAKEN = frozenset({"np", "math", *dir(builtins), *keyword.kwlist})


@dataclass(frozen=True)
class Dim:
    """One declared axis: its bounds, None where it takes them from what is passed or allocated.

    Attributes:
        lower, upper: nodes of expressions; of an axis without a lower bound that is 1.
        is_open: whether its size is that of what is passed, ``a(:)`` or ``a(*)``; `is_rest`: the latter.
    """

    lower: Any = None
    upper: Any = None
    is_open: bool = False
    is_rest: bool = False


@dataclass
class Variable:
    """A declared name, or one that is typed by its first letter."""

    name: str
    kind: Kind
    node: Any
    dims: tuple[Dim, ...] = ()
    intent: str = ""
    is_dummy: bool = False
    is_optional: bool = False
    # Whether it is a copy of what is passed.
    is_value: bool = False
    is_allocatable: bool = False
    # Whether an `allocate` names it, and whether `allocated` does.
    is_allocated: bool = False
    is_asked: bool = False
    # Whether it keeps its value from call to call.
    is_kept: bool = False
    # Of a named constant, and of a constant that is an array: its elements by NumPy.
    value: Value | None = None

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def takes_elements(self) -> bool:
        """Whether an element may be passed for it, from which on it takes those that follow in memory."""
        return self.rank == 1 and (self.dims[0].is_rest or not self.dims[0].is_open)

    @property
    def text(self) -> str:
        """Its name in generated text."""
        return f"__{self.name}" if self.name in TAKEN else self.name


@dataclass
class Scope:
    """The names of a module or a routine, and those around it.

    Attributes:
        file: where it stands.
        around: the scope of the module, if it is in one.
        hidden: names of a host routine, which a routine in it may not use here.
        implicit: the types of names without a declaration; None after ``implicit none``.
        assigned: what is assigned anywhere in the routine.
        unread: names of a module whose declarations are not supported, with what is raised where one is used.
    """

    file: File
    around: Scope | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    procedures: dict[str, Any] = field(default_factory=dict)
    imported: dict[str, tuple[Scope, str]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    implicit: Mapping[str, Kind] | None = field(default_factory=lambda: IMPLICIT)
    is_module: bool = False
    assigned: frozenset[str] = frozenset()
    unread: dict[str, UnsupportedProgram] = field(default_factory=dict)

    def variable(self, name: str) -> tuple[Scope, Variable] | None:
        """The variable or constant of a name, with the scope that declares it."""
        if name in self.variables:
            return self, self.variables[name]
        if name in self.imported:
            scope, original = self.imported[name]
            return scope.variable(original)
        if name in self.unread:
            raise self.unread[name]
        return None if self.around is None or name in self.hidden else self.around.variable(name)

    def procedure(self, name: str) -> Any | None:
        """The routine of a name."""
        if name in self.procedures:
            return self.procedures[name]
        if name in self.imported:
            scope, original = self.imported[name]
            return scope.procedure(original)
        return None if self.around is None else self.around.procedure(name)

    def refuse(self, node: Any, what: str, todo: str) -> NoReturn:
        self.file.refuse(node, what, todo)
