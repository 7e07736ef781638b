"""Scopes of temporaries: a variable can be declared in a block if no value of it survives from one run to the next."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.ir.program import Buffer, Call, Compute, Statement, blocks_of
from sdfgad.schedule.loop_facts import own_buffers
from sdfgad.schedule.thread_independence import begins


def lives_in(statement: Statement, name: str, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a temporary can be declared in a statement's blocks: no run of them reads a value from an earlier run."""
    if isinstance(statement, Compute | Call) or name in own_buffers(statement):
        return False
    blocks = [block for block in blocks_of(statement) if any(name in s.mentioned for s in block)]
    return all(begins(block, buffers[name]) for block in blocks)
