"""Blame: the branches on data without which a program might be parsed, as what their sides leave differs too much.

Where all else fails, these are decided by the call at hand (`sdfgad.parse.value_specialisation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sdfgad.errors import Location, SdfgadError
from sdfgad.ir.expr import Expr
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor, Unbound


@contextmanager
def blamed(b: Builder, condition: Expr, where: Location | None) -> Iterator[None]:
    """Blame a branch for all that is refused in it, if data decides it."""
    try:
        yield
    except (SdfgadError, NeedsConstant) as error:
        if where is not None and not b.deciders(condition):
            error.branches |= {where}
        raise


def blame_for_names(b: Builder, before: Mapping[str, Any], after: Mapping[str, Any], condition: Expr) -> None:
    """Blame a branch, and those around it, for names that have no value behind it, or one of several arrays."""
    if b.deciders(condition) or b.where is None:
        return
    around = [one.where for one in b.decisions if not one.symbols and one.where is not None]
    lines = frozenset((b.where, *around))
    for name, value in after.items():
        if value is before.get(name):
            continue
        if isinstance(value, Unbound):
            if isinstance(value.error, (SdfgadError, NeedsConstant)):
                value.error.branches |= lines
        else:
            for buffer in _ambiguous(value):
                b.choices[buffer] = b.choices.get(buffer, frozenset()) | lines


def _ambiguous(value: Any) -> set[str]:
    """What errors about arrays and containers name of which a value may be one of several."""
    parts = trees.leaves(value)
    of_containers = {""} if isinstance(value, (list, dict)) else set[str]()
    return of_containers.union(str(one.buffer) for one in parts if isinstance(one, Tensor) and one.copy is not None)
