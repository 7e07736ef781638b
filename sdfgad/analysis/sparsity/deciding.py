"""The integers that decide what a statement does to index sets: those in indices, bounds and conditions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from sdfgad.ir.expr import Expr, Int, Op, Read, postorder, symbols_of
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop, Statement, walk


class Deciding:
    """What decides the effects of the statements of a program, each of which is asked for often.

    Args:
        inputs: the buffers that never change.
    """

    def __init__(self, inputs: frozenset[str]) -> None:
        self.inputs = inputs
        self.found: dict[Compute, tuple[str, ...] | None] = {}

    def symbols(self, block: Block) -> set[str]:
        """The symbols that decide what a block does."""
        return symbols_of(*(expr for statement in walk(block) for expr in _deciding(statement)))

    def key(self, statement: Compute, symbols: Mapping[str, int]) -> Hashable | None:
        """What is equal where the effect is; None if integers decide it that statements compute."""
        if statement not in self.found:
            deciding = _deciding(statement)
            integers = {read.buffer for expr in deciding for read in expr.reads if read.dtype.kind not in "fc"}
            self.found[statement] = tuple(sorted(symbols_of(*deciding))) if integers <= self.inputs else None
        names = self.found[statement]
        return None if names is None else (statement, *map(symbols.get, names))


def _deciding(statement: Statement) -> tuple[Expr, ...]:
    if isinstance(statement, Branch):
        return (statement.condition,)
    if isinstance(statement, Loop):
        return (Int(statement.start), Int(statement.trips))
    if isinstance(statement, Call):
        return ()
    forms = (*statement.target.index, *(extent for _, extent in statement.params))
    if statement.value.dtype.kind not in "fc":
        return (*map(Int, forms), statement.value)
    nodes = list(postorder(statement.value))
    conditions = [node.args[0] for node in nodes if isinstance(node, Op) and node.name == "select"]
    # A number that is read is no decision, its index is.
    return (
        *map(Int, forms),
        *(Int(form) for node in nodes if isinstance(node, Read) for form in node.index),
        *conditions,
    )
