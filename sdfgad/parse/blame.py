"""Blame: the branches without which a program might be parsed, as what their sides leave differs too much.

Where all else fails, those on run-time integers are decided by making these constants, and those on data by the call at
hand (`sdfgad.parse.value_specialisation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sdfgad.errors import Blame, Location, SdfgadError
from sdfgad.ir.expr import Expr
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor, Unbound


@contextmanager
def blamed(b: Builder, condition: Expr, where: Location | None) -> Iterator[None]:
    """Blame a branch for all that is refused in it."""
    try:
        yield
    except (SdfgadError, NeedsConstant) as error:
        error.blame |= _of_branch(b.deciders(condition), where)
        raise


def blame_for_names(b: Builder, before: Mapping[str, Any], after: Mapping[str, Any], condition: Expr) -> None:
    """Blame a branch for names that have no value behind it, or one of several arrays.

    A branch on data can be decided only with those on data around it.
    """
    blame = _of_branch(b.deciders(condition), b.where)
    if not blame.integers:
        blame |= Blame(frozenset(one.where for one in b.decisions if not one.symbols and one.where is not None))
    for name, value in after.items():
        if value is before.get(name):
            continue
        if isinstance(value, Unbound):
            if isinstance(value.error, (SdfgadError, NeedsConstant)):
                value.error.blame |= blame
        else:
            for buffer in _ambiguous(value):
                b.choices[buffer] = b.choices.get(buffer, Blame()) | blame


def _of_branch(deciders: Iterable[str], where: Location | None) -> Blame:
    integers = frozenset(deciders)
    return Blame(frozenset() if integers or where is None else frozenset((where,)), integers)


def _ambiguous(value: Any) -> set[str]:
    """What errors about arrays and containers name of which a value may be one of several."""
    parts = trees.leaves(value)
    of_containers = {""} if isinstance(value, (list, dict)) else set[str]()
    return of_containers.union(str(one.buffer) for one in parts if isinstance(one, Tensor) and one.copy is not None)
