"""Basic blocks: the body of a program in pieces, each of which becomes a function, and a state of a graph.

A piece is one statement, or a run of computations of single elements: a program of scalars has thousands of these, and
what DaCe's generator takes for each state grows with the number of states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdfgad.ir.program import Block, Buffer, Compute, Program, Statement
from sdfgad.schedule.target import cpu


def basic_blocks(program: Program, lifetimes: Mapping[str, tuple[int, int]]) -> Iterator[Block]:
    """The statements of a program's body in order, in pieces.

    A piece begins where an array is allocated, and ends where one is released: neither happens inside.

    Args:
        lifetimes: the live range of each array that the program allocates, as positions in the body.
    """
    first, last = ({span[side] for span in lifetimes.values()} for side in (0, 1))
    found: list[Statement] = []
    for position, statement in enumerate(program.body):
        is_simple = is_scalar(statement, program.buffers)
        if found and (not is_simple or position in first or len(found) == cpu().basic_block):
            yield tuple(found)
            found = []
        found.append(statement)
        if not is_simple or position in last:
            yield tuple(found)
            found = []
    if found:
        yield tuple(found)


def mentioned_in(block: Block) -> frozenset[str]:
    """The buffers that a block mentions."""
    return frozenset[str]().union(*(statement.mentioned for statement in block))


def is_scalar(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement computes one element, on the host."""
    is_one = isinstance(statement, Compute) and not statement.params
    return is_one and not any(buffers[name].is_on_device for name in statement.mentioned)
