"""Sealed SDFG: the graph of a program as `writer` writes it, with statements in place of what is inside its nodes.

It is what is compiled: DaCe's generator asks our target for each node as a whole, and the target writes the statements
that it would read from the inside of the node. Writing that inside takes ten times as long as all the rest.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import dace
from dace.sdfg import nodes

from sdfgad.ir.program import Block, Compute, Program
from sdfgad.memory.basic_blocks import basic_blocks, mentioned_in
from sdfgad.memory.lifetimes import lifetimes, local_variables
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.products import product_of
from sdfgad.sdfg.computations import label
from sdfgad.sdfg.descriptors import whole
from sdfgad.sdfg.marks import mark
from sdfgad.sdfg.quiet import without_line_info
from sdfgad.sdfg.writer import Place, add_declarations


class Sealed(nodes.Tasklet):
    """A node that holds statements of a program; its code only names the symbols that these use."""

    block: Block
    program: Program


def write_sealed(program: Program) -> dace.SDFG:
    """The sealed SDFG of a program, with the arguments, arrays and states of the graph that `write` returns."""
    with without_line_info():
        sdfg = dace.SDFG(program.name)
        local = local_variables(program)
        add_declarations(sdfg, program, local)
        place = Place(sdfg, sdfg, frozenset(local), sdfg.add_state("start", is_start_block=True))
        for number, block in enumerate(basic_blocks(program, lifetimes(program))):
            cleared = _cleared(block, program)
            if cleared:
                # The graph clears the target of a sum in a state before.
                _add(place.follow(sdfg.add_state(f"clear_{number}")), (), program, cleared)
            _add(place.follow(sdfg.add_state(f"s_{number}")), block, program, mentioned_in(block))
        return sdfg


def _cleared(block: Block, program: Program) -> frozenset[str]:
    """The target of a single sum that begins anew, other than a product."""
    first = block[0]
    if len(block) > 1 or not isinstance(first, Compute) or not first.fresh:
        return frozenset()
    return first.written if product_of(first, program.buffers) is None else frozenset()


def _add(state: Any, block: Block, program: Program, mentioned: Set[str]) -> None:
    names = sorted(name for name in mentioned if name in state.sdfg.arrays)
    symbols = sorted(free_symbols(block) & set(program.integers))
    # What it reads is an output, too: only that it is mentioned counts.
    outputs = dict.fromkeys(f"_{name}_" for name in names)
    node = Sealed(label(block[0]) if block else "clear", {}, outputs, "\n".join(symbols) or "pass")
    node.block, node.program = block, program
    mark(node)
    state.add_node(node)
    for name in names:
        state.add_edge(node, f"_{name}_", state.add_access(name), None, whole(state.sdfg, name))
