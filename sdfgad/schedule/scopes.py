"""Scopes of temporaries: a variable can be declared in a block if it is not live between two runs of the block."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.dependence.private import carries_no_value
from sdfgad.ir.program import Buffer, Call, Compute, Loop, Statement, blocks_of
from sdfgad.schedule.loop_facts import header_reads


def is_local_to(statement: Statement, name: str, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a temporary can be declared in a statement's blocks: it is not live on entry to any of them."""
    if isinstance(statement, Compute | Call) or name in header_reads(statement):
        return False
    if isinstance(statement, Loop):
        return carries_no_value(statement.users.get(name, ()), buffers[name])
    blocks = [block for block in blocks_of(statement) if any(name in s.mentioned for s in block)]
    return all(carries_no_value(block, buffers[name]) for block in blocks)
