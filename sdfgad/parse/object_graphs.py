"""Cyclic object graphs: objects that refer to each other, as those of a tree and their parents do.

What `trees` does with values that contain themselves: each list, dict and object is visited once, in preorder.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from sdfgad.errors import Rebound
from sdfgad.parse.tree_nodes import is_inner, is_same_kind, parts_of, with_parts
from sdfgad.parse.values import Record

# The nesting from which on a value is suspected to contain itself.
SUSPECT = 40
THROUGH_TUPLE = "a tuple that contains itself, by a list or an object in it, is replaced in a loop or branch on data"


class Suspected(Exception):
    """Raised where a value is nested so deeply that it may contain itself."""


def is_cyclic(value: Any) -> bool:
    """Whether a value contains itself."""
    return is_inner(value) and _has_back_edge(value)


def _has_back_edge(root: Any) -> bool:
    """Depth-first search, without recursion, for an edge to what is being visited."""
    being, done, stack = {id(root)}, set[int](), [(root, iter(parts_of(root)))]
    while stack:
        value, rest = stack[-1]
        part = next((one for one in rest if is_inner(one) and id(one) not in done), None)
        if part is None:
            stack.pop()
            being.discard(id(value))
            done.add(id(value))
        elif id(part) in being:
            return True
        else:
            being.add(id(part))
            stack.append((part, iter(parts_of(part))))
    return False


def nodes(root: Any) -> Iterator[Any]:
    """What a value is and consists of, down to its leaves; lists, dicts, objects and tuples once each."""
    seen, left = set[int](), [root]
    while left:
        value = left.pop()
        if not is_inner(value):
            yield value
        elif id(value) not in seen:
            seen.add(id(value))
            yield value
            left += reversed(parts_of(value))


def are_alike(values: list[Any]) -> bool:
    """Graph isomorphism: whether values have one structure, and contain themselves in the same places."""
    numbers: list[dict[int, int]] = [{} for _ in values]
    left = [values]
    while left:
        column = left.pop()
        if not any(map(is_inner, column)):
            continue
        known = {seen.get(id(value)) for seen, value in zip(numbers, column, strict=True)}
        if len(known) > 1 or not all(is_same_kind(column[0], value) for value in column):
            return False
        if known == {None}:
            for seen, value in zip(numbers, column, strict=True):
                seen[id(value)] = len(seen)
            left += reversed([list(one) for one in zip(*map(parts_of, column), strict=True)])
    return True


def rebuilt(
    like: Any, each: Callable[[Any], Any], same: Container[int] = (), made: dict[int, Any] | None = None
) -> Any:
    """A graph with the structure of `like` and its leaves mapped; what has its id in `same` stays what it is.

    Args:
        made: by id, what stands for containers that have been rebuilt before; those of this graph are added.

    Raises:
        Rebound: the cycle leads through a tuple, which cannot be made before its parts.
    """
    return _Rebuilding(each, same, {} if made is None else made).of(like)


class _Rebuilding:
    """`made`: by id, what stands for each container; None for a tuple that is being made."""

    def __init__(self, each: Callable[[Any], Any], same: Container[int], made: dict[int, Any]) -> None:
        self.each, self.same, self.made = each, same, made

    def of(self, value: Any) -> Any:
        if not is_inner(value):
            return self.each(value)
        if id(value) not in self.made:
            self._make(value)
        found = self.made[id(value)]
        if found is None:
            raise Rebound(THROUGH_TUPLE, None, "Keep what it contains in a list, or in attributes of an object.")
        return found

    def _make(self, value: Any) -> None:
        if isinstance(value, Record):
            self._make_record(value)
            return
        self.made[id(value)] = shell = self._shell(value)
        parts = [self.of(part) for part in parts_of(value)]
        if shell is None:
            self.made[id(value)] = value if id(value) in self.same else with_parts(value, parts)
        elif shell is not value and isinstance(shell, list):
            shell[:] = parts
        elif shell is not value:
            shell.update(zip(value, parts, strict=True))

    def _make_record(self, value: Record) -> None:
        fields, is_new = value.fields, id(value.fields) not in self.made
        shell = self.made.setdefault(id(fields), self._shell(fields))
        self.made[id(value)] = value if shell is fields else Record(value.cls, shell)
        parts = [self.of(part) for part in parts_of(fields)] if is_new else []
        if is_new and shell is not fields:
            shell.update(zip(fields, parts, strict=True))

    def _shell(self, value: Any) -> Any:
        """A list or dict whose parts come later, as it may be among them; None for a tuple."""
        if not isinstance(value, (list, dict)):
            return None
        return value if id(value) in self.same else value.copy()
