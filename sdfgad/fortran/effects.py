"""Effects: the names of variables that statements may change."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.designators import base_name
from sdfgad.fortran.scope import Scope
from sdfgad.fortran.syntax import listed, name_of, names_in, walk


def assigned_in(bodies: Any, with_calls: bool = True) -> set[str]:
    """The names of variables that bodies assign, also in part, or pass to subroutines."""
    found: set[str] = set()
    associated: dict[str, set[str]] = {}
    for one in walk(bodies):
        if isinstance(one, f03.Assignment_Stmt):
            found.add(base_name(one.children[0]))
        elif isinstance(one, f03.Pointer_Assignment_Stmt):
            # What is pointed at may be changed by the pointer's name.
            found |= names_in(one.children[::2])
        elif isinstance(one, f03.Loop_Control) and one.children[1] is not None:
            found.add(name_of(one.children[1][0]))
        elif isinstance(one, f03.Association) and isinstance(one.children[2], (f03.Name, f03.Part_Ref, f03.Data_Ref)):
            associated.setdefault(name_of(one.children[0]), set()).add(base_name(one.children[2]))
        elif isinstance(one, f03.Alloc_Opt):
            found |= names_in(one.children[1])
        elif with_calls and isinstance(one, f03.Call_Stmt):
            found |= {base_name(arg) for arg in (one.children[0], *listed(one.children[1]))
                      if isinstance(arg, (f03.Name, f03.Part_Ref, f03.Data_Ref, f03.Procedure_Designator))}  # fmt: skip
    # The inner one of nested associations comes last.
    for name, bases in reversed(associated.items()):
        found |= bases if name in found else set()
    return found


def passed_on(bodies: Any, scope: Scope, routine: Any) -> set[str]:
    """What is an argument of a subroutine that may change it, in the statements of a routine."""
    found: set[str] = set()
    for call in (one for one in walk(bodies) if isinstance(one, f03.Call_Stmt)):
        others = scope.candidates(name_of(call.children[0]))
        changes = not others or any(other is routine or bool(other.changed) for other in others)
        found |= names_in(call.children) if changes else set()
    # The inner one of nested associations comes last.
    for one in reversed([one for one in walk(bodies) if isinstance(one, f03.Association)] if found else []):
        found |= names_in(one.children[2]) if name_of(one.children[0]) in found else set()
    return found


def called_in(part: Any, body: Any) -> frozenset[str]:
    """The names that a routine declares as those of routines, or calls."""
    found: set[str] = set()
    for one in walk(part) if part is not None else ():
        if isinstance(one, f03.Type_Declaration_Stmt) and "EXTERNAL" in str(one.children[1]).upper():
            found |= {name_of(entity.children[0]) for entity in listed(one.children[2])}
        elif isinstance(one, (f03.External_Stmt, f03.Procedure_Declaration_Stmt)):
            found |= names_in(one.children[-1])
        elif isinstance(one, (f03.Subroutine_Stmt, f03.Function_Stmt)):
            found.add(name_of(one.children[1]))
    return frozenset(found | {name_of(one.children[0]) for one in walk(body or ()) if isinstance(one, f03.Call_Stmt)})
