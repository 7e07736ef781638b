"""Copy elimination for tapes: an array that each trip of a loop overwrites is stored in a tape slot from the start.

If each trip assigns all of an array, and nothing outside the loop uses it, all that the trip and its adjoint do with
the array is done in the trip's slot of the tape. Otherwise the trip would copy to the tape what the trip before left,
and the reversal would copy it back; now nothing is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sdfgad.analysis.exposure import overwrites
from sdfgad.gradient.tapes import Tape
from sdfgad.ir.expr import Expr, Lin, Read
from sdfgad.ir.program import (
    Access,
    Block,
    Call,
    Compute,
    Loop,
    Statement,
    buffers_of,
    reads_of,
    rewrite_statement,
    touching,
    transform,
    writes_of,
)
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.save_points import Key


@dataclass(frozen=True)
class Slot:
    """The place of a buffer on a tape: the tape, and the indices that come before those of an element."""

    buffer: str
    place: Access


def slots_for(adjoint: Adjoint, tapes: Mapping[Key, Tape]) -> dict[Key, Slot]:
    """The residuals that can be stored in tape slots from the start, by their keys."""
    result: dict[Key, Slot] = {}
    for key in _own(adjoint):
        shape, tape = adjoint.primal.buffers[key[1]].shape, tapes[key]
        # A flat tape, of a triangular nest, has no axes for the elements.
        if len(tape.buffer.shape) > len(shape) and tape.buffer.shape[-len(shape) :] == shape:
            index = tape.store.target.index[: -len(shape)]
            result[key] = Slot(key[1], Access(tape.buffer.name, index))
    return result


def _own(adjoint: Adjoint) -> Iterator[Key]:
    """The keys of arrays that each trip of a loop overwrites, and that nothing outside the loop mentions."""
    primal, save_points = adjoint.primal, adjoint.save_points
    outside = {*primal.inputs, *primal.outputs.values()}
    for number, buffer in adjoint.residuals:
        statement, loops = save_points.statements[number], save_points.loops[number]
        is_own = bool(loops) and buffer not in outside and bool(primal.buffers[buffer].shape)
        if is_own and overwrites(statement, primal.buffers[buffer]):
            first, loop = loops[-1]
            is_alone = not _is_mentioned_outside(save_points.statements, (first, first + loop.size), buffer)
            if is_alone and _begins_with(loop, statement, buffer) and _is_assigned(loop, buffer):
                yield number, buffer


def _is_mentioned_outside(statements: Sequence[Statement], inside: tuple[int, int], buffer: str) -> bool:
    first, last = inside
    return any(buffer in buffers_of(s) for n, s in enumerate(statements) if not first < n <= last)


def _begins_with(loop: Loop, first: Statement, buffer: str) -> bool:
    """Whether a statement of the loop's own body is the first that does anything with a buffer."""
    if not isinstance(first, Compute) or any(read.buffer == buffer for read in reads_of(first)):
        return False
    return next((s for s in loop.body if buffer in s.mentioned), None) is first


def _is_assigned(loop: Loop, buffer: str) -> bool:
    """Whether all that writes a buffer assigns, element by element."""
    users = [s for s in touching(loop.users, buffer) if buffer in buffers_of(s)]
    writers = [s for s in users if any(access.buffer == buffer for access, _ in writes_of(s))]
    return all(isinstance(s, Compute) and s.accumulate is None for s in writers) and not any(
        isinstance(s, Call) for s in users
    )


def on_tape(block: Block, slot: Slot) -> Block:
    """A block in which all uses of a buffer are uses of a slot of its tape."""

    def place(index: tuple[Lin, ...]) -> tuple[Lin, ...]:
        return (*slot.place.index, *index)

    def moved(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer != slot.buffer:
            return None
        return Read(slot.place.buffer, place(node.index), node.dtype)

    def each(statement: Statement) -> Block:
        if slot.buffer not in buffers_of(statement):
            return (statement,)
        changed = rewrite_statement(statement, replace_node=moved)
        if isinstance(changed, Compute) and changed.target.buffer == slot.buffer:
            changed = replace(changed, target=Access(slot.place.buffer, place(changed.target.index)))
        return (changed,)

    return transform(block, each, {slot.buffer})
