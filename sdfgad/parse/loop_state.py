"""Loop-carried state: names that are re-bound in a loop, the storage that every trip reads and rewrites for them, and
what they hold afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdfgad.errors import Rebound
from sdfgad.ir.expr import Lin, reads, rewrite
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import RESULT, stops
from sdfgad.parse.liveness import assigned_names, is_exposed, is_read_outside, reads_name
from sdfgad.parse.merging import (
    as_maybe,
    as_mergeable,
    as_name,
    common_type,
    is_lost,
    mask_key,
    refers,
    same_shape,
    same_static,
    shared,
    stale,
    unified,
)
from sdfgad.parse.values import ABSENT, UNDEFINED, AfterLoop, MaybeBound, Selection, Tensor, Unbound

Env = dict[str, Any]
LoopNode = ast.For | ast.While


@dataclass(frozen=True)
class Leaf:
    """How one part of a name's value is carried; `sources`: arrays from before the loop that it may refer to."""

    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]
    weak: bool
    sources: frozenset[str]
    # What tells a selection's mask from others, before the loop and at a trip's end: equal ones share their storage.
    mask: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Carry:
    """How a name is carried from trip to trip: its value's structure, and its leaves; None for one that stays."""

    like: Any = field(compare=False)
    leaves: tuple[Leaf | None, ...]


@dataclass(frozen=True)
class Stores:
    """The storage of the carried names, leaf by leaf; a leaf that stays is itself."""

    carried: dict[str, Carry]
    leaves: dict[str, list[Any]]

    @property
    def buffers(self) -> set[str]:
        return {str(s.buffer) for n, stores in self.leaves.items() for s, _ in self.carries(n, stores)}

    def carries(self, name: str, values: list[Any]) -> list[tuple[Any, Leaf]]:
        """The values of a name's leaves that are carried, each with how it is carried."""
        pairs = zip(values, self.carried[name].leaves, strict=True)
        return [(value, leaf) for value, leaf in pairs if leaf is not None]

    def rebuilt(self, name: str, each: Callable[[Tensor, Leaf], Any]) -> Any:
        carry = self.carried[name]
        pairs = zip(self.leaves[name], carry.leaves, strict=True)
        return trees.rebuilt(carry.like, [store if leaf is None else each(store, leaf) for store, leaf in pairs])


def start(b: Builder, outside: Env, carried: dict[str, Carry]) -> Stores:
    """Storage for the carried names, with the values from before the loop."""
    leaves: dict[str, list[Any]] = {}
    masks: dict[Any, Tensor] = {}
    for name, carry in carried.items():
        (value,) = trees.matched_like(carry.like, unified([carry.like, outside.get(name, ABSENT)])[1:])
        leaves[name] = []
        for part, leaf in zip(trees.leaves(value), carry.leaves, strict=True):
            known = None if leaf is None or leaf.mask is None else masks.get(leaf.mask)
            store = part if leaf is None else _started(b, name, part, leaf) if known is None else known
            leaves[name].append(store)
            if leaf is not None and leaf.mask is not None:
                masks[leaf.mask] = store
    return Stores(carried, leaves)


def _started(b: Builder, name: str, value: Any, leaf: Leaf) -> Tensor:
    store = b.new_view(name, leaf.shape, leaf.dtype, leaf.weak)
    b.assign(store, as_mergeable(b, name, value))
    return store


def in_loop(b: Builder, stores: Stores) -> Env:
    """The carried names within a trip: readable, but the end of the trip changes them."""

    def seen(store: Tensor, leaf: Leaf) -> Tensor:
        if not store.ndim:
            return store.as_value(settled=False)
        return b.frozen(store, leaf.sources) if leaf.sources else store

    return {name: stores.rebuilt(name, seen) for name in stores.carried}


def missing(
    frame: Frame, node: LoopNode, outside: Env, carried: dict[str, Carry], old_buffers: frozenset[str]
) -> dict[str, Carry]:
    """The names that must be carried, or be carried otherwise than they are."""
    inside, found = frame.env, dict[str, Carry]()
    for name in sorted({*assigned_names(node), *stops(node)}):
        old, new = outside.get(name, ABSENT), inside.get(name, ABSENT)
        if old is new or same_static(old, new) or new is UNDEFINED or is_lost(old) or is_lost(new):
            continue
        if (old is ABSENT or isinstance(old, AfterLoop)) and not isinstance(new, MaybeBound):
            # Every trip binds it anew, or the first trip is peeled.
            continue
        if new is ABSENT or isinstance(new, AfterLoop):
            new = as_maybe(new)
        if not is_needed(frame, node, name):
            continue
        carry = _carry_of(frame, name, (old, outside), (new, inside), carried.get(name), old_buffers)
        if carried.get(name) != carry:
            found[name] = carry
    return found


def is_needed(frame: Frame, node: LoopNode, name: str) -> bool:
    """Whether the value that a trip ends with may be read by the next one, or after the loop."""
    if name in stops(node) or name in frame.source.captured or name.startswith(RESULT):
        return True
    if isinstance(node, ast.While) and reads_name(node.test, name):
        return True
    return is_exposed(node.body, name) or is_read_outside(frame.source.tree, node, frame.loops, name)


def _carry_of(
    frame: Frame,
    name: str,
    old: tuple[Any, Env],
    new: tuple[Any, Env],
    known: Carry | None,
    old_buffers: frozenset[str],
) -> Carry:
    values = trees.matched(unified([old[0], new[0]]))
    if values is None:
        what = f"`{name}` changes its structure in a loop that runs at run time"
        raise Rebound(what, frame.b.where, "Use numbers or arrays for values that change.")
    parts = list(zip(*map(trees.leaves, values), strict=True))
    before = known.leaves if known and len(known.leaves) == len(parts) else (None,) * len(parts)
    leaves: list[Leaf | None] = []
    for (x, y), leaf in zip(parts, before, strict=True):
        if leaf is None and (x is y or same_static(x, y)):
            leaves.append(None)
            continue
        tensors = [as_mergeable(frame.b, name, part) for part in (x, y)]
        reached = shared(frame, name, x, old[1]) | shared(frame, name, y, new[1])
        sources = (leaf.sources if leaf else frozenset()) | (frozenset(reached) & old_buffers)
        mask = tuple(map(mask_key, tensors)) if isinstance(values[0], Selection) and len(leaves) == 1 else None
        leaves.append(Leaf(same_shape(frame.b, name, tensors), *common_type(tensors), sources, mask))
    return Carry(values[0], tuple(leaves))


def refuse_stale(frame: Frame, node: LoopNode, outside: Env) -> None:
    """A copy from before the loop that the next trip reads must not have been overtaken in this one."""
    for name, value in outside.items():
        if frame.env.get(name) is not value or not is_exposed(node.body, name):
            continue
        for leaf in trees.leaves(value):
            if isinstance(leaf, Tensor) and frame.b.changed_since(leaf):
                raise stale(name, leaf, frame.b.where)


def end(b: Builder, stores: Stores, outside: Env, inside: Env) -> None:
    """Write the values that a trip ends with into the storage of carried names, all as if at once."""
    changed: list[tuple[Tensor, Tensor]] = []
    for name in stores.carried:
        (value,) = trees.matched_like(stores.carried[name].like, unified([outside[name], inside[name]])[1:])
        ends = stores.carries(name, trees.leaves(value))
        starts = stores.carries(name, trees.leaves(outside[name]))
        targets = stores.carries(name, stores.leaves[name])
        for (new, _), (old, _), (store, _) in zip(ends, starts, targets, strict=True):
            if new is not old:
                changed.append((store, as_mergeable(b, name, new)))
    changed = _once_each(b, changed)
    names = {str(store.buffer) for store, _ in changed}
    fixed = [
        (store, b.stored(value) if _reads_any(value, names - {str(store.buffer)}) else value)
        for store, value in changed
    ]
    for store, value in fixed:
        b.assign(store, value)


def _once_each(b: Builder, changed: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    """Of the values that selections write into the storage of the mask that they share, one: they are the same."""
    result: dict[str, tuple[Tensor, Tensor]] = {}
    for store, value in changed:
        known = result.setdefault(str(store.buffer), (store, value))[1]
        if known is not value and mask_key(known) != mask_key(value):
            what = "several selections share a mask before a trip of this loop, and not after it"
            raise Rebound(what, b.where, "Select them by the same masks.")
    return list(result.values())


def _reads_any(value: Tensor, buffers: set[str]) -> bool:
    return any(read.buffer in buffers for read in reads(value.at(*(Lin(0) for _ in value.shape))))


@dataclass(frozen=True)
class Finished:
    """A loop that has been parsed.

    Attributes:
        before: what names held before it; `outside` has the storage of carried names in their place.
        last: the counter's value in the last trip.
    """

    node: LoopNode
    before: Env
    outside: Env
    last: dict[str, Lin]
    trips: Lin


def after(frame: Frame, loop: Finished, stores: Stores) -> Env:
    """What names hold after a loop: the values of its last trip, or those from before it where none has run."""
    outside, inside = loop.outside, frame.env
    result = dict(outside)
    for name, value in inside.items():
        if name in stores.carried:
            result[name] = _after_carried(frame, name, loop, stores)
        elif outside.get(name, ABSENT) is ABSENT:
            lost = any(refers(value, buffer) for buffer in stores.buffers)
            held = AfterLoop(_moved(value, loop.last), loop.trips)
            result[name] = Unbound("its array is re-bound in a loop") if lost else held
        elif value is not outside[name] and not same_static(value, outside[name]):
            result[name] = Unbound("it is re-bound in a loop")
    return result


def _after_carried(frame: Frame, name: str, loop: Finished, stores: Stores) -> Any:
    has_run = frame.b.holds(loop.trips - 1)
    last, first = (_leaves_like(stores, name, env.get(name, ABSENT)) for env in (frame.env, loop.before))

    def held(store: Tensor, leaf: Leaf) -> Tensor:
        sources = shared(frame, name, last.get(id(store)), frame.env)
        if not has_run:
            sources |= _shared_before(frame, name, first.get(id(store)), loop)
        return as_name(frame.b, store, sources - {str(store.buffer)})

    return stores.rebuilt(name, held)


def _leaves_like(stores: Stores, name: str, value: Any) -> dict[int, Any]:
    """The leaves of a value of a carried name, by the storage that each belongs to."""
    like = stores.carried[name].like
    (value,) = trees.matched_like(like, unified([like, value])[1:])
    return dict(zip(map(id, stores.leaves[name]), trees.leaves(value), strict=True))


def _shared_before(frame: Frame, name: str, value: Any, loop: Finished) -> set[str]:
    """The buffers of the array from before a loop, if anything that is read after it may refer to them, too."""

    def is_live(other: str) -> bool:
        return other in frame.source.captured or is_read_outside(frame.source.tree, loop.node, frame.loops, other)

    found = shared(frame, name, value, loop.before)
    if not isinstance(value, Tensor) or value.place is None:
        return found
    others = [(other, held) for other, held in loop.before.items() if other != name]
    return {
        buffer
        for buffer in found
        if buffer in frame.known or any(refers(held, buffer) and is_live(other) for other, held in others)
    }


def _moved(value: Any, last: dict[str, Lin]) -> Any:
    """A value of the body as it is in the last trip."""
    if isinstance(value, Tensor):
        return value.substituted(last)
    if isinstance(value, AfterLoop):
        return AfterLoop(_moved(value.value, last), value.trips.substitute(last, lambda e: rewrite(e, last)))
    if isinstance(value, (tuple, list, dict, Selection)):
        return trees.rebuilt(value, [_moved(leaf, last) for leaf in trees.leaves(value)])
    if isinstance(value, Lin):
        moved = value.substitute(last, lambda e: rewrite(e, last))
        return moved.const if moved.is_const else moved
    return value
