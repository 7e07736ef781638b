"""Program units: the modules and routines of some files, and what they use of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.fortran.commons import Commons
from sdfgad.fortran.declarations import derived_of, kind_of, read_declarations
from sdfgad.fortran.effects import assigned_in, called_in, passed_on
from sdfgad.fortran.kinds import INTRINSIC_MODULES
from sdfgad.fortran.scope import Scope, Variable, intrinsic_module
from sdfgad.fortran.sharing import Shared
from sdfgad.fortran.storage import Storage
from sdfgad.fortran.syntax import File, listed, name_of, names_in, walk
from sdfgad.fortran.types import expand

PARTS = (f03.Module_Subprogram_Part, f03.Internal_Subprogram_Part)
ROUTINES = (f03.Subroutine_Subprogram, f03.Function_Subprogram)
PASS_FILES = 'Pass all files that are needed: differentiate(["constants.f90", "model.f90"], ...).'


@dataclass(eq=False)
class Routine:
    """A subroutine or function.

    Attributes:
        name, node, file: what it is called, its tree, and where it stands.
        host: the scope around it: of its module, or of the routine that it is in.
        label: the name of its function, where that is another one.
        procedures: the routines that are passed to it, by their names in it.
        bound: the same with routines that are passed to it.
    """

    name: str
    node: Any
    file: File
    host: Scope | None
    library: Library
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
            scope.procedures[_routine_name(one)] = Routine(_routine_name(one), one, self.file, scope, self.library)
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
        inner = [self.scope.procedures[_routine_name(one)] for one in self.internal]
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


@dataclass(eq=False)
class Library:
    """What some files define.

    Attributes:
        files: with their trees.
        modules: name -> scope, read when it is first used.
        routines: those that are in no module.
    """

    files: list[tuple[File, Any]]
    routines: dict[str, Routine] = field(default_factory=dict)
    _units: dict[str, tuple[Any, File]] = field(default_factory=dict)
    _modules: dict[str, Scope] = field(default_factory=dict)

    @cached_property
    def storage(self) -> Storage:
        """How arrays are allocated in the files."""
        return Storage.of(self.files)

    @cached_property
    def commons(self) -> Commons:
        """The common blocks, with the first values that units of block data give them."""
        commons = Commons()
        for file, tree in self.files:
            for unit in tree.children:
                if isinstance(unit, f03.Block_Data):
                    scope = Scope(file)
                    part = unit.children[1]
                    self.use(scope, part)
                    read_declarations(scope, part)
                    commons.enter(scope, part)
        return commons

    @staticmethod
    def of(files: Iterable[File]) -> Library:
        """Raises: UnsupportedProgram, where a file is no Fortran."""
        library = Library([(file, file.tree()) for file in files])
        for file, tree in library.files:
            for unit in tree.children:
                library._enter(unit, file)
        return library

    def _enter(self, unit: Any, file: File) -> None:
        if isinstance(unit, (f03.Module, f03.Main_Program)):
            # A main program shares its variables with the routines in it, as a module does.
            self._units[name_of(unit.children[0].children[1])] = unit, file
        elif isinstance(unit, ROUTINES):
            name = _routine_name(unit)
            self.routines[name] = Routine(name, unit, file, Scope(file, procedures=self.routines), self)

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
            # Around it are the routines that are in no module.
            around = Scope(file, procedures=self.routines)
            scope = self._modules[name] = Scope(file, around, name=name, is_module=True)
            part = next((one for one in unit.children if isinstance(one, f03.Specification_Part)), None)
            self.use(scope, part)
            read_declarations(scope, part)
            self.commons.enter(scope, part)
            for variable in list(scope.variables.values()):
                try:
                    self.storage.settle(variable, unit)
                except UnsupportedProgram as error:
                    # It matters only where the variable is used.
                    scope.unread[scope.variables.pop(variable.name).name] = error
            inner = next((one for one in unit.children if isinstance(one, PARTS)), None)
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
            source = intrinsic_module(scope.file, name, node)
        else:
            scope.refuse(node, f"the module `{name}` is in none of the files", PASS_FILES)
        entries = listed(node.children[4])
        renamed = {name_of(one.children[1]): name_of(one.children[2]) for one in entries if isinstance(one, f03.Rename)}
        plain = {name_of(one): name_of(one) for one in entries if not isinstance(one, f03.Rename)}
        if "ONLY" not in str(node.children[3]).upper():
            plain |= {one: one for one in source.names - {*renamed.values()}}
        for local, original in (plain | renamed).items():
            if original in source.unread and original not in source.procedures:
                scope.unread[local] = source.unread[original]
                continue
            if not any(find(original) for find in (source.variable, source.candidates, source.type_named)):
                scope.refuse(node, f"the module `{name}` has no `{original}` that is supported", PASS_FILES)
            scope.imported[local] = source, original


def _routine_name(node: Any) -> str:
    return name_of(node.children[0].children[1])
