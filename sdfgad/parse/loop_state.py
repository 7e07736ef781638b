"""Loop-carried state: the names that a loop re-binds, the storage that hands their values from trip to trip, and
their values after the loop.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdfgad.errors import Rebound
from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import containers, mixed_dtypes, sharing, trees, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.escape import aliased_buffers
from sdfgad.parse.frame import Frame
from sdfgad.parse.items import PREFIX
from sdfgad.parse.jumps import RESULT, stops
from sdfgad.parse.layout import is_row_major
from sdfgad.parse.liveness import assigned_names, is_assigned_first, is_exposed, is_read_outside, reads_name
from sdfgad.parse.merging import (
    SAME_KIND,
    as_maybe_bound,
    as_mergeable,
    called,
    common_type,
    is_same,
    is_unmergeable,
    known_ones,
    mask_key,
    same_shape,
    unified,
)
from sdfgad.parse.updating import aliased_by
from sdfgad.parse.values import (
    ABSENT,
    UNDEFINED,
    AfterLoop,
    ChosenObject,
    MaybeBound,
    Selection,
    Tensor,
    Unbound,
    as_tensor,
    is_number,
)

Env = dict[str, Any]
LoopNode = ast.For | ast.While


@dataclass(frozen=True)
class Leaf:
    """How a leaf of a name's value is carried.

    Attributes:
        sources: the buffers from before the loop that it may alias.
        is_row_major: whether NumPy certainly stores its values in row-major order.
        is_aliased: whether another leaf that is carried may be the same array, of a trip, in Python.
        least: the dtype that the array may have in some trip, if that can hold less.
        types: what the number may be in some trip, if its dtype does not say it.
    """

    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]
    weak: bool
    sources: frozenset[str]
    is_row_major: bool
    is_aliased: bool
    least: np.dtype[Any] | None = None
    types: frozenset[str] = frozenset()
    # The keys of a selection's mask before the loop and at the end of a trip: masks with equal keys share storage.
    mask: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Carry:
    """How a name is carried from trip to trip.

    Attributes:
        ends: its values before the loop and at the end of a trip.
        leaves: of its value; None for a loop-invariant leaf.
        is_shared: whether other names refer to the lists and dicts in either value.
        choices: the ids of the objects of which each `ChosenObject` in it is one.
    """

    ends: tuple[Any, Any] = field(compare=False)
    leaves: tuple[Leaf | None, ...]
    is_shared: bool
    choices: tuple[tuple[int, ...], ...] = ()

    @property
    def like(self) -> Any:
        """A value with the structure of those that are carried."""
        return self.ends[0]


@dataclass(frozen=True)
class Stores:
    """The storage of the carried names, leaf by leaf; a loop-invariant leaf is its value."""

    carried: dict[str, Carry]
    leaves: dict[str, list[Any]]

    @property
    def buffers(self) -> set[str]:
        return {str(s.buffer) for n, stores in self.leaves.items() for s, _ in self.carried_leaves(n, stores)}

    def carried_leaves(self, name: str, values: list[Any]) -> list[tuple[Any, Leaf]]:
        """Those of a name's leaves `values` that are carried, each with how it is carried."""
        pairs = zip(values, self.carried[name].leaves, strict=True)
        return [(value, leaf) for value, leaf in pairs if leaf is not None]

    def rebuilt(self, b: Builder, name: str, depth: int, each: Callable[[Tensor, Leaf], Any]) -> Any:
        """The value of a name in blocks at this depth, whose leaves `each` makes of their storage."""
        carry = self.carried[name]
        pairs = zip(self.leaves[name], carry.leaves, strict=True)
        parts = [store if leaf is None else each(store, leaf) for store, leaf in pairs]
        same = sharing.same_containers([*carry.ends])
        return containers.tracked_parts(b, trees.rebuilt(carry.like, parts, same), depth, same)


def initialise(b: Builder, outside: Env, carried: dict[str, Carry]) -> Stores:
    """Storage for the carried names, initialised with their values from before the loop."""
    leaves: dict[str, list[Any]] = {}
    masks: dict[Any, Tensor] = {}
    for name, carry in carried.items():
        first = unified(b, [carry.like, outside.get(name, ABSENT)], len(b.blocks))[1:]
        (value,) = trees.matched_like(carry.like, first)
        leaves[name], parts = [], trees.leaves(value)
        if len(parts) != len(carry.leaves):
            # An object that a trip has given an attribute.
            raise _restructured(b, name)
        for part, leaf in zip(parts, carry.leaves, strict=True):
            known = None if leaf is None or leaf.mask is None else masks.get(leaf.mask)
            store = part if leaf is None else _initialised(b, name, part, leaf) if known is None else known
            leaves[name].append(store)
            if leaf is not None and leaf.mask is not None:
                masks[leaf.mask] = store
    return Stores(carried, leaves)


def _initialised(b: Builder, name: str, value: Any, leaf: Leaf) -> Tensor:
    store = replace(b.new_view(name, leaf.shape, leaf.dtype, leaf.weak), types=leaf.types)
    mixed_dtypes.mark(b, store, leaf.least)
    b.refer(store, as_mergeable(b, name, value))
    return store if leaf.is_row_major else b.ordered(store, None)


def values_in_trip(b: Builder, stores: Stores) -> Env:
    """The values of the carried names within a trip: not settled, as the end of the trip writes their storage."""

    def seen(store: Tensor, leaf: Leaf) -> Tensor:
        if leaf.sources or leaf.is_aliased:
            return b.versions.copy_of(store, leaf.sources | ({str(store.buffer)} if leaf.is_aliased else set()))
        return store if store.ndim else store.as_value(settled=False)

    values = {name: stores.rebuilt(b, name, len(b.blocks) + 1, seen) for name in stores.carried}
    for name, value in values.items():
        if stores.carried[name].is_shared:
            sharing.add_copies(b, value, stores.carried[name].ends)
    return values


def changed(
    frame: Frame, node: LoopNode, outside: Env, carried: dict[str, Carry], begins: frozenset[str]
) -> dict[str, tuple[Any, Any]]:
    """The names that a trip binds anew for later ones or for statements after the loop: their old and new values.

    Args:
        begins: those that each trip binds before all else, and at least one does.

    Raises:
        Rebound: the new value of one that is carried, or that the next trip reads, cannot be represented.
    """
    inside, found = frame.env, dict[str, tuple[Any, Any]]()
    # Also other names of arrays that have got another shape in place.
    others = {name for name, value in outside.items() if isinstance(value, Tensor) and inside.get(name) is not value}
    items = {name for name in outside if name.startswith(PREFIX)}
    for name in sorted({*assigned_names(node), *stops(node), *others, *items}):
        old, new = outside.get(name, ABSENT), inside.get(name, ABSENT)
        if old is new or is_same(old, new) or new is UNDEFINED or is_unmergeable(old):
            continue
        if is_unmergeable(new):
            if name in carried or is_live_at_start(frame, node, name):
                raise _rebound(frame, name, new)
            continue
        is_new = (old is ABSENT or isinstance(old, AfterLoop)) and name not in frame.checked_names
        if (is_new or name in begins) and not isinstance(new, MaybeBound):
            # Each trip binds it before it reads it; else, the first trip is peeled.
            continue
        if new is ABSENT or isinstance(new, AfterLoop):
            new = as_maybe_bound(new)
        if is_live_at_start(frame, node, name) or is_read_outside(frame.source.tree, node, frame.around, name):
            found[name] = old, new
    return found


def _rebound(frame: Frame, name: str, value: Unbound) -> Exception:
    what = f"`{name}` may have no value in the next trip of this loop: {value.reason}"
    return value.error or Rebound(what, frame.b.where, f"Assign `{name}` before the loop, a number or an array.")


def newly_carried(
    frame: Frame,
    node: LoopNode,
    names: dict[str, tuple[Any, Any]],
    outside: Env,
    carried: dict[str, Carry],
    old_buffers: frozenset[str],
) -> dict[str, Carry]:
    """Those of the `changed` names that must be carried in addition, or with other leaves, as a trip has shown."""
    found: dict[str, Carry] = {}
    live = [n for n in {*names, *carried} if is_live_at_start(frame, node, n) or not is_assigned_first(node.body, n)]
    leaves = [leaf for name in live for leaf in trees.leaves(frame.env.get(name))]
    arrays = Counter(buffer for leaf in leaves for buffer in _arrays_of(leaf))
    shared = frozenset(buffer for buffer, count in arrays.items() if count > 1)
    for name, (old, new) in names.items():
        carry = _carry_of(frame, name, (old, outside), (new, frame.env), carried.get(name), old_buffers, shared)
        if carried.get(name) != carry:
            found[name] = carry
    return found


def _arrays_of(leaf: Any) -> set[str]:
    """The buffers of the arrays that a leaf may be in Python."""
    if not isinstance(leaf, Tensor):
        return set()
    return aliased_by(leaf) if leaf.place is None else {str(leaf.buffer)}


def is_live_at_start(frame: Frame, node: LoopNode, name: str) -> bool:
    """Liveness: whether the value at the end of a trip may be read in the next trip."""
    if name in stops(node) or name in frame.source.captured or name.startswith((RESULT, PREFIX)):
        return True
    return is_exposed(node.body, name) or (isinstance(node, ast.While) and reads_name(node.test, name))


def _carry_of(
    frame: Frame,
    name: str,
    old: tuple[Any, Env],
    new: tuple[Any, Env],
    known: Carry | None,
    old_buffers: frozenset[str],
    shared: frozenset[str],
) -> Carry:
    depth = len(frame.b.blocks) - 1
    one = sharing.only_one(frame.b, (old[0], new[0]), depth)
    ends = unified(frame.b, [old[0], new[0]] if one is None else [one, one], depth)
    values = trees.matched(ends)
    if values is None:
        raise _restructured(frame.b, name)
    if any(frame.b.objects.holds_member(trees.sequences(value)) for value in values):
        what = "a loop hands on one of the objects of a list, which one is known only at run time"
        raise NeedsConstant({frame.b.loops[-1][1]}, frame.b.where, what)
    parts = list(zip(*map(trees.leaves, values), strict=True))
    before = known.leaves if known and len(known.leaves) == len(parts) else (None,) * len(parts)
    leaves: list[Leaf | None] = []
    for (x, y), leaf in zip(parts, before, strict=True):
        if leaf is None and (x is y or is_same(x, y)):
            leaves.append(None)
            continue
        tensors = [as_mergeable(frame.b, name, part) for part in (x, y)]
        reached = aliased_buffers(frame, name, x, old[1]) | aliased_buffers(frame, name, y, new[1])
        sources = (leaf.sources if leaf else frozenset()) | (frozenset(reached) & old_buffers)
        in_rows = (leaf is None or leaf.is_row_major) and is_row_major(frame.b, tensors)
        is_aliased = (leaf is not None and leaf.is_aliased) or not shared.isdisjoint(_arrays_of(y))
        mask = tuple(map(mask_key, tensors)) if isinstance(values[0], Selection) and len(leaves) == 1 else None
        shape = same_shape(frame.b, name, tensors)
        arrays = known_ones(tensors)
        mixed_dtypes.require_alike(frame.b, name, arrays)
        least = mixed_dtypes.lowest(frame.b, arrays)
        types = truth_values.joined(arrays) | (leaf.types if leaf else frozenset())
        leaves.append(Leaf(shape, *common_type(tensors), sources, in_rows, is_aliased, least, types, mask))
    was_shared = known is not None and known.is_shared
    is_shared = was_shared or any(sharing.is_shared(frame, value, env) for value, env in (old, new))
    chosen = [one for one in trees.sequences(values[0]) if isinstance(one, ChosenObject)]
    choices = tuple(tuple(id(one.fields) for one in each.objects) for each in chosen)
    return Carry((values[0], values[1]), tuple(leaves), is_shared, choices)


def _restructured(b: Builder, name: str) -> Rebound:
    what = f"{called(name)} changes its structure, such as its length, in a loop that runs at run time"
    return Rebound(what, b.where, SAME_KIND)


def refuse_stale(frame: Frame, node: LoopNode, outside: Env) -> None:
    """Refuse a trip that makes stale a copy from before the loop which the next trip reads."""
    for name, value in outside.items():
        if frame.env.get(name) is not value or not is_exposed(node.body, name):
            continue
        for leaf in trees.leaves(value):
            frame.b.versions.require_current(leaf, f"`{name}`")


def converted(stores: Stores, before: Env) -> frozenset[str] | None:
    """The buffers of Python's integers with which a loop begins, as in ``t = 0``, and which are floats in later trips.

    None where other values from before the loop have not the dtypes with which its trips go on.
    """
    found = set[str]()
    for name, carry in stores.carried.items():
        first = trees.leaves(before.get(name, ABSENT))
        for store, leaf, value in zip(stores.leaves[name], carry.leaves, first, strict=False):
            if leaf is None or not (isinstance(value, Tensor) or is_number(value)):
                continue
            tensor = as_tensor(value)
            if tensor.dtype != leaf.dtype and not (tensor.weak and leaf.weak and leaf.dtype.kind == "f"):
                return None
            found |= {str(store.buffer)} if tensor.dtype != leaf.dtype else set()
    return frozenset(found)


def write_back(b: Builder, stores: Stores, outside: Env, inside: Env) -> None:
    """Parallel copy at the end of a trip: writes the new values of carried names to their storage, as if at once."""
    changed: list[tuple[Tensor, Tensor]] = []
    for name in stores.carried:
        ends_of_name = unified(b, [outside[name], inside[name]], len(b.blocks) - 1)
        (value,) = trees.matched_like(stores.carried[name].like, ends_of_name[1:])
        ends = stores.carried_leaves(name, trees.leaves(value))
        starts = stores.carried_leaves(name, trees.leaves(outside[name]))
        targets = stores.carried_leaves(name, stores.leaves[name])
        for (new, _), (old, _), (store, _) in zip(ends, starts, targets, strict=True):
            if new is not old:
                changed.append((store, as_mergeable(b, name, new)))
    changed = _without_duplicates(b, changed)
    for store, value in changed:
        b.references.copy(store, value)
    names = {str(store.buffer) for store, _ in changed}
    fixed = [
        (store, b.stored(value) if _reads_any(value, names - {str(store.buffer)}) else value)
        for store, value in changed
    ]
    with b.versions.unchecked():
        # All at once: what they stand for at the end of the trip, not after the writes before them.
        for store, value in fixed:
            b.assign(store, value)


def _without_duplicates(b: Builder, changed: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    """One write for each storage: selections that share the storage of their mask must write equal masks."""
    result: dict[str, tuple[Tensor, Tensor]] = {}
    for store, value in changed:
        known = result.setdefault(str(store.buffer), (store, value))[1]
        if known is not value and mask_key(known) != mask_key(value):
            what = "several arrays x[mask] share a mask before a trip of this loop, and not after it"
            raise Rebound(what, b.where, "Select them by the same masks, or keep whole arrays: np.where(mask, x, 0.0).")
    return list(result.values())


def _reads_any(value: Tensor, buffers: set[str]) -> bool:
    return any(read.buffer in buffers for read in reads(value.at(*(Lin(0) for _ in value.shape))))
