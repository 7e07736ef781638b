"""Module namespaces: the global names that functions of the program assign to, by ``global``.

A function that assigns to such a name changes what others of its module read. Within the program the names are items of
a dict, which loops and branches carry like those of any other. The modules themselves stay as they were.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable
from typing import Any

from sdfgad.errors import Location, UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import part_from_outside
from sdfgad.parse.frame import Frame
from sdfgad.parse.values import ABSENT

Namespace = dict[str, Any]
Assigned = tuple[Namespace, frozenset[str]]
# No name of a program begins so.
PREFIX = "globals "


class AssignsGlobals(Exception):
    """Raised where a function assigns to global names of which that is not known from the beginning."""

    def __init__(self, assigned: Assigned, where: Location | None) -> None:
        super().__init__(f"{len(assigned[1])} global names")
        self.assigned, self.where = assigned, where

    def refused(self) -> UnsupportedProgram:
        """The error where the function is part of a program that another program differentiates, maps or solves."""
        name = min(self.assigned[1])
        return refusal(name, self.where)


def refusal(name: str, where: Location | None) -> UnsupportedProgram:
    what = f"the global name `{name}` is assigned to in a program that differentiates, maps or solves a function"
    return UnsupportedProgram(what, where, "Pass the value as an argument, and return it.")


def require_none(b: Builder) -> None:
    """Require that a program assigns to no global names, as it calls what another program is made of.

    Raises:
        UnsupportedProgram: it does.
    """
    for cells in b.namespaces.values():
        raise refusal(min(cells), b.where)


def opened(b: Builder, assigned: Iterable[Assigned]) -> dict[str, Any]:
    """The dicts of the global names that a program assigns to, with their values before it, as names of its frame."""
    for namespace, names in assigned:
        cells = b.namespaces.setdefault(id(namespace), {})
        for name in sorted(names):
            cells[name] = part_from_outside(b, namespace, name, operator.getitem) if name in namespace else ABSENT
    for cells in b.namespaces.values():
        b.contents.add(cells, len(b.blocks))
    return {f"{PREFIX}{k}": cells for k, cells in enumerate(b.namespaces.values())}


def of(frame: Frame, name: str) -> dict[str, Any] | None:
    """The dict that has a name which is no local one, if the program assigns to it as a global one."""
    cells = frame.b.namespaces.get(id(frame.source.namespace), {})
    return cells if name in cells and not frame.source.is_free(name) else None


def global_(frame: Frame, node: ast.Global) -> None:
    """``global``, of names that the function assigns to, or reads only.

    Raises:
        AssignsGlobals: it assigns to some that no dict is there for.
    """
    found = frame.source.globals & set(node.names)
    others = {name for one in ast.walk(frame.source.node) for name in _defined(one)} & set(node.names)
    if others:
        what = f"the global name `{min(others)}` is bound to a function, class or module, which is not supported"
        raise frame.unsupported(node, what, "Define or import it outside of the function.")
    namespace: Namespace = frame.source.namespace
    if not found <= frame.b.namespaces.get(id(namespace), {}).keys():
        raise AssignsGlobals((namespace, found), frame.where(node))


def _defined(node: ast.AST) -> set[str]:
    """The names that a statement binds other than by an assignment."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {one.asname or one.name.partition(".")[0] for one in node.names}
    return set()
