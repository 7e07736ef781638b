"""Derived types: their components, which are variables of their own wherever one is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.kinds import Kind
from sdfgad.fortran.scope import Scope, Variable
from sdfgad.fortran.syntax import listed, name_of

TYPE = Kind("type", 0)


@dataclass(eq=False)
class Derived:
    """A derived type.

    Attributes:
        components: by name, in order; `bindings`: the routines of its own, by the names by which they are called.
    """

    name: str
    scope: Scope
    components: dict[str, Variable] = field(default_factory=dict)
    bindings: dict[str, str] = field(default_factory=dict)


def read_type(scope: Scope, node: Any, declare: Callable[[Scope, Any], None]) -> Derived:
    """The derived type that a definition is of; `declare` enters a declaration into a scope.

    Raises:
        UnsupportedProgram: it extends another one, or a component is not supported.
    """
    head = node.children[0]
    attributes = str(head.children[0] or "").upper()
    if "EXTENDS" in attributes or "ABSTRACT" in attributes:
        scope.refuse(head, "a type that extends another one is not supported", "Make the other one a component.")
    own = Scope(scope.file, scope, name=name_of(head.children[1]), implicit=None)
    derived = Derived(own.name, scope, own.variables)
    for part in node.children:
        if isinstance(part, f03.Component_Part):
            for one in part.children:
                declare(own, one)
        elif isinstance(part, f03.Type_Bound_Procedure_Part):
            derived.bindings |= _bindings(scope, part)
    return derived


def _bindings(scope: Scope, part: Any) -> dict[str, str]:
    found = {}
    for one in part.children:
        if isinstance(one, f03.Specific_Binding):
            if "NOPASS" in str(one.children[1]).upper() or "PASS(" in str(one.children[1]).upper().replace(" ", ""):
                scope.refuse(one, f"`{one}` is not supported", "Take the variable as the first argument.")
            name, procedure = one.children[-2:]
            found[name_of(name)] = name_of(procedure or name)
        elif not isinstance(one, (f03.Contains_Stmt, f03.Comment, f03.Private_Components_Stmt)):
            scope.refuse(one, f"`{one}` in a type is not supported", "Call the routine by its own name.")
    return found


def expand(variable: Variable) -> None:
    """Make the components of a variable of a derived type.

    Raises:
        UnsupportedProgram: there are many variables of a type that has allocatable components.
    """
    derived = variable.type_of
    if derived is None or variable.parts:
        return
    for key, one in derived.components.items():
        part = replace(one, name=f"{variable.name}%{key}", dims=(*one.dims, *variable.dims), intent=variable.intent,
                       is_kept=variable.is_kept, scope=variable.scope, parts={})  # fmt: skip
        if part.is_allocatable and variable.rank:
            what = f"`{variable.name}` is an array of a type with the allocatable component `{key}`"
            derived.scope.file.refuse(one.node, f"{what}, which is not supported", "Give the component a size.")
        part.is_allocatable |= variable.is_allocatable
        variable.parts[key] = part
        expand(part)


def constructed(derived: Derived, node: Any) -> dict[str, Any]:
    """The nodes of the components in ``grid(1.0, n=3)``, by name."""
    items = listed(node.children[1])
    keyed = (f03.Component_Spec, f03.Actual_Arg_Spec)
    positional = [one for one in items if not isinstance(one, keyed)]
    named = {name_of(one.children[0]): one.children[1] for one in items if isinstance(one, keyed)}
    return dict(zip(derived.components, positional, strict=False)) | named
