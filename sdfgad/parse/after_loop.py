"""The values of names after a loop: those of its last trip, or those from before it if it has no trip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from sdfgad.errors import Rebound
from sdfgad.ir.expr import Lin, rewrite, symbols_in
from sdfgad.parse import chosen_objects, containers, sharing, trees, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.escape import aliased_buffers, is_callers, refers_to
from sdfgad.parse.frame import Frame
from sdfgad.parse.items import PREFIX
from sdfgad.parse.liveness import is_read_outside
from sdfgad.parse.loop_state import Env, Leaf, LoopNode, Stores
from sdfgad.parse.merging import is_same, unified, value_in_storage
from sdfgad.parse.object_columns import Member
from sdfgad.parse.values import ABSENT, AfterLoop, Holder, Tensor, Unbound


@dataclass(frozen=True)
class ParsedLoop:
    """A loop that has been parsed.

    Attributes:
        before, outside: the values of names before the loop; `outside` has those within a trip for carried names.
        last: the counter's value in the last trip.
        certain: positive where there is certainly a trip.
        begins: the names that each trip binds before all else, if there certainly is one.
    """

    node: LoopNode
    before: Env
    outside: Env
    last: dict[str, Lin]
    trips: Lin
    certain: Lin
    begins: frozenset[str]


def values_after(frame: Frame, loop: ParsedLoop, stores: Stores) -> Env:
    """The values of names after a loop: those of the last trip, or those from before it if it has no trip."""
    outside, inside, done = loop.outside, frame.env, _members_of_last_trip(frame.b, loop.last)
    result = dict(outside)
    for name, value in inside.items():
        if name in stores.carried:
            result[name] = _after_carried(frame, name, loop, stores)
        elif outside.get(name, ABSENT) is ABSENT or (name in loop.begins and value is not outside[name]):
            lost = any(refers_to(value, buffer) for buffer in stores.buffers)
            result[name] = Unbound("its array is re-bound in a loop") if lost else _held(frame, value, loop, done)
        elif isinstance(outside[name], AfterLoop) and value is outside[name].value:
            # The body has but read it.
            continue
        elif value is not outside[name] and not is_same(value, outside[name]):
            result[name] = value if _may_be_followed(value) else Unbound("it is re-bound in a loop")
    parts = [one for name in stores.carried for one in trees.sequences(inside[name])]
    carried = {id(one) for part in parts for one in frame.b.contents.aliased_by(part)}
    for old, new in done.values():
        if new is not old and isinstance(new, (list, dict)):
            containers.tracked(frame.b, new)
            # What the last trip has appended to a list is an item of that, too.
            if id(old) in carried or id(old) in frame.b.taken:
                frame.b.contents.add_copy(new, [old, *frame.b.contents.items(old)])
    return result


def _members_of_last_trip(b: Builder, last: dict[str, Lin]) -> dict[int, tuple[Any, Any]]:
    """By id, each object of a list that a loop's counter chooses, and the one that it is in the last trip."""
    found = dict[int, tuple[Any, Any]]()
    for member in b.objects.members:
        if not member.place.symbols.isdisjoint(last):
            place = member.place.substitute(last, lambda e: rewrite(e, last))
            found[id(member.record)] = member.record, _at_place(b, member, place)
    return found


def _at_place(b: Builder, member: Member, place: Lin) -> Any:
    """The object at the place of the last trip."""
    known = b.guessed(place)
    if known is not None and known >= len(member.objects):
        # The last trip is one in which the branch that looks the object up is not taken.
        what = "an object that a branch of a loop has chosen is read behind the loop"
        return Unbound(what, b.unsupported(what, "Give it a name before the loop, or read it in the branch."))
    if known is not None:
        return member.objects[known]
    try:
        return chosen_objects.at(b, member.objects, place)
    except Rebound as error:
        return Unbound(str(error.what), error)


def _may_be_followed(value: Any) -> bool:
    """Whether a name has no value as it stands for several strings or objects, which another attempt may tell apart."""
    error = value.error if isinstance(value, Unbound) else None
    return isinstance(error, Rebound) and (error.is_of_text or error.is_of_object)


def _after_carried(frame: Frame, name: str, loop: ParsedLoop, stores: Stores) -> Any:
    has_run = frame.b.holds(loop.certain - 1)
    last, first = (_leaves_by_storage(frame.b, stores, name, env.get(name, ABSENT)) for env in (frame.env, loop.before))

    def held(store: Tensor, leaf: Leaf) -> Tensor:
        found = aliased_buffers(frame, name, last.get(id(store)), frame.env)
        sources = {buffer for buffer in found if _is_held(frame, name, buffer, loop, stores)}
        if not has_run:
            sources |= _aliased_before(frame, name, first.get(id(store)), loop)
        value = value_in_storage(frame.b, store, sources - {str(store.buffer)})
        return truth_values.with_types_of(value, last.get(id(store))) if has_run else value

    value = stores.rebuilt(frame.b, name, len(frame.b.blocks), held)
    ends = [(env.get(name, ABSENT), env) for env in ([frame.env] if has_run else [frame.env, loop.before])]
    if any(sharing.is_shared(frame, end, env) for end, env in ends):
        alike = unified(frame.b, [stores.carried[name].like, *(end for end, _ in ends)], len(frame.b.blocks))
        sharing.add_copies(frame.b, value, alike[1:])
    return chosen_objects.resolved(frame.b, value)


def _is_held(frame: Frame, name: str, buffer: str, loop: ParsedLoop, stores: Stores) -> bool:
    """Whether an array of the last trip can be reached after the loop but by one name, or those that are dead then."""
    if is_callers(frame, buffer) or not isinstance(frame.env[name], Tensor):
        return True
    others = [(other, held) for other, held in frame.env.items() if other != name]
    left = [held for other, held in others if _is_live(frame, loop, other, stores) or not isinstance(held, Tensor)]
    reached = trees.reachable([*left, *frame.iterables, frame.caller, frame.lexical], frame)
    return any(isinstance(one, Tensor) and refers_to(one, buffer) for one in reached)


def _is_live(frame: Frame, loop: ParsedLoop, name: str, stores: Stores) -> bool:
    if name in stores.carried or name in frame.source.captured or name.startswith((PREFIX, "<")):
        return True
    return is_read_outside(frame.source.tree, loop.node, frame.around, name)


def _leaves_by_storage(b: Builder, stores: Stores, name: str, value: Any) -> dict[int, Any]:
    """The leaves of a value of a carried name, by the id of the storage of each."""
    like = stores.carried[name].like
    (value,) = trees.matched_like(like, unified(b, [like, value], len(b.blocks))[1:])
    return dict(zip(map(id, stores.leaves[name]), trees.leaves(value), strict=True))


def _aliased_before(frame: Frame, name: str, value: Any, loop: ParsedLoop) -> set[str]:
    """The buffers of an array from before the loop that the caller, or names live after the loop, may alias."""

    def is_live(other: str) -> bool:
        is_hidden = other in frame.source.captured or other.startswith(PREFIX)
        return is_hidden or is_read_outside(frame.source.tree, loop.node, frame.around, other)

    found = aliased_buffers(frame, name, value, loop.before)
    if not isinstance(value, Tensor) or value.place is None:
        return found
    others = [(other, held) for other, held in loop.before.items() if other != name]
    return {
        buffer
        for buffer in found
        if is_callers(frame, buffer) or any(refers_to(held, buffer) and is_live(other) for other, held in others)
    }


class _Lost(Exception):
    """Raised for a function that is made in a loop, and holds what depends on the counter."""


def _held(frame: Frame, value: Any, loop: ParsedLoop, done: dict[int, tuple[Any, Any]]) -> Any:
    """A value of the loop's body after the loop, with the counter replaced by its value in the last trip."""
    with frame.b.versions.unchecked():
        try:
            last = _in_last_trip(frame, value, loop.last, done)
        except _Lost:
            return Unbound("it is made in a loop, and holds what changes from trip to trip")
    for one in trees.sequences(last):
        frame.b.contents.surface(one, len(frame.b.blocks))
    return last if frame.b.holds(loop.certain - 1) else AfterLoop(last, loop.trips)


def _in_last_trip(frame: Frame, value: Any, last: dict[str, Lin], done: dict[int, tuple[Any, Any]]) -> Any:
    def moved(leaf: Any) -> Any:
        if isinstance(leaf, AfterLoop):
            trips = leaf.trips.substitute(last, lambda e: rewrite(e, last))
            return AfterLoop(_in_last_trip(frame, leaf.value, last, done), trips)
        if isinstance(leaf, (Holder, partial)):
            if any(_mentions(part, last) for part in trees.reachable([leaf], frame)):
                raise _Lost
            return leaf
        return _substituted(leaf, last) if _mentions(leaf, last) else leaf

    return trees.mapped(value, moved, done)


def _substituted(leaf: Tensor | Lin, last: dict[str, Lin]) -> Any:
    if isinstance(leaf, Tensor):
        return leaf.substituted(last)
    integer = leaf.substitute(last, lambda e: rewrite(e, last))
    return integer.const if integer.is_const else integer


def _mentions(leaf: Any, symbols: dict[str, Lin]) -> bool:
    """Whether an array or integer depends on symbols."""
    if isinstance(leaf, Lin):
        return not leaf.symbols.isdisjoint(symbols)
    if not isinstance(leaf, Tensor):
        return False
    element = leaf.element(tuple(Lin.symbol(f"l{axis}_") for axis in range(leaf.ndim)))
    return not (element.symbols | symbols_in(leaf.shape)).isdisjoint(symbols)
