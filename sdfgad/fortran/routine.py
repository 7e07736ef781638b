"""Routines: what a subroutine or function declares, changes, and shares with what is around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.declarations import derived_of, kind_of, read_declarations
from sdfgad.fortran.effects import assigned_in, called_in, passed_on
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.sharing import Shared
from sdfgad.fortran.storage import ROUTINES
from sdfgad.fortran.syntax import File, listed, name_of, names_in, walk
from sdfgad.fortran.types import expand


@dataclass(eq=False)
class Routine:
    """A subroutine or function.

    Attributes:
        name, node, file: what it is called, its tree, and where it stands.
        library: what the files define.
        host: the scope around it: of its module, or of the routine that it is in.
        label: the name of its function, where that is another one.
        procedures: the routines that are passed to it, by their names in it.
        bound: the same with routines that are passed to it.
    """

    name: str
    node: Any
    file: File
    host: Scope | None
    library: Any
    label: str = ""
    procedures: dict[str, Routine] = field(default_factory=dict)
    bound: dict[tuple[Routine, ...], Routine] = field(default_factory=dict)

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
        scope = Scope(self.file, self.host, name=self.name)
        if self.host is not None:
            scope.implicit = self.host.implicit
        for one in self.internal:
            scope.procedures[routine_name(one)] = Routine(routine_name(one), one, self.file, scope, self.library)
        part = self.part(f03.Specification_Part)
        self.library.use(scope, part)
        prefix = self.head.children[0]
        scope.procedures |= self.procedures
        read_declarations(scope, part)
        self.library.commons.enter(scope, part)
        for one in walk(prefix) if self.is_function and prefix is not None else ():
            if isinstance(one, (f03.Intrinsic_Type_Spec, f03.Declaration_Type_Spec)):
                result = Variable(self.result, kind_of(scope, one), self.head, scope=scope)
                result.type_of = derived_of(scope, one)
                expand(result)
                scope.variables[self.result] = result
        self._complete(scope, [name for name in self.names if name not in self.procedural])
        return scope

    @cached_property
    def shared(self) -> Shared:
        """What it uses from around it: known when it has been translated."""
        return Shared(self.scope)

    @property
    def internal(self) -> list[Any]:
        """The routines in it."""
        part = self.part(f03.Internal_Subprogram_Part)
        return [one for one in getattr(part, "children", ()) if isinstance(one, ROUTINES)]

    @property
    def bodies(self) -> list[Any]:
        """Its statements and those of the routines in it, which have its variables, too."""
        parts = [one for node in (self.node, *self.internal) for one in node.children]
        return [one for one in parts if isinstance(one, f03.Execution_Part)]

    def lends(self, name: str) -> bool:
        """Whether a routine in it uses its variable of a name."""
        inner = [self.scope.procedures[routine_name(one)] for one in self.internal]
        return any(name not in one.scope.variables and name in names_in(one.node) for one in inner)

    def _complete(self, scope: Scope, dummies: list[str]) -> None:
        for name in (*dummies, *([self.result] if self.result else ())):
            if name == "*":
                scope.refuse(self.head, "a label as an argument is not supported", "Return an integer that says so.")
            if name not in scope.variables:
                kind = (scope.implicit or {}).get(name[0])
                if kind is None:
                    scope.refuse(self.head, f"the argument `{name}` is not declared", "Declare its type.")
                scope.variables[name] = Variable(name, kind, self.head, scope=scope)
        for name in dummies:
            scope.variables[name].is_dummy = True
        body = self.part(f03.Execution_Part)
        scope.mentioned = frozenset(names_in(body)) if body is not None else frozenset()
        scope.assigned = frozenset(assigned_in(self.bodies))
        for variable in scope.variables.values():
            self.library.storage.settle(variable, self.node)
            for one in (variable, *variable.leaves) if scope.keeps_all and variable.name != self.result else ():
                one.is_kept = not variable.is_dummy and variable.value is None

    @property
    def names(self) -> list[str]:
        """The names of its arguments, in order."""
        return [name_of(one) for one in listed(self.head.children[2])]

    @cached_property
    def procedural(self) -> frozenset[str]:
        """The arguments that are routines."""
        return called_in(self.part(f03.Specification_Part), self.part(f03.Execution_Part)) & {*self.names}

    def with_procedures(self, given: dict[str, Routine]) -> Routine:
        """The same with routines for the arguments that are such."""
        key = tuple(given[name] for name in sorted(given))
        if key not in self.bound:
            label = f"_{self.name}_with_{'_'.join(one.name for one in key)}"
            self.bound[key] = Routine(self.name, self.node, self.file, self.host, self.library, label, given)
        return self.bound[key]

    @cached_property
    def dummies(self) -> list[Variable]:
        return [self.scope.variables[name] for name in self.names if name not in self.procedural]

    @cached_property
    def changed(self) -> frozenset[str]:
        """The arguments that it may change: by their intent, or by what it assigns and passes on."""
        loose = {one.name for one in self.dummies if not one.intent and not one.is_value}
        found = {one.name for one in self.dummies if one.intent in ("out", "inout")}
        return frozenset(found | (loose & (assigned_in(self.bodies, False) | passed_on(self.bodies, self.scope, self))))

    # --- what is known when it has been translated

    @property
    def parameters(self) -> list[Variable]:
        """The parameters of its function: its arguments, of derived types what is used, and what is shared."""
        passed = [leaf for one in self.dummies for leaf in one.leaves if leaf.is_used or one.type_of is None]
        return [*passed, *self.shared.views.values()]

    @property
    def results(self) -> list[Variable]:
        """What its function returns for its caller to keep: numbers that it changes, and arrays with other storage."""
        found = []
        for one in self.parameters:
            if one.is_rebound or (one.is_changed and not one.rank and not one.is_value):
                found.append(one)
        return found

    @property
    def is_pure(self) -> bool:
        """Whether it changes nothing but what it returns as a function."""
        return not (self.changed or self.results or any(one.is_changed for one in self.shared.views.values()))

    @property
    def own_results(self) -> list[Variable]:
        """What a function is the value of."""
        result = self.scope.variables[self.result]
        return [leaf for leaf in result.leaves if leaf.is_used or result.type_of is None]


def routine_name(node: Any) -> str:
    return name_of(node.children[0].children[1])
