"""Liveness after a loop: whether nothing reads what a statement leaves in a buffer."""

from __future__ import annotations

from collections.abc import Sequence

from sdfgad.dependence.private import carries_no_value
from sdfgad.ir.program import Block, Buffer, Loop, Statement


def is_dead_after(around: Sequence[tuple[Statement | None, Block]], buffer: Buffer) -> bool:
    """Whether all that runs after a statement assigns the elements of a buffer before it reads them.

    Args:
        around: the blocks around the statement, from the outermost one: the statement that each is of, None for the
            program, and what is in it after the statement, or after what contains it.
    """
    for owner, rest in around:
        later = tuple(s for s in rest if buffer.name in s.mentioned)
        if later and not carries_no_value(later, buffer):
            return False
        if isinstance(owner, Loop) and not carries_no_value(owner.users.get(buffer.name, ()), buffer):
            return False
    return True
