"""Copy elimination for tapes: an array that each trip of a loop overwrites is stored in a tape slot from the start.

If each trip assigns all of an array, at once or part by part, and nothing outside the loop uses it, all that the trip
and its adjoint do with the array is done in the trip's slot of the tape. Otherwise the trip would copy to the tape what
the trip before left, and the reversal would copy it back; now nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sdfgad.dependence.boxes import Box, intersection, volume
from sdfgad.dependence.regions import box_of, overwrites
from sdfgad.gradient.tapes import Tape
from sdfgad.ir.expr import Expr, Lin, Read
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
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


def slots_for(adjoint: Adjoint, tapes: Mapping[Key, Tape]) -> tuple[dict[Key, Slot], dict[Key, Tape]]:
    """The residuals that can be stored in tape slots from the start, by their keys; and all tapes, with whole slots."""
    slots, changed = dict[Key, Slot](), dict(tapes)
    for keys in _own(adjoint):
        tape = _whole(tapes[keys[0]], adjoint, keys[0])
        if tape is not None:
            rank = len(adjoint.primal.buffers[keys[0][1]].shape)
            place = Access(tape.buffer.name, tape.store.target.index[: len(tape.buffer.shape) - rank])
            slots |= dict.fromkeys(keys, Slot(keys[0][1], place))
            changed |= dict.fromkeys(keys, tape)
    return slots, changed


def _whole(tape: Tape, adjoint: Adjoint, key: Key) -> Tape | None:
    """A tape with a slot for all of an array in place of one for a part; None for a flat one, of a triangular nest."""
    shape, box = adjoint.primal.buffers[key[1]].shape, tuple(e for _, e in adjoint.residuals[key].params)
    before = tape.buffer.shape[: len(tape.buffer.shape) - len(box)]
    if not before or tape.buffer.shape[len(before) :] != box:
        return None
    return replace(tape, buffer=replace(tape.buffer, shape=(*before, *shape)))


def _own(adjoint: Adjoint) -> Iterator[tuple[Key, ...]]:
    """The keys of arrays that each trip of a loop overwrites, at once or in parts, and that only the loop mentions."""
    primal, save_points = adjoint.primal, adjoint.save_points
    outside, seen = {*primal.inputs, *primal.outputs.values()}, set[tuple[int, str]]()
    for number, buffer in adjoint.residuals:
        loops = save_points.loops[number]
        if not loops or (loops[-1][0], buffer) in seen or buffer in outside or not primal.buffers[buffer].shape:
            continue
        first, loop = loops[-1]
        seen.add((first, buffer))
        inside = range(first + 1, first + loop.size + 1)
        is_alone = not _is_mentioned_outside(save_points.statements, (first, first + loop.size), buffer)
        parts = _parts(loop, primal.buffers[buffer]) if is_alone and _is_assigned(loop, buffer) else ()
        keys = tuple((n, buffer) for n in inside if any(save_points.statements[n] is part for part in parts))
        if keys and all(key in adjoint.residuals for key in keys):
            yield keys


def _parts(loop: Loop, buffer: Buffer) -> Sequence[Statement]:
    """The first statements of a loop's own body that mention an array, if each element is assigned by one of them."""
    parts, boxes = list[Statement](), list[Box]()
    for statement in loop.body:
        if buffer.name not in statement.mentioned:
            continue
        if not isinstance(statement, Compute) or any(read.buffer == buffer.name for read in reads_of(statement)):
            return ()
        parts.append(statement)
        if len(parts) == 1 and overwrites(statement, buffer):
            return parts
        box = box_of(statement, buffer.shape)
        if box is None or any(volume(intersection(box, other)) for other in boxes):
            return ()
        boxes.append(box)
        if sum(map(volume, boxes)) == math.prod(extent.const for extent in buffer.shape):
            return parts
    return ()


def _is_mentioned_outside(statements: Sequence[Statement], inside: tuple[int, int], buffer: str) -> bool:
    first, last = inside
    return any(buffer in buffers_of(s) for n, s in enumerate(statements) if not first < n <= last)


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
