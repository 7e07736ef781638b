"""Interface blocks: generic names."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.scope import Scope
from sdfgad.fortran.syntax import listed, name_of, walk

BODIES = (f03.Subroutine_Body, f03.Function_Body)


def enter_interface(scope: Scope, node: Any) -> None:
    """A generic name; what an interface says of a routine is said there, too, and is not read."""
    name = node.children[0].children[0]
    if isinstance(name, f03.Name):
        inner = [one for part in node.children for one in walk(part)]
        listed_names = [
            one for part in inner if isinstance(part, f03.Procedure_Stmt) for one in listed(part.children[0])
        ]
        bodies = [one.children[0].children[1] for one in inner if isinstance(one, BODIES)]
        scope.generics.setdefault(name_of(name), []).extend(map(name_of, (*listed_names, *bodies)))
    elif name is not None and str(name).upper() != "ABSTRACT":
        scope.refuse(node, f"`{name}` for derived types is not supported", "Write a function with a name.")
