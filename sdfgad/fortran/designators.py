"""Designators: variables, elements and sections, and components of derived types, ``g%cell(i)%u(:, k)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed, name_of

REFERENCES = (f03.Part_Ref, f03.Function_Reference, f03.Structure_Constructor, f03.Intrinsic_Function_Reference)


@dataclass(frozen=True)
class Designator:
    """A variable or a component, and what is taken of it.

    Attributes:
        variable: a number, an array, or what has components.
        subscripts: one for each axis, those of a component before those of what it is in, where None is all of an
            axis; None without any.
    """

    variable: Variable
    subscripts: tuple[Any, ...] | None = None

    def part(self, key: str, own: tuple[Any, ...] | None = None) -> Designator:
        """A component, with subscripts of its own."""
        part = self.variable.parts[key]
        rank = part.rank - self.variable.rank
        if own is None and self.subscripts is None:
            return Designator(part)
        outer = self.subscripts if self.subscripts is not None else (None,) * self.variable.rank
        return Designator(part, (*(own if own is not None else (None,) * rank), *outer))

    def parts(self) -> Iterator[tuple[str, Designator]]:
        """The numbers and arrays in a variable, with the paths that lead to them."""
        for key in self.variable.parts:
            part = self.part(key)
            if not part.variable.parts:
                yield key, part
            for path, inner in part.parts():
                yield f"{key}%{path}", inner


def designated(e: Evaluator, node: Any) -> Designator | None:
    """What a node designates; None if it is another expression.

    Raises:
        UnsupportedProgram: there is no such component.
    """
    if isinstance(node, Designator):
        return node
    if isinstance(node, f03.Name):
        return e.scope.alias(name_of(node)) or Designator(e.variable(node))
    if isinstance(node, REFERENCES):
        return _element(e, node)
    if not isinstance(node, f03.Data_Ref):
        return None
    found = along(e, node, node.children)
    if found is None:
        e.refuse(node, f"a component of `{node.children[0]}` is not supported", "Assign it to a variable first.")
    return found


def along(e: Evaluator, node: Any, parts: Sequence[Any]) -> Designator | None:
    """What the names of a node designate that follow each other, ``g%cell%u``."""
    found = designated(e, parts[0])
    for one in parts[1:]:
        found = None if found is None else _component(e, node, found, one)
    return found


def _element(e: Evaluator, node: Any) -> Designator | None:
    name = name_of(node.children[0])
    alias, found = e.scope.alias(name), e.scope.variable(name)
    variable = alias.variable if alias is not None else None if found is None else found[1]
    if variable is None or not variable.rank or (alias is not None and alias.subscripts is not None):
        return None
    return Designator(variable, tuple(listed(node.children[1])))


def _component(e: Evaluator, node: Any, of: Designator, last: Any) -> Designator:
    is_part = isinstance(last, f03.Part_Ref)
    key = name_of(last.children[0] if is_part else last)
    if key not in of.variable.parts:
        known = ", ".join(of.variable.parts) or "none"
        e.refuse(node, f"`{of.variable.name}` has no component `{key}`", f"It has the components: {known}.")
    return of.part(key, tuple(listed(last.children[1])) if is_part else None)


def base_name(node: Any) -> str:
    """The name of the variable that a designator starts with."""
    while not isinstance(node, (str, f03.Name)):
        node = node.children[0]
    return name_of(node)
