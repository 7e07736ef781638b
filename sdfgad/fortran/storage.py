"""Allocation: the lower bounds that allocatable arrays get, by whichever routine of the files allocates them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.scope import Dim, Variable
from sdfgad.fortran.syntax import File, listed, name_of, walk

ASKING = ("allocated", "associated")
ROUTINES = (f03.Subroutine_Subprogram, f03.Function_Subprogram)


@dataclass(frozen=True)
class Place:
    """An array in an `allocate` statement: its name, ``%u`` of a component, its bounds, and the routines around."""

    name: str
    dims: list[Any]
    node: Any
    file: File
    routines: list[Any]

    def refuse(self, what: str) -> NoReturn:
        self.file.refuse(self.node, what, "Use an array of its own for each, and numbers as lower bounds.")

    def is_of(self, variable: Variable, unit: Any, is_module: bool) -> bool:
        """Whether it may be the storage of a variable that a module or routine declares."""
        if self.name.startswith("%"):
            return True
        if is_module:
            return not any(variable.name in _declared(one) for one in self.routines)
        inner = [one for one in self.routines if one is not unit]
        return len(inner) < len(self.routines) and not any(variable.name in _declared(one) for one in inner[:1])


@dataclass(frozen=True)
class Storage:
    """The `allocate` statements of some files.

    Attributes:
        renamed: names in modules -> those that `use` gives them.
        asked: the names, ``%u`` of components, of which `allocated` asks whether they have storage.
    """

    places: list[Place]
    renamed: dict[str, set[str]]
    asked: set[str]

    @staticmethod
    def of(trees: Iterable[tuple[File, Any]]) -> Storage:
        places: list[Place] = []
        renamed: dict[str, set[str]] = {}
        asked: set[str] = set()
        for file, one in ((file, one) for file, tree in trees for one in walk(tree)):
            if isinstance(one, f03.Allocation):
                name, shape = one.children
                places.append(Place(_key(name), listed(shape), one, file, _around(one)))
            elif isinstance(one, f03.Rename):
                renamed.setdefault(name_of(one.children[2]), set()).add(name_of(one.children[1]))
            elif isinstance(one, f03.Intrinsic_Function_Reference) and name_of(one.children[0]) in ASKING:
                asked |= {_key(node) for node in listed(one.children[1])}
        return Storage(places, renamed, asked)

    def settle(self, variable: Variable, unit: Any) -> None:
        """Give an allocatable array its lower bounds; `unit` is the module or routine that declares it.

        Raises:
            UnsupportedProgram: they are different ones, or no numbers.
        """
        if variable.is_allocatable:
            self._settle(variable, unit)
        for part in variable.parts.values() if not variable.rank else ():
            self.settle(part, unit)
        for leaf in variable.leaves if variable.parts and variable.rank else ():
            leaf.dims = (*leaf.dims[: leaf.rank - variable.rank], *variable.dims)
            leaf.is_allocated = variable.is_allocated

    def _settle(self, variable: Variable, unit: Any) -> None:
        key = variable.name.rpartition("%")
        names = {key[1] + key[2]} | (set() if key[1] else self.renamed.get(variable.name, set()))
        variable.is_asked = bool(names & self.asked)
        is_module = variable.scope is not None and variable.scope.is_module
        found = [one for one in self.places if one.name in names and one.is_of(variable, unit, is_module)]
        lows = {tuple(Dim(dim.children[0]).low for dim in one.dims) for one in found}
        if len(lows) > 1:
            what = f"`{variable.name}` is allocated with different lower bounds"
            found[0].refuse(what)
        if any(not low.lstrip("-").isdigit() for each in lows for low in each):
            found[0].refuse(f"`{found[0].node}` has a lower bound that is no number")
        if found and len(found[0].dims) == variable.rank:
            variable.dims = tuple(Dim(dim.children[0], None, is_open=True) for dim in found[0].dims)
            variable.is_allocated = True


def _key(node: Any) -> str:
    """The name of an array; ``%u`` of a component."""
    return f"%{name_of(node.children[-1])}" if isinstance(node, f03.Data_Ref) else name_of(node)


def _around(node: Any) -> list[Any]:
    """The routines that a statement is in, the innermost one first."""
    found = []
    while node is not None:
        if isinstance(node, ROUTINES):
            found.append(node)
        node = node.parent
    return found


def _declared(routine: Any) -> set[str]:
    """The names that a routine declares."""
    part = next((one for one in routine.children if isinstance(one, f03.Specification_Part)), None)
    declared = [one for one in walk(part) if isinstance(one, f03.Entity_Decl)] if part is not None else []
    return {name_of(one.children[0]) for one in declared}
