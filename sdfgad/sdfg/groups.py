"""Logical groups for the SDFG viewer, in colours: the arrays of a gradient program that are stored, and recomputed."""

from __future__ import annotations

from typing import Any

from dace.sdfg.nodes import AccessNode
from dace.sdfg.sdfg import LogicalGroup

from sdfgad.gradient.assemble import GradientProgram

STORED, RECOMPUTED, KEPT = "#1f77b4", "#ff7f0e", "#2ca02c"

# DaCe leaves out of what it saves that there are none, and its viewer stops where it does not find them.
NO_STATES = [-1]


def add_groups(sdfg: Any, gradient_program: GradientProgram) -> None:
    """Gives an SDFG the groups "stored", "recomputed" and "kept states", which the viewer shades.

    The viewer knows a node by its number and that of its state, and states of different loops may share a number.
    """
    groups = {
        "stored": (STORED, set(gradient_program.tapes.values())),
        "recomputed": (RECOMPUTED, {new for names in gradient_program.copies for new in names.values()}),
        "kept states": (
            KEPT,
            {b.name for checkpoint in gradient_program.checkpoints.values() for b, _ in checkpoint.states.values()},
        ),
    }
    for nested in sdfg.all_sdfgs_recursive():
        found = {name: _accesses(nested, buffers) for name, (_, buffers) in groups.items()}
        nested.logical_groups = [LogicalGroup(name, groups[name][0], n, NO_STATES) for name, n in found.items() if n]


def _accesses(sdfg: Any, buffers: set[str]) -> list[tuple[int, int]]:
    return [
        (state.parent_graph.node_id(state), state.node_id(node))
        for state in sdfg.states()
        for node in state.nodes()
        if isinstance(node, AccessNode) and node.data in buffers
    ]
