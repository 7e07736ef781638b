"""Dead-store elimination of clears: the first contribution to a cleared buffer assigns it instead of adding to it."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.boxes import intersection, volume, without
from sdfgad.dependence.regions import is_same_region, region_of, restricted
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Const, Int, reads
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Compute, Program, Statement
from sdfgad.optimise.blocks import everywhere

# A first contribution to a part assigns it if that is at least this share of what is cleared.
SHARE = 0.5


def assign_first(program: Program) -> Program:
    """The program with ``b[...] = 0; …; b[p] += e`` as ``b[p] = e``, where nothing in between mentions `b`."""
    return program.with_body(everywhere(program.body, _block))


def _block(block: Block) -> Block:
    result: list[Statement] = []
    # Last first, so that what one clear leaves is not looked at again.
    for statement in reversed(block):
        if isinstance(statement, Compute) and is_clear(statement):
            result = _merged(statement, result)
        else:
            result.insert(0, statement)
    return tuple(result)


def is_clear(statement: Compute, value: float | None = None) -> bool:
    """Whether a statement assigns a constant: the given one, if `value` is given; -0.0 is none that is cleared to."""
    if statement.accumulate is not None or not isinstance(statement.value, Const):
        return False
    number = statement.value.value
    return value is None or (number == value and not (number == 0 and "-" in repr(number)))


def _merged(clear: Compute, rest: list[Statement]) -> list[Statement]:
    """A clear and the statements after it, with the clear merged into the first use if that is a contribution."""
    buffer = clear.target.buffer
    position = next((k for k, statement in enumerate(rest) if buffer in statement.mentioned), None)
    first = rest[position] if position is not None else None
    if position is None or not isinstance(first, Compute) or not _contributes(first, clear):
        return [clear, *rest]
    made = _assigning(clear, first)
    return [clear, *rest] if made is None else [*rest[:position], *made, *rest[position + 1 :]]


def _contributes(statement: Compute, clear: Compute) -> bool:
    kind = statement.accumulate
    if statement.target.buffer != clear.target.buffer or kind is None or statement.fresh:
        return False
    if not is_clear(clear, OPERATIONS[kind].identity):
        return False
    return all(read.buffer != statement.target.buffer for read in reads(statement.value))


def _assigning(clear: Compute, first: Compute) -> list[Statement] | None:
    """The contribution as an assignment, with clears of the elements that it does not reach."""
    if is_same_region(clear, first):
        return [_fresh(first)]
    whole, part = region_of(clear), region_of(first)
    if whole is None or part is None or whole.shape_key != part.shape_key:
        return None
    # What an index is read from may have changed in between.
    if reads(*(Int(lin) for _, lin in whole.fixed)):
        return None
    if intersection(whole.box, part.box) != part.box or volume(part.box) < SHARE * volume(whole.box):
        return None
    return [_fresh(first), *(restricted(clear, whole, box) for box in without(whole.box, part.box))]


def _fresh(statement: Compute) -> Compute:
    is_sum = len(own_params(statement)) < len(statement.params)
    return replace(statement, fresh=True) if is_sum else replace(statement, accumulate=None)
