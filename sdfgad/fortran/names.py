"""Names of arguments as callers have them: ``u``, a component ``grid%u``, a variable of a module ``state%u``.

What is passed under the name of a derived type or of a module is an object, a dict or the like, whose attributes or
items are the components; for an array of a derived type also a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.fortran.scope import Variable
from sdfgad.parse.structure import container, items_of


class Names:
    """The paths by which numbers and arrays are named.

    Attributes:
        leaves: path -> variable, under the shortest path that names nothing else.
    """

    def __init__(self, dummies: Iterable[Variable], shared: Iterable[Variable]) -> None:
        self.leaves: dict[str, Variable] = {one.name: one for one in dummies}
        self._others: dict[str, str] = {}
        taken = {name.partition("%")[0] for name in self.leaves}
        shared = list(shared)
        firsts = [(one.name.partition("%")[0], one.scope) for one in shared]
        for one, (first, scope) in zip(shared, firsts, strict=True):
            owner = "" if one.scope is None else one.scope.name
            is_alone = first not in taken and all(other is scope for name, other in firsts if name == first)
            full = f"{owner}%{one.name}"
            while full in self.leaves:
                full = f"%{full}"
            self.leaves[one.name if is_alone else full] = one
            if owner not in taken:
                self._others[full] = one.name if is_alone else full

    def paths(self) -> dict[str, str]:
        """All paths of numbers and arrays, and the one under which each is kept."""
        return {path: path for path in self.leaves} | self._others

    def below(self, name: str) -> dict[str, str]:
        """What a name stands for: itself, or what is in it; the rest of the paths, and those that are kept."""
        found = {path: kept for path, kept in self.paths().items() if path == name or path.startswith(f"{name}%")}
        return {path[len(name) + 1 :]: kept for path, kept in found.items()}

    def tops(self) -> dict[str, None]:
        """The names that are passed, in order: arguments, derived types and variables of modules."""
        return {path.partition("%")[0] if "%" in one.name else path: None for path, one in self.leaves.items()}

    def spread(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed for each number and array, by its kept path.

        Raises:
            KeyError: a name stands for nothing.
            ArgumentError: something is passed twice.
        """
        values: dict[str, Any] = {}
        for name, value in given.items():
            below = self.below(name)
            if not below:
                raise KeyError(name)
            for rest, kept in below.items():
                found = value if not rest else selected(value, rest.split("%"))
                if found is not None and kept in values:
                    raise ArgumentError(f"`{kept}` is passed twice, also by `{name}`", None, "Pass it once.")
                if found is not None:
                    values[kept] = found
        return values


def selected(value: Any, path: list[str]) -> Any:
    """A component of an object, None if it has none; of a list of objects those of all, along the last axis."""
    if value is None or not path:
        return value
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        found = [selected(one, path) for one in value]
        return None if any(one is None for one in found) else np.stack(found, axis=-1)
    key = _key(value, path[0])
    return None if key is None else selected((items_of(value) or {})[key], path[1:])


def _key(value: Any, name: str) -> Any:
    """The name of a component as an object has it."""
    return next((key for key in items_of(value) or {} if isinstance(key, str) and key.lower() == name), None)


def gathered(value: Any, found: Mapping[str, Any]) -> Any:
    """An object like the one that is passed, with what is found for its components, by their paths, and None else."""
    if list(found) == [""]:
        return found[""]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        each = [{path: _element(one, k) for path, one in found.items()} for k in range(len(value))]
        return [gathered(one, own) for one, own in zip(value, each, strict=True)]
    items = items_of(value)
    if items is None:
        return dict(found)
    parts = {}
    for key, one in items.items():
        below = dict(_below(found, str(key).lower()))
        parts[key] = gathered(one, below) if below else None
    return container(type(value), parts)


def _element(array: Any, k: int) -> Any:
    element = array[..., k]
    return element if element.ndim else element[()]


def _below(found: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    for path, value in found.items():
        first, _, rest = path.partition("%")
        if first == name:
            yield rest, value
