"""Scopes: what the names of a routine and of its module stand for."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sdfgad.errors import UnsupportedProgram
from sdfgad.fortran.kinds import INTEGER, INTRINSIC_MODULES, REAL, Kind
from sdfgad.fortran.syntax import File
from sdfgad.fortran.values import Value, constant

IMPLICIT: Mapping[str, Kind] = {c: INTEGER if c in "ijklmn" else REAL for c in "abcdefghijklmnopqrstuvwxyz"}
# Names that generated text has a use for.
TAKEN = frozenset({"np", "math", *dir(builtins), *keyword.kwlist})


@dataclass(frozen=True)
class Dim:
    """One declared axis: its bounds, None where it takes them from what is passed or allocated.

    Attributes:
        lower, upper: nodes of expressions; of an axis without a lower bound that is 1.
        is_open: whether its size is that of what is passed, ``a(:)`` or ``a(*)``; `is_rest`: the latter.
        home: the scope whose names the bounds have.
    """

    lower: Any = None
    upper: Any = None
    is_open: bool = False
    is_rest: bool = False
    home: Scope | None = None

    @property
    def low(self) -> str:
        """The text of the lower bound."""
        return "1" if self.lower is None else str(self.lower).replace(" ", "").lower()


@dataclass(eq=False)
class Variable:
    """A declared name, one that is typed by its first letter, or a component of such a variable, ``g%u``.

    Attributes:
        parts: of a derived type, its components, whose axes are their own and then those of the variable.
        type_of: the derived type.
        initial: what it has at first, as constants are given.
        scope: what declares it.
        label: its name in generated text, where that is another one.
    """

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
    # Whether it is a pointer, which is allocatable, too.
    is_pointer: bool = False
    # Whether an `allocate` names it, and whether `allocated` does.
    is_allocated: bool = False
    is_asked: bool = False
    # Whether it keeps its value from call to call: a variable of a module, or one with an initial value.
    is_kept: bool = False
    # What a routine does with a variable: it uses it, changes it, gives it other storage, or lends it to one in it.
    is_used: bool = False
    is_changed: bool = False
    is_rebound: bool = False
    is_lent: bool = False
    # Of a named constant, and of a constant that is an array: its elements by NumPy.
    value: Value | None = None
    initial: Value | None = None
    scope: Scope | None = None
    label: str = ""
    type_of: Any = None
    parts: dict[str, Variable] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def takes_elements(self) -> bool:
        """Whether an element may be passed for it, from which on it takes those that follow in memory."""
        return self.rank == 1 and (self.dims[0].is_rest or not self.dims[0].is_open)

    @property
    def text(self) -> str:
        """Its name in generated text: ``g__u`` for ``g%u``."""
        text = "__".join(one.replace("__", "__0") for one in self.name.split("%"))
        return self.label or (f"__{text}" if text in TAKEN else text)

    @property
    def leaves(self) -> list[Variable]:
        """What it consists of: of a derived type, the numbers and arrays in it."""
        return [leaf for part in self.parts.values() for leaf in part.leaves] if self.parts else [self]


@dataclass(eq=False)
class Scope:
    """The names of a module or a routine, and those around it.

    Attributes:
        file: where it stands.
        around: the scope of the module, if it is in one.
        name: of the module or routine.
        types: derived types; `generics`: names that stand for one of several routines.
        formulas: statement functions, their arguments and expressions.
        implicit: the types of names without a declaration; None after ``implicit none``.
        keeps_all: whether all variables of a routine keep their values from call to call.
        aliases: of a scope within a routine, what names stand for there, as designators.
        assigned: what is assigned anywhere in the routine; `mentioned`: the names in its own statements.
        unread: names of a module whose declarations are not supported, with what is raised where one is used.
    """

    file: File
    around: Scope | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    procedures: dict[str, Any] = field(default_factory=dict)
    imported: dict[str, tuple[Scope, str]] = field(default_factory=dict)
    name: str = ""
    types: dict[str, Any] = field(default_factory=dict)
    generics: dict[str, list[str]] = field(default_factory=dict)
    formulas: dict[str, tuple[list[str], Any]] = field(default_factory=dict)
    implicit: Mapping[str, Kind] | None = field(default_factory=lambda: IMPLICIT)
    is_module: bool = False
    is_inner: bool = False
    keeps_all: bool = False
    aliases: dict[str, Any] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    unread: dict[str, UnsupportedProgram] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """What `use` of it makes known."""
        return {*self.variables, *self.procedures, *self.generics, *self.types, *self.imported, *self.unread}

    def variable(self, name: str) -> tuple[Scope, Variable] | None:
        """The variable or constant of a name, with the scope that declares it."""
        if name in self.variables:
            return self, self.variables[name]
        if name in self.imported:
            scope, original = self.imported[name]
            return scope.variable(original)
        if name in self.unread:
            raise self.unread[name]
        if self.around is None or any(
            name in one for one in (self.procedures, self.generics, self.formulas, self.types)
        ):
            # A routine hides a variable of its name further out.
            return None
        return self.around.variable(name)

    def alias(self, name: str) -> Any | None:
        """What a name stands for within a routine."""
        if name in self.aliases or name in self.variables or self.around is None:
            return self.aliases.get(name)
        return self.around.alias(name) if self.is_inner else None

    def type_named(self, name: str) -> Any | None:
        """The derived type of a name."""
        if name in self.types:
            return self.types[name]
        if name in self.imported:
            scope, original = self.imported[name]
            return scope.type_named(original)
        if name in self.unread:
            raise self.unread[name]
        return None if self.around is None else self.around.type_named(name)

    def procedure(self, name: str) -> Any | None:
        """The routine of a name."""
        found = self._found("procedures", name)
        return None if found is None else found[1]

    def formula(self, name: str) -> tuple[Scope, tuple[list[str], Any]] | None:
        """The statement function of a name, with the scope of the names in it."""
        return self._found("formulas", name)

    def inside(self) -> Scope:
        """A scope for the names of a part of a routine."""
        return Scope(self.file, self, name=self.name, implicit=self.implicit, is_inner=True, assigned=self.assigned)

    def candidates(self, name: str) -> list[Any]:
        """The routines that a name may stand for."""
        found = self._found("generics", name)
        names = [] if found is None else [found[0].procedure(one) for one in found[1]]
        return [one for one in (*names, self.procedure(name)) if one is not None]

    def _found(self, table: str, name: str) -> tuple[Scope, Any] | None:
        """What a name is in a table of this scope, of one that it uses, or of one around it; and in which."""
        own = getattr(self, table)
        if name in own:
            return self, own[name]
        if name in self.imported:
            scope, original = self.imported[name]
            return scope._found(table, original)
        return None if self.around is None else self.around._found(table, name)

    def refuse(self, node: Any, what: str, todo: str) -> NoReturn:
        self.file.refuse(node, what, todo)


def intrinsic_module(file: File, name: str, node: Any) -> Scope:
    """A module of the language itself, of which kinds and units are known."""
    scope = Scope(file, name=name, is_module=True)
    for key, size in INTRINSIC_MODULES[name].items():
        scope.variables[key] = Variable(key, INTEGER, node, value=constant(size, INTEGER), scope=scope)
    return scope
