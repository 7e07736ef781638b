"""Alias analysis of lists and dicts where paths of a program meet.

There each list becomes another one, whose items are phi nodes. In Python it is still the list of the path that was
taken, to which other names may refer: then it must not be changed, and it is stale once one of these lists is changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.values import UNDEFINED, MaybeBound, Record


def is_shared(frame: Frame, value: Any, env: dict[str, Any]) -> bool:
    """Whether more than one name or part refers, or may refer, to a list or dict in the value of a name of `env`."""
    containers = [one for one in trees.sequences(value) if isinstance(one, (list, dict, Record))]
    if not containers:
        return False
    found = trees.references([*env.values(), frame.caller, frame.lexical], frame)
    found.update(id(other) for copy, others in frame.b.contents.copies if found[id(copy)] for other in others)
    return any(found[id(one)] > 1 or frame.b.contents.is_copy(one) for one in containers)


def only_one(b: Builder, values: Iterable[Any], depth: int) -> Any:
    """The list, dict or object, made at this depth of blocks or further out, that a name has wherever it is read; else
    None. Where the others are undefined, it is not read."""
    known = {id(value): value for value in values if value is not UNDEFINED}
    one = next(iter(known.values())) if len(known) == 1 else None
    parts = one.fields if isinstance(one, Record) else one
    is_older = isinstance(parts, (list, dict)) and b.contents.has(parts) and b.contents.depth(parts) <= depth
    return one if is_older else None


def same_containers(values: list[Any]) -> frozenset[int]:
    """The ids of the lists and dicts that are the same in all of some values of one structure."""
    columns = zip(*map(trees.sequences, values), strict=False)
    return frozenset(id(first) for first, *rest in columns if all(other is first for other in rest))


def add_copies(b: Builder, merged: Any, values: Iterable[Any]) -> None:
    """Record that the lists and dicts of a merged value may be those of the values that meet in it."""
    columns = [list(trees.sequences(_bare(value))) for value in values]
    for position, one in enumerate(trees.sequences(_bare(merged))):
        others = [column[position] for column in columns if position < len(column)]
        if isinstance(one, (list, dict)) and not any(other is one for other in others):
            b.contents.add_copy(one, [other for other in others if type(other) is type(one)])


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, MaybeBound) else value
