"""Common blocks: variables that routines share by their position in a block, under names of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.syntax import listed, name_of, walk


@dataclass
class Commons:
    """The blocks of some files, each a scope with the names of the routine that was read first."""

    blocks: dict[str, Scope] = field(default_factory=dict)

    def enter(self, scope: Scope, part: Any) -> None:
        """Make the variables of blocks in a specification part, which has been read, those of the blocks.

        Raises:
            UnsupportedProgram: a block has variables of other types or shapes in another routine.
        """
        found: dict[str, list[tuple[str, Any]]] = {}
        for statement in walk(part) if part is not None else ():
            if isinstance(statement, f03.Common_Stmt):
                for block, objects in statement.children[0]:
                    names = [one if isinstance(one, f03.Name) else one.children[0] for one in listed(objects)]
                    key = "common" if block is None else name_of(block)
                    found.setdefault(key, []).extend((name_of(one), statement) for one in names)
        for block, entries in found.items():
            self._share(scope, block, entries)

    def _share(self, scope: Scope, block: str, entries: list[tuple[str, Any]]) -> None:
        is_first = block not in self.blocks
        shared = self.blocks.setdefault(block, Scope(scope.file, name=block, is_module=True))
        known = list(shared.variables.values())
        for position, (name, node) in enumerate(entries):
            own = scope.variables.pop(name)
            if is_first:
                own.scope, own.is_kept = shared, True
                shared.variables[name] = own
                known.append(own)
            elif position >= len(known) or _layout(own) != _layout(known[position]):
                what = f"`{name}` of the common block `{block}` has another type or shape in another routine"
                scope.refuse(node, what, "Declare the same variables in each routine, in the same order.")
            known[position].initial = known[position].initial or own.initial
            scope.imported[name] = shared, known[position].name


def _layout(variable: Variable) -> tuple[Any, ...]:
    """What storage a variable takes, and how it is indexed."""
    bounds = []
    for dim in variable.dims:
        assert dim.home is not None
        e = Expressions(dim.home)
        bounds.append((1 if dim.lower is None else e.known(dim.lower), e.known(dim.upper)))
    return variable.kind, bounds
