"""Scopes of temporaries: in which blocks a variable can be declared, as no run of them sees a value of another."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.ir.program import Buffer, Call, Compute, Statement, blocks_of
from sdfgad.schedule.loop_facts import own_buffers
from sdfgad.schedule.thread_independence import begins


def lives_in(statement: Statement, name: str, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a temporary carries nothing from one run of a block in a statement to the next."""
    if isinstance(statement, Compute | Call) or name in own_buffers(statement):
        return False
    blocks = [block for block in blocks_of(statement) if any(name in s.mentioned for s in block)]
    return all(begins(block, buffers[name]) for block in blocks)
