"""Copy elimination for tapes: what each trip of a loop overwrites is stored in a tape slot from the start.

If each trip first assigns a number or all of an array, at once or part by part, and nothing outside the loop uses it,
all that the trip and its adjoint do with it is done in the trip's slot of the tape. Otherwise the trip would copy to
the tape what the trip before left, and the reversal would copy it back; now nothing is copied, and no value goes from
trip to trip. The same holds for a branch in a loop.
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
    Branch,
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
    """The keys of what each run of a block in a loop overwrites, at once or in parts, and that only it mentions."""
    primal, statements = adjoint.primal, adjoint.save_points.statements
    outside, seen, users = {*primal.inputs, *primal.outputs.values()}, set[Key](), _users(statements)
    for number, buffer in adjoint.residuals:
        loops = adjoint.save_points.loops[number]
        if not loops or buffer in outside or (number, buffer) in seen:
            continue
        homes = (home for home in _homes(*loops[-1], number) if all(n in home[0] for n in users[buffer]))
        numbers, block = next(homes, (range(0), ()))
        parts = _parts(block, primal.buffers[buffer]) if _is_computed(loops[-1][1], buffer) else ()
        keys = tuple((n, buffer) for n in numbers if any(statements[n] is part for part in parts))
        seen.update(keys)
        if keys and all(key in adjoint.residuals for key in keys):
            yield keys


def _users(statements: Sequence[Statement]) -> dict[str, list[int]]:
    """Each buffer -> the numbers of the statements that touch it."""
    found = dict[str, list[int]]()
    for number, statement in enumerate(statements):
        for name in buffers_of(statement):
            found.setdefault(name, []).append(number)
    return found


def _homes(first: int, loop: Loop, number: int) -> list[tuple[range, Block]]:
    """The blocks of a loop, and of branches in it, that hold a statement, innermost first; with their numbers."""
    found: list[tuple[range, Block]] = []
    block, begin = loop.body, first + 1
    while True:
        found.insert(0, (range(begin, begin + _count(block)), block))
        place, holder = next((n, s) for n, s in _numbered(block, begin) if n <= number <= n + s.size)
        if place == number:
            return found
        assert isinstance(holder, Branch)
        is_then = number <= place + _count(holder.then)
        block, begin = (holder.then, place + 1) if is_then else (holder.orelse, place + 1 + _count(holder.then))


def _count(block: Block) -> int:
    return sum(statement.size + 1 for statement in block)


def _numbered(block: Block, first: int) -> Iterator[tuple[int, Statement]]:
    for statement in block:
        yield first, statement
        first += statement.size + 1


def _parts(block: Block, buffer: Buffer) -> Sequence[Statement]:
    """The first statements of a block itself that mention a buffer, if each element is assigned by one of them."""
    parts, boxes = list[Statement](), list[Box]()
    for statement in block:
        if buffer.name not in statement.mentioned:
            continue
        if isinstance(statement, Branch) and not parts:
            sides = [_parts(side, buffer) for side in (statement.then, statement.orelse)]
            is_asked = any(read.buffer == buffer.name for read in reads_of(statement))
            return (*sides[0], *sides[1]) if all(sides) and not is_asked else ()
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


def _is_computed(loop: Loop, buffer: str) -> bool:
    """Whether only computations write a buffer, element by element, and no loop has it as its number of trips."""
    users = [s for s in touching(loop.users, buffer) if buffer in buffers_of(s)]
    writers = [s for s in users if any(access.buffer == buffer for access, _ in writes_of(s))]
    are_computes = all(isinstance(s, Compute) for s in writers)
    return are_computes and not any(isinstance(s, Call | Loop) for s in users)


def on_tape(block: Block, slots: Mapping[str, Slot]) -> Block:
    """A block in which all uses of some buffers are uses of slots of their tapes."""

    def placed(buffer: str, index: tuple[Lin, ...]) -> Access:
        place = slots[buffer].place
        return Access(place.buffer, (*place.index, *index))

    def moved(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer not in slots:
            return None
        return placed(node.buffer, node.index).read(node.dtype)

    def each(statement: Statement) -> Block:
        if slots.keys().isdisjoint(statement.touched | statement.guarding):
            return (statement,)
        changed = rewrite_statement(statement, replace_node=moved)
        if isinstance(changed, Compute) and changed.target.buffer in slots:
            changed = replace(changed, target=placed(changed.target.buffer, changed.target.index))
        return (changed,)

    return transform(block, each, slots.keys())
