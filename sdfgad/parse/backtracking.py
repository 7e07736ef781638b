"""Backtracking: what an attempt to parse something has changed is undone where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sdfgad.errors import SdfgadError
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.frame import Frame

Found = TypeVar("Found")
Raised = tuple[type[Exception], ...]


@dataclass(frozen=True)
class ChoicePoint:
    """Choice point: the parser's state at a statement, to which it can backtrack."""

    state: Any
    env: dict[str, Any]
    depth: int

    @staticmethod
    def of(frame: Frame) -> ChoicePoint:
        return ChoicePoint(frame.b.snapshot(), dict(frame.env), len(frame.loops))

    def backtrack(self, frame: Frame) -> None:
        frame.b.restore(self.state)
        frame.env = dict(self.env)
        del frame.loops[self.depth :]


def attempted(
    frame: Frame, attempt: Callable[[], Found | None], failures: Raised = (NeedsConstant, SdfgadError)
) -> Found | None:
    """What an attempt to parse something returns; None where it fails, and then all is as before.

    Args:
        attempt: returns None or False, or raises one of `failures`, where it fails.
    """
    point = ChoicePoint.of(frame)
    try:
        found = attempt()
    except failures:
        found = None
    if found is None or found is False:
        point.backtrack(frame)
        return None
    return found
