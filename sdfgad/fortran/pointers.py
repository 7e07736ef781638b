"""Pointers to arrays: names that are bound to views, as those of allocatable arrays are to storage."""

from __future__ import annotations

from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.assignments import bind, is_unallocated
from sdfgad.fortran.designators import along, designated
from sdfgad.fortran.evaluator import described
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed
from sdfgad.fortran.values import Value


def pointed(e: Expressions, node: Any) -> list[str]:
    """The lines of ``p => u(:, k)``, after which both are the same storage.

    Raises:
        UnsupportedProgram: it gives bounds, or what is pointed at is no array or section of the pointer's kind.
    """
    target, bounds, source = node.children
    if bounds is not None:
        e.refuse(node, f"the bounds in `{node}` are not supported", "Leave them away: they are those of the target.")
    leaf, was_used = _pointer(e, node, target)
    if is_null(source):
        return [f"{leaf.text} = None"]
    value = e.value(source)
    _require_target(e, node, leaf, value)
    bind(e, node, leaf, value, was_used)
    # It may be changed by the pointer's name from here on.
    value.root.is_changed = True
    return [f"{leaf.text} = {value.text}"]


def nullified(e: Expressions, node: Any) -> list[str]:
    """The lines of ``nullify(p, q)``."""
    return [f"{_pointer(e, node, one)[0].text} = None" for one in listed(node.children[1])]


def is_null(node: Any) -> bool:
    return str(node).replace(" ", "").upper() == "NULL()"


def _pointer(e: Expressions, node: Any, target: Any) -> tuple[Variable, bool]:
    """The pointer that a node names, which is bound anew, and whether it was used before."""
    if isinstance(target, f03.Data_Pointer_Object):
        found = along(e, node, [one for one in target.children if not isinstance(one, str)])
    else:
        found = designated(e, target)
    if found is None or found.subscripts is not None or not found.variable.is_pointer:
        e.refuse(node, f"`{target}` is no pointer to an array", "Declare it so: real, pointer :: p(:).")
    was_used = found.variable.is_used
    leaf = e.used(node, found.variable)
    leaf.is_rebound = True
    return leaf, was_used


def _require_target(e: Expressions, node: Any, leaf: Variable, value: Value) -> None:
    if not value.is_place or value.rank != leaf.rank or value.kind != leaf.kind:
        what = f"`{node}` points at {described(value)}, and `{leaf.name}` is a pointer to arrays of {leaf.kind}"
        e.refuse(node, what, f"Point at an array or section with {leaf.rank} axes.")
    root = value.root
    if root.is_allocatable and not root.is_pointer and is_unallocated(root):
        what = f"`{node}` points at an array that assignments allocate, which would leave `{leaf.name}` behind"
        e.refuse(node, what, "Allocate it by a statement.")
