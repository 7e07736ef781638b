"""Program units: the modules and routines of some files, and what they use of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.errors import ArgumentError
from sdfgad.fortran.declarations import kind_of, read_declarations
from sdfgad.fortran.kinds import INTEGER, INTRINSIC_MODULES
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.syntax import File, listed, name_of, names_in, walk
from sdfgad.fortran.values import constant

ROUTINES = (f03.Subroutine_Subprogram, f03.Function_Subprogram)
PASS_FILES = 'Pass all files that are needed: differentiate(["constants.f90", "model.f90"], ...).'


@dataclass(eq=False)
class Routine:
    """A subroutine or function.

    Attributes:
        name, node, file: what it is called, its tree, and where it stands.
        host: the scope around it: of its module, or of the routine that it is in.
    """

    name: str
    node: Any
    file: File
    host: Scope | None
    library: Library
    is_internal: bool = False

    @property
    def head(self) -> Any:
        return self.node.children[0]

    @property
    def is_elemental(self) -> bool:
        """Whether it may be called with arrays for numbers, element by element."""
        return "ELEMENTAL" in str(self.head.children[0] or "").upper()

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, f03.Function_Subprogram)

    def part(self, kind: type) -> Any:
        return next((one for one in self.node.children if isinstance(one, kind)), None)

    @cached_property
    def result(self) -> str:
        """The name of a function's result; "" of a subroutine."""
        if not self.is_function:
            return ""
        suffix = self.head.children[3]
        names = [name_of(one) for one in walk(suffix) if isinstance(one, f03.Name)] if suffix is not None else []
        return names[0] if names else self.name

    @cached_property
    def scope(self) -> Scope:
        """The names that it declares.

        Raises:
            UnsupportedProgram: a declaration is not supported.
        """
        scope = Scope(self.file, self.host, hidden=self._hidden())
        if self.host is not None:
            scope.implicit = self.host.implicit
        internal = self.part(f03.Internal_Subprogram_Part)
        for one in getattr(internal, "children", ()):
            if isinstance(one, ROUTINES):
                inner = Routine(_routine_name(one), one, self.file, scope, self.library, is_internal=True)
                scope.procedures[inner.name] = inner
        part = self.part(f03.Specification_Part)
        self.library.use(scope, part)
        prefix = self.head.children[0]
        dummies = [name_of(one) for one in listed(self.head.children[2])]
        read_declarations(scope, part)
        for one in walk(prefix) if self.is_function and prefix is not None else ():
            if isinstance(one, f03.Intrinsic_Type_Spec):
                scope.variables[self.result] = Variable(self.result, kind_of(scope, one), self.head)
        self._complete(scope, dummies)
        return scope

    def _hidden(self) -> frozenset[str]:
        """What the host routine declares, which no argument passes."""
        if not self.is_internal or self.host is None:
            return frozenset()
        return frozenset(name for name, one in self.host.variables.items() if one.value is None)

    def _complete(self, scope: Scope, dummies: list[str]) -> None:
        for name in (*dummies, *([self.result] if self.result else ())):
            if name == "*":
                scope.refuse(self.head, "a label as an argument is not supported", "Return an integer that says so.")
            if name not in scope.variables:
                kind = (scope.implicit or {}).get(name[0])
                if kind is None:
                    scope.refuse(self.head, f"the argument `{name}` is not declared", "Declare its type.")
                scope.variables[name] = Variable(name, kind, self.head)
        for name in dummies:
            scope.variables[name].is_dummy = True
        body = self.part(f03.Execution_Part)
        scope.assigned = frozenset(_assigned(body))
        for variable in scope.variables.values():
            if variable.is_kept:
                what = f"`{variable.name}` has an initial value, so that it keeps what it has from call to call"
                scope.refuse(variable.node, what, "Make it a parameter, or assign the value at the start.")

    @cached_property
    def dummies(self) -> list[Variable]:
        return [self.scope.variables[name_of(one)] for one in listed(self.head.children[2])]

    @cached_property
    def changed(self) -> frozenset[str]:
        """The arguments that it may change: by their intent, or by what it assigns and passes on."""
        body = self.part(f03.Execution_Part)
        loose = {one.name for one in self.dummies if not one.intent and not one.is_value}
        found = {one.name for one in self.dummies if one.intent in ("out", "inout")}
        return frozenset(found | (loose & (_assigned(body, False) | self._passed_on(body))))

    def _passed_on(self, body: Any) -> set[str]:
        """What is an argument of a subroutine that may change it."""
        found: set[str] = set()
        for call in (one for one in walk(body) if isinstance(one, f03.Call_Stmt)) if body is not None else ():
            other = self.scope.procedure(name_of(call.children[0]))
            changes = other is None or other is self or bool(other.changed)
            found |= names_in(call.children[1]) if changes and call.children[1] is not None else set()
        return found


@dataclass(eq=False)
class Library:
    """What some files define.

    Attributes:
        modules: name -> scope, read when it is first used.
        routines: those that are in no module.
    """

    files: list[File]
    routines: dict[str, Routine] = field(default_factory=dict)
    _units: dict[str, tuple[Any, File]] = field(default_factory=dict)
    _modules: dict[str, Scope] = field(default_factory=dict)

    @staticmethod
    def of(files: Iterable[File]) -> Library:
        """Raises: UnsupportedProgram, where a file is no Fortran."""
        library = Library(list(files))
        for file in library.files:
            for unit in file.tree().children:
                library._enter(unit, file)
        for routine in library.routines.values():
            if routine.host is not None:
                routine.host.procedures |= library.routines
        return library

    def _enter(self, unit: Any, file: File) -> None:
        if isinstance(unit, f03.Module):
            self._units[name_of(unit.children[0].children[1])] = unit, file
        elif isinstance(unit, ROUTINES):
            name = _routine_name(unit)
            self.routines[name] = Routine(name, unit, file, Scope(file), self)

    def find(self, name: str) -> Routine:
        """The routine of a name, in a module or in none.

        Raises:
            ArgumentError: there is none, or there are several.
        """
        wanted = name.lower()
        found = [one for key, one in self.routines.items() if key == wanted]
        found += [scope.procedures[wanted] for scope in map(self.module, self._units) if wanted in scope.procedures]
        if len(found) == 1:
            return found[0]
        known = [*self.routines, *(n for m in self._units for n in self.module(m).procedures)]
        what = f"there is no routine `{name}`" if not found else f"there are {len(found)} routines `{name}`"
        raise ArgumentError(what, todo=f"The files have: {', '.join(known) or 'none'}.")

    def module(self, name: str) -> Scope:
        """The scope of a module."""
        if name not in self._modules:
            unit, file = self._units[name]
            scope = self._modules[name] = Scope(file, is_module=True)
            part = next((one for one in unit.children if isinstance(one, f03.Specification_Part)), None)
            self.use(scope, part)
            read_declarations(scope, part)
            inner = next((one for one in unit.children if isinstance(one, f03.Module_Subprogram_Part)), None)
            for one in getattr(inner, "children", ()):
                if isinstance(one, ROUTINES):
                    routine = Routine(_routine_name(one), one, file, scope, self)
                    scope.procedures[routine.name] = routine
        return self._modules[name]

    def use(self, scope: Scope, part: Any) -> None:
        """Import what `use` statements name.

        Raises:
            UnsupportedProgram: a module is in none of the files.
        """
        for statement in getattr(part, "children", ()):
            if isinstance(statement, f03.Use_Stmt):
                self._use(scope, statement)

    def _use(self, scope: Scope, node: Any) -> None:
        name = name_of(node.children[2])
        if name in self._units:
            source = self.module(name)
        elif name in INTRINSIC_MODULES:
            source = _intrinsic_module(scope.file, name, node)
        else:
            scope.refuse(node, f"the module `{name}` is in none of the files", PASS_FILES)
        entries = listed(node.children[4])
        renamed = {name_of(one.children[1]): name_of(one.children[2]) for one in entries if isinstance(one, f03.Rename)}
        plain = {name_of(one): name_of(one) for one in entries if not isinstance(one, f03.Rename)}
        if "ONLY" not in str(node.children[3]).upper():
            known = {*source.variables, *source.procedures, *source.imported, *source.unread} - {*renamed.values()}
            plain |= {one: one for one in known}
        for local, original in (plain | renamed).items():
            if original in source.unread and original not in source.procedures:
                scope.unread[local] = source.unread[original]
                continue
            if source.variable(original) is None and source.procedure(original) is None:
                scope.refuse(node, f"the module `{name}` has no `{original}` that is supported", PASS_FILES)
            scope.imported[local] = source, original


def _intrinsic_module(file: File, name: str, node: Any) -> Scope:
    values = INTRINSIC_MODULES[name]
    scope = Scope(file, is_module=True)
    scope.variables = {key: Variable(key, INTEGER, node, value=constant(size, INTEGER)) for key, size in values.items()}
    return scope


def _routine_name(node: Any) -> str:
    return name_of(node.children[0].children[1])


def _assigned(body: Any, with_calls: bool = True) -> set[str]:
    """The names that a body assigns, or passes to subroutines."""
    found: set[str] = set()
    for one in walk(body) if body is not None else ():
        if isinstance(one, f03.Assignment_Stmt):
            target = one.children[0]
            found.add(name_of(target if isinstance(target, f03.Name) else target.children[0]))
        elif isinstance(one, f03.Loop_Control) and one.children[1] is not None:
            found.add(name_of(one.children[1][0]))
        elif with_calls and isinstance(one, f03.Call_Stmt) and one.children[1] is not None:
            found |= {name_of(arg if isinstance(arg, f03.Name) else arg.children[0])
                      for arg in listed(one.children[1]) if isinstance(arg, (f03.Name, f03.Part_Ref))}  # fmt: skip
    return found
