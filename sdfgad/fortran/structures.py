"""Assignments of derived types: each component is assigned by itself."""

from __future__ import annotations

from typing import Any

from sdfgad.fortran.assignments import place_of, stored
from sdfgad.fortran.calls import structure_called
from sdfgad.fortran.designators import REFERENCES, Designator, designated
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.syntax import name_of
from sdfgad.fortran.types import constructed
from sdfgad.fortran.values import as_kind


def structure_assigned(e: Expressions, node: Any, place: Designator) -> list[str]:
    """The lines of an assignment to a variable of a derived type.

    Raises:
        UnsupportedProgram: what is assigned is no variable, function or constructor of that type.
    """
    target, _, source = node.children
    derived = place.variable.type_of
    made = structure_called(e, source, derived)
    if made is not None:
        own = dict(place.parts())
        return [line for path, value in made.items() for line in stored(place_of(e, node, own[path]), value)]
    is_call = isinstance(source, REFERENCES)
    if is_call and e.scope.type_named(name_of(source.children[0])) is derived:
        return _constructed(e, node, place)
    found = designated(e, source)
    if found is not None and found.variable.type_of is derived:
        return _copied(e, node, place, found)
    what = f"`{node}` assigns what is no variable, function or constructor of the derived type of `{target}`"
    e.refuse(node, what, "Assign its components.")


def _copied(e: Expressions, node: Any, place: Designator, source: Designator) -> list[str]:
    lines, sources = [], dict(source.parts())
    for path, part in place.parts():
        if part.variable.kind.base == "character":
            # Texts are not read, and change no number.
            continue
        value = e.of(node, sources[path])
        # A number that nothing has assigned is copied, too.
        if value.root is not None:
            value.root.is_lent = True
        own = place_of(e, node, part)
        if own.variable is not None and own.variable.is_allocatable:
            own.variable.is_rebound = True
            is_pointer = own.variable.is_pointer
            lines.append(f"{own.text} = {value.text if is_pointer else f'np.array({value.text}, {own.kind.numpy})'}")
        else:
            lines += stored(own, value)
    return lines


def _constructed(e: Expressions, node: Any, place: Designator) -> list[str]:
    source = node.children[2]
    derived = place.variable.type_of
    nodes, lines = constructed(derived, source), []
    for key, component in derived.components.items():
        part = place.part(key)
        if part.variable.type_of is not None:
            e.refuse(node, f"the component `{key}` in `{source}` is of a derived type", "Assign its components.")
        own = place_of(e, node, part)
        if key not in nodes and component.initial is None:
            e.refuse(node, f"`{source}` has no value for `{key}`", "Give a value to each component.")
        value = e.value(nodes[key]) if key in nodes else component.initial
        if value is not None:
            lines += stored(own, as_kind(value, own.kind))
    # What is assigned may stand in the values: all are computed first.
    names = [e.fresh("part") for _ in lines]
    pairs = [line.split(" = ", 1) for line in lines]
    first = [f"{name} = {value}" for name, (_, value) in zip(names, pairs, strict=True)]
    return [*first, *(f"{target} = {name}" for name, (target, _) in zip(names, pairs, strict=True))]
