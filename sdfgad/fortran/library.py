"""Program units: the modules and routines of some files, and what they use of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.fortran.commons import Commons
from sdfgad.fortran.declarations import read_declarations
from sdfgad.fortran.kinds import INTRINSIC_MODULES
from sdfgad.fortran.routine import Routine, routine_name
from sdfgad.fortran.scope import Scope, intrinsic_module
from sdfgad.fortran.storage import ROUTINES, Storage
from sdfgad.fortran.syntax import File, listed, name_of, walk

PARTS = (f03.Module_Subprogram_Part, f03.Internal_Subprogram_Part)
PASS_FILES = 'Pass all files that are needed: differentiate(["constants.f90", "model.f90"], ...).'


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
    def bindings(self) -> frozenset[str]:
        """The names by which routines of derived types are called, and those of these routines."""
        found = [one for _, tree in self.files for one in walk(tree) if isinstance(one, f03.Specific_Binding)]
        return frozenset(name_of(name) for one in found for name in one.children[-2:] if name is not None)

    def bound_routines(self) -> list[Routine]:
        """The routines of derived types."""
        known = [one for scope in self._modules.values() for one in scope.procedures.values()]
        return [one for one in known if one.name in self.bindings]

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
            name = routine_name(unit)
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
                    routine = Routine(routine_name(one), one, file, scope, self)
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
