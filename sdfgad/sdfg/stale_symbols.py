"""Reaching definitions of symbols: which ones no longer have the value of what they were assigned from."""

from __future__ import annotations

from typing import Any

from dace import symbolic
from dace.sdfg.state import AbstractControlFlowRegion, LoopRegion

from sdfgad.ir.expr import Expr
from sdfgad.sdfg.scope import Scope


class StaleSymbols:
    """The symbols of a region whose values came from data that has changed since, each with its buffer."""

    def __init__(self) -> None:
        self._buffers: dict[str, str] = {}

    def enter(self, block: Any, assignments: dict[str, str], scope: Scope) -> None:
        """Raises: UnsupportedGraph, where a block, or an assignment before it, reads such a symbol."""
        if not self._buffers:
            return
        texts = (symbolic.pystr_to_symbolic(str(value)) for value in assignments.values())
        _refuse(scope, self._buffers, block, {str(s) for text in texts for s in text.free_symbols})
        self._buffers = {name: buffer for name, buffer in self._buffers.items() if name not in assignments}
        if self._buffers:
            _refuse(scope, self._buffers, block, block.free_symbols)

    def leave(self, block: Any, scope: Scope, buffers: set[str]) -> None:
        """Notes what a block has written; raises UnsupportedGraph where it still reads such a symbol itself."""
        changed = _from_data(scope, buffers)
        if changed:
            _refuse(scope, changed, block, _used_inside(block))
        self._buffers |= changed


def assigned_inside(block: Any) -> set[str]:
    """The symbols that a loop or a branch assigns: their values are not known after it, nor when a trip begins."""
    if not isinstance(block, AbstractControlFlowRegion):
        return set()
    loops = {b.loop_variable for b in block.all_control_flow_blocks() if isinstance(b, LoopRegion)}
    own = {block.loop_variable} if isinstance(block, LoopRegion) else set()
    return own | loops | {name for edge in block.all_interstate_edges() for name in edge.data.assignments}


def _from_data(scope: Scope, buffers: set[str]) -> dict[str, str]:
    """The symbols that were assigned the contents of some buffers, each with one of these buffers."""
    forms = ((name, form) for name, form in scope.symbols.items() if not scope.is_variable(name))
    atoms = ((name, atom) for name, form in forms for atom, _ in form.terms if isinstance(atom, Expr))
    return {name: read.buffer for name, atom in atoms for read in atom.reads if read.buffer in buffers}


def _used_inside(block: Any) -> set[str]:
    """The symbols that are used while a block runs; the bounds of a loop are known before."""
    if not isinstance(block, LoopRegion):
        return set(block.free_symbols)
    edges = {name for edge in block.edges() for name in edge.data.free_symbols}
    return edges.union(*(inner.free_symbols for inner in block.nodes()))


def _refuse(scope: Scope, symbols: dict[str, str], block: Any, used: set[str]) -> None:
    for name in sorted(symbols.keys() & used):
        what = f"the symbol `{name}` in `{block.label}` is what was in `{symbols[name]}`, which has changed"
        raise scope.kept(name, what)
