"""Callees: the routine that a call means, by its name, by the type of a variable, or of those of a generic name."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arguments import by_name, split
from sdfgad.fortran.designators import Designator, along, designated
from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed, name_of


def callee(e: Evaluator, node: Any) -> tuple[str, Any, list[Any]]:
    """The name, the routine and the arguments of a call; None for a routine that is not known here."""
    if isinstance(node, f03.Data_Ref):
        this, (name, arguments) = along(e, node, node.children[:-1]), node.children[-1].children
        return name_of(name), _routine_of(e, node, this, name), [this, *listed(arguments)]
    name, arguments = node.children[0], listed(node.children[1])
    if isinstance(name, f03.Procedure_Designator):
        return *bound(e, node), [name.children[0], *arguments]
    routine = _chosen(e, node, name_of(name), arguments)
    return name_of(name), routine and _bound_to(e, node, routine, arguments), arguments


def _bound_to(e: Evaluator, node: Any, routine: Any, arguments: list[Any]) -> Any:
    """A routine with the routines that are passed to it, which are other ones in each call.

    Raises:
        UnsupportedProgram: an argument is none.
    """
    given, passed = by_name(routine, arguments), {}
    for name in sorted(routine.procedural):
        actual = given.get(name)
        found = e.scope.candidates(name_of(actual)) if isinstance(actual, f03.Name) else []
        if len(found) != 1:
            what = f"`{node}` passes `{actual}` as the routine `{name}`, and it is none that is known here"
            e.refuse(node, what, "Pass the name of a routine of these files.")
        passed[name] = found[0]
    return routine.with_procedures(passed) if passed else routine


def bound(e: Evaluator, node: Any) -> tuple[str, Any]:
    """The name and the routine of a call ``g%step(...)``, which its type tells.

    Raises:
        UnsupportedProgram: the type has no such routine.
    """
    variable, _, name = node.children[0].children
    return name_of(name), _routine_of(e, node, designated(e, variable), name)


def is_bound(e: Evaluator, node: Any) -> bool:
    """Whether a node is a call ``g%norm(x)`` of a routine of a type, which has the form of a component."""
    if not isinstance(node, f03.Data_Ref) or not isinstance(node.children[-1], f03.Part_Ref):
        return False
    *parts, last = node.children
    found = along(e, node, parts)
    return (
        found is not None
        and found.variable.type_of is not None
        and (name_of(last.children[0]) in found.variable.type_of.bindings)
    )


def _routine_of(e: Evaluator, node: Any, found: Designator | None, name: Any) -> Any:
    derived = None if found is None else found.variable.type_of
    procedure = None if derived is None else derived.bindings.get(name_of(name))
    routine = None if derived is None or procedure is None else derived.scope.procedure(procedure)
    if routine is None:
        e.refuse(node, f"`{node.children[0]}` has no routine `{name}`", "Call a routine by its own name.")
    return routine


def _chosen(e: Evaluator, node: Any, name: str, arguments: list[Any]) -> Any:
    """The routine that a name stands for in a call; None for a name of no routine.

    Raises:
        UnsupportedProgram: none of those of a generic name fits.
    """
    candidates = e.scope.candidates(name)
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    # Arguments are evaluated to see their types alone.
    held, e.before = e.before, None if e.before is None else []
    fitting = [one for one in candidates if _fits(e, one, arguments)]
    e.before = held
    if not fitting:
        names = ", ".join(one.name for one in candidates)
        e.refuse(node, f"none of {names} has arguments like those of `{node}`", "Call one of them by its own name.")
    return fitting[0]


def _fits(e: Evaluator, routine: Any, arguments: list[Any]) -> bool:
    positional, named = split(arguments)
    if len(positional) > len(routine.names) or not {*named} <= {*routine.names}:
        return False
    given = by_name(routine, arguments)
    for dummy in routine.dummies:
        if dummy.name not in given and not dummy.is_optional:
            return False
        if dummy.name in given and not _is_like(e, routine, dummy, given[dummy.name]):
            return False
    return True


def _is_like(e: Evaluator, routine: Any, dummy: Variable, actual: Any) -> bool:
    found = actual if isinstance(actual, Designator) else designated(e, actual)
    derived = None if found is None else found.variable.type_of
    if derived is not None or dummy.type_of is not None:
        return derived is dummy.type_of
    value = e.value(actual)
    is_kind = value.kind.base == dummy.kind.base and (value.kind == dummy.kind or not value.kind.is_floating)
    return is_kind and (value.rank == dummy.rank or routine.is_elemental)
