"""Namespaces: the global names, and the attributes of modules, classes and functions, that a program assigns to.

Whoever assigns to such a name, by ``global`` or as in ``Cell.count += 1``, changes what others read. Within the program
the names are items of a dict, which loops and branches carry like those of any other. The modules, classes and
functions themselves stay as they were.
"""

from __future__ import annotations

import abc
import operator
import types
from collections.abc import Iterable
from typing import Any

from sdfgad.errors import Location, UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import require_current
from sdfgad.parse.outside import part_from_outside
from sdfgad.parse.structure import is_of_library
from sdfgad.parse.trees import LOCAL_FRAME
from sdfgad.parse.values import ABSENT

# The globals of a module, or a class or function.
Namespace = Any
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
    what = f"the name `{name}` from outside is assigned to in a program that differentiates, maps or solves a function"
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
            get = operator.getitem if isinstance(namespace, dict) else getattr
            is_there = name in (namespace if isinstance(namespace, dict) else vars(namespace))
            cells[name] = part_from_outside(b, namespace, name, get) if is_there else ABSENT
    for cells in b.namespaces.values():
        b.contents.add(cells, len(b.blocks))
    return {f"{PREFIX}{k}": cells for k, cells in enumerate(b.namespaces.values())}


def namespace_of(owner: Any) -> Namespace | None:
    """The namespace whose names are the attributes of a module, class or function of the user's; None of others."""
    if isinstance(owner, types.ModuleType):
        return None if is_of_library(owner.__name__) else vars(owner)
    is_class = type(owner) in (type, abc.ABCMeta) and LOCAL_FRAME not in vars(owner)
    return owner if (is_class or type(owner) is types.FunctionType) and not is_of_library(owner.__module__) else None


def cells_of(b: Builder, owner: Any, name: str) -> dict[str, Any] | None:
    """The dict that has an attribute of a module, class or function, if the program assigns to it."""
    if not b.namespaces:
        return None
    owner = vars(owner) if isinstance(owner, types.ModuleType) else owner
    for one in owner.__mro__ if isinstance(owner, type) else (owner,):
        cells = b.namespaces.get(id(one), {})
        if cells.get(name, ABSENT) is not ABSENT:
            return cells
        if isinstance(one, type) and name in vars(one):
            return None
    return None


def assign(b: Builder, namespace: Namespace, name: str, value: Any) -> None:
    """Give a module, class or function an attribute.

    Raises:
        AssignsGlobals: no dict is there for it.
        UnsupportedProgram: it is a function, which would be a method.
    """
    if isinstance(namespace, type) and (callable(value) or hasattr(value, "__get__")):
        what = f"`{name}` of the class {namespace.__name__} is assigned to, and is a function or class"
        raise b.unsupported(what, "Define it as a method, and call other functions in it.")
    cells = b.namespaces.get(id(namespace), {})
    if name not in cells:
        raise AssignsGlobals((namespace, frozenset({name})), b.where)
    require_current(b, cells, name)
    cells[name] = b.named(b.settle(value, name), name)
