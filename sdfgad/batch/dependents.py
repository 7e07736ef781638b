"""What depends on some inputs of a program: by data, by indices, or by the flow of control."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sdfgad.ir.program import Block, Branch, Loop, Program, Statement, blocks_of, reads_of, writes_of

# One for all entries of a batch: whether any of them failed.
SHARED = frozenset({"status"})


def dependents(program: Program, inputs: Collection[str]) -> frozenset[str]:
    """The buffers whose values may depend on the inputs, with these."""
    found = set(inputs)
    while True:
        before = len(found)
        for statement, deciding in _with_control(program.body, frozenset()):
            read = {one.buffer for one in reads_of(statement)} | deciding
            if not read.isdisjoint(found):
                found |= {access.buffer for access, _ in writes_of(statement)} - SHARED
        if len(found) == before:
            return frozenset(found)


def _with_control(block: Block, deciding: frozenset[str]) -> Iterator[tuple[Statement, frozenset[str]]]:
    """All statements, each with the buffers that decide whether and how often it runs."""
    for statement in block:
        yield statement, deciding
        if isinstance(statement, (Branch, Loop)):
            more = deciding | {one.buffer for one in reads_of(statement)}
            for inner in blocks_of(statement):
                yield from _with_control(inner, more)
