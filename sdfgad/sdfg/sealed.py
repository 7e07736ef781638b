"""Sealed SDFG: the graph of a program as `writer` writes it, with all statements in one node of one state.

It is what is compiled: DaCe's generator writes the frame and the declarations, and our target the statements, for which
it would otherwise read states and nodes. Writing and visiting these takes ten times as long as all the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import dace
from dace.sdfg import nodes

from sdfgad.ir.linear_forms import canonical
from sdfgad.ir.program import Block, Compute, Program
from sdfgad.memory.basic_blocks import basic_blocks, mentioned_in
from sdfgad.memory.lifetimes import lifetimes, local_variables
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.products import product_of
from sdfgad.sdfg.descriptors import as_stored
from sdfgad.sdfg.marks import mark, storage
from sdfgad.sdfg.outline import Arrays
from sdfgad.sdfg.quiet import without_line_info
from sdfgad.sdfg.writer import add_declarations


class Sealed(nodes.Tasklet):
    """A node that holds a whole program; its code only names the symbols that the statements use."""

    program: Program


def write_sealed(program: Program) -> dace.SDFG:
    """The sealed SDFG of a program, with the arguments and arrays of the graph that `write` returns."""
    with without_line_info():
        sdfg = dace.SDFG(program.name)
        add_declarations(sdfg, program, local_variables(program))
        state = sdfg.add_state("program", is_start_block=True)
        symbols = sorted(free_symbols(program.body) & set(program.integers))
        node = Sealed("statements", {}, {}, "\n".join(symbols) or "pass")
        node.program = program
        mark(node)
        state.add_node(node)
        mentioned = mentioned_in(program.body)
        for name in sdfg.arrays:
            if name in mentioned:
                state.add_access(name)
        return sdfg


def sealed_in(state: Any) -> Sealed | None:
    """The node of a sealed graph's state; None if the graph is not sealed."""
    return next((node for node in state.nodes() if isinstance(node, Sealed)), None)


@dataclass(frozen=True)
class Piece:
    """A state of the whole graph: a basic block, or nothing where that graph clears the target of a sum.

    Attributes:
        positions: where its statements are in the program.
        begins, ends: the arrays that are allocated and released before it.
        alone: the arrays that it alone mentions.
    """

    positions: range
    begins: tuple[str, ...]
    ends: tuple[str, ...]
    alone: frozenset[str] = frozenset()


class SealedOutline(Arrays):
    """Outline of a sealed graph, as `sdfgad.sdfg.outline.Outline` is of others."""

    is_straight = True

    def __init__(self, sdfg: Any, sealed: Sealed) -> None:
        self._original, self.device = sealed.program, sealed.program.device
        mentioned = mentioned_in(sealed.program.body)
        buffers = {name: as_stored(sealed.program.buffers[name]) for name in mentioned}
        self.program = replace(sealed.program, buffers=buffers, body=canonical(sealed.program.body, buffers))
        ours = ((name, d) for name, d in sdfg.arrays.items() if d.transient and d.storage == storage)
        self.arrays = tuple(name for name, _ in ours if name in mentioned)

    def is_throughout(self, _: str) -> bool:
        """Whether an array is live in all pieces."""
        return False

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        parts = list(self._parts())
        first, last = dict[str, int](), dict[str, int]()
        for number, (_, names) in enumerate(parts):
            for name in names:
                first.setdefault(name, number)
                last[name] = number
        begins, ends = [[list[str]() for _ in range(len(parts) + 1)] for _ in range(2)]
        for name in self.arrays:
            begins[first[name]].append(name)
            ends[last[name] + 1].append(name)
        alone = [frozenset(begins[n]).intersection(ends[n + 1]) for n in range(len(parts))]
        return tuple(Piece(p, tuple(begins[n]), tuple(ends[n]), alone[n]) for n, (p, _) in enumerate(parts))

    def _parts(self) -> Iterator[tuple[range, frozenset[str]]]:
        """The positions of each piece, and what it mentions."""
        start = 0
        for block in basic_blocks(self._original, lifetimes(self._original)):
            cleared = _cleared(block, self._original)
            if cleared:
                yield range(start, start), cleared
            yield range(start, start + len(block)), mentioned_in(block)
            start += len(block)


def _cleared(block: Block, program: Program) -> frozenset[str]:
    """The target of a single sum that begins anew, other than a product."""
    first = block[0]
    if len(block) > 1 or not isinstance(first, Compute) or not first.fresh:
        return frozenset()
    return first.written if product_of(first, program.buffers) is None else frozenset()
