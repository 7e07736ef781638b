"""Control-flow raising: loops and branches of states become LoopRegions and ConditionalBlocks, by DaCe's own pass."""

from __future__ import annotations

from typing import Any

from dace.sdfg.state import ConditionalBlock
from dace.transformation.passes.simplification.control_flow_raising import ControlFlowRaising


def raise_control_flow(sdfg: Any) -> None:
    """Raises what DaCe recognises; what it does not, the reader refuses."""
    for one in sdfg.all_sdfgs_recursive():
        if _has_jumps(one):
            one.reset_cfg_list()
            ControlFlowRaising().apply_pass(one, {})
    sdfg.reset_cfg_list()


def _has_jumps(sdfg: Any) -> bool:
    """Whether an edge between states has a condition, or a state several successors."""
    regions = [region for region in sdfg.all_control_flow_regions() if not isinstance(region, ConditionalBlock)]
    return any(
        len(region.out_edges(block)) > 1 or any(not e.data.is_unconditional() for e in region.out_edges(block))
        for region in regions
        for block in region.nodes()
    )
