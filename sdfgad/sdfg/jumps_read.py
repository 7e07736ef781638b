"""Single exit: blocks that leave a trip, a loop or a graph become flags, and what follows them is guarded.

What follows a branch of which one side always jumps belongs to the other side; else it stands behind a test of the
flags that were set. A loop that a flag ends counts its trips itself (docs/adr/0005-jumps-become-structure.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dace.sdfg.state import AbstractControlFlowRegion, BreakBlock, ContinueBlock, LoopRegion, ReturnBlock

from sdfgad.errors import Location, UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op
from sdfgad.ir.program import Access, Block, Branch, Compute, Statement, walk
from sdfgad.sdfg.branches import branch
from sdfgad.sdfg.scope import Exits, Scope, located

JUMPS = (BreakBlock, ContinueBlock, ReturnBlock)
TODO = "Let it stand in a loop, or directly in an SDFG that it returns from."


def is_jump(block: Any) -> bool:
    return isinstance(block, JUMPS)


def jump_of(block: Any, scope: Scope) -> Block:
    """The statement that sets a jump's flag.

    Raises:
        UnsupportedGraph: there is nothing to leave.
    """
    exits = scope.exits
    flag = {BreakBlock: exits.stop, ContinueBlock: exits.skip, ReturnBlock: exits.returned}[type(block)]
    if not flag:
        what = f"the block `{block.label}` of type {type(block).__name__} has no loop, or no graph of its own, to leave"
        raise UnsupportedGraph(what, located(block), TODO)
    return (_set(flag, 1, located(block)),)


# --- flags


def inside_graph(sdfg: Any, scope: Scope) -> Scope:
    """The scope in a graph, with a flag for returning from it, if it does."""
    has_return = any(isinstance(block, ReturnBlock) for block in sdfg.all_control_flow_blocks())
    return replace(scope, exits=Exits(returned=_flag("returned", scope) if has_return else ""))


def inside_loop(loop: Any, scope: Scope) -> Scope:
    """The scope in the trips of a loop, with flags for leaving a trip and the loop, where there are such blocks."""
    kinds = {type(block) for block in _own_blocks(loop)}
    stop = _flag("stopped", scope) if BreakBlock in kinds else ""
    skip = _flag("skipped", scope) if ContinueBlock in kinds else ""
    return replace(scope, exits=Exits(scope.exits.returned, stop, skip))


def _own_blocks(region: Any) -> Iterable[Any]:
    """The blocks of a region, and of those in it that are no loops."""
    for block in region.nodes():
        yield block
        if isinstance(block, AbstractControlFlowRegion) and not isinstance(block, LoopRegion):
            yield from _own_blocks(block)


def _flag(name: str, scope: Scope) -> str:
    return scope.buffers.make(scope.buffers.names.fresh(name), (), INT).name


def _set(flag: str, value: int, where: Location | None = None) -> Compute:
    return Compute((), Access(flag), Const(value, INT), where=where)


def cleared(block: Sequence[Statement], *flags: str) -> Block:
    """The statements that clear those of some flags that a block sets."""
    return tuple(_set(flag, 0) for flag in flags if flag and flag in _written(block))


def left_by(block: Sequence[Statement], scope: Scope) -> tuple[str, ...]:
    """The flags by which a block in the trips of a loop ends it."""
    return tuple(flag for flag in (scope.exits.returned, scope.exits.stop) if flag and flag in _written(block))


def is_any(flags: Sequence[str]) -> Expr:
    """Whether one of some flags is set, as 1 or 0."""
    values = [Access(flag).read(INT) for flag in flags]
    value: Expr = values[0]
    for other in values[1:]:
        value = Op("maximum", (value, other), INT)
    return value


def is_none(flags: Sequence[str]) -> Expr:
    """Whether none of some flags is set, as a condition."""
    return Op("equal", (is_any(flags), Const(0, INT)), BOOL)


def _written(block: Sequence[Statement]) -> set[str]:
    return {one.target.buffer for one in walk(tuple(block)) if isinstance(one, Compute) and not one.params}


# --- what follows


@dataclass
class Parts:
    """The statements of a region in the making, in parts: each further one runs where none before has jumped."""

    scope: Scope
    found: list[list[Statement]]

    @staticmethod
    def of(scope: Scope) -> Parts:
        return Parts(scope, [[]])

    @property
    def last(self) -> list[Statement]:
        return self.found[-1]

    def add(self, statements: Block) -> None:
        """Adds statements; what is added after them is guarded, if they jump."""
        self.last.extend(statements)
        if self.scope.exits != Exits() and _flags_in(statements, self.scope):
            self.found.append([])

    def joined(self) -> Block:
        """All of them as one block."""
        *before, rest = (tuple(part) for part in self.found)
        for part in reversed(before):
            rest = _followed(part, rest, self.scope)
        return rest


def _flags_in(block: Sequence[Statement], scope: Scope) -> tuple[str, ...]:
    exits = scope.exits
    return tuple(flag for flag in (exits.returned, exits.stop, exits.skip) if flag and flag in _written(block))


def _followed(part: Block, rest: Block, scope: Scope) -> Block:
    """Statements of which the last ones may jump, and what runs where they have not."""
    flags = _flags_in(part, scope)
    if not rest or _always_jumps(part, flags):
        return part
    last = part[-1]
    if isinstance(last, Branch) and not _flags_in(part[:-1], scope):
        sides = [(_always_jumps(side, flags), bool(_flags_in(side, scope))) for side in (last.then, last.orelse)]
        if sides == [(True, True), (False, False)]:
            return (*part[:-1], *branch(last.condition, last.then, (*last.orelse, *rest), scope, last.where))
        if sides == [(False, False), (True, True)]:
            return (*part[:-1], *branch(last.condition, (*last.then, *rest), last.orelse, scope, last.where))
    return (*part, *branch(is_none(flags), rest, (), scope))


def _always_jumps(block: Block, flags: Sequence[str]) -> bool:
    if not block:
        return False
    last = block[-1]
    if isinstance(last, Branch):
        return _always_jumps(last.then, flags) and _always_jumps(last.orelse, flags)
    return isinstance(last, Compute) and last.target.buffer in flags
