"""Lists and dicts of a program: they exist only while it is parsed, so they cannot change at run time."""

from __future__ import annotations

import operator
from collections.abc import Container, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sdfgad.errors import AmbiguousArray, Location, UnboundVariable, chosen_object
from sdfgad.ir.expr import Lin, reads, symbols_of
from sdfgad.ir.specialise import Carried, NeedsConstant
from sdfgad.parse import appending, object_keys, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import ChangesOutside, Taken
from sdfgad.parse.deques import Deque
from sdfgad.parse.logs import CHANGING, REMOVING
from sdfgad.parse.texts import require_known
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Record, Selection, Tensor, Unbound, is_whole, kind_of

# The methods of sets that make new ones, and those of all containers that do not change them.
NEW_SETS = ("union", "intersection", "difference", "symmetric_difference")
READ_ONLY = (
    "get",
    "items",
    "keys",
    "values",
    "copy",
    "index",
    "count",
    "issubset",
    "issuperset",
    "isdisjoint",
    *NEW_SETS,
)


# The methods of dicts and sets whose first argument is a key.
BY_KEY = ("get", "pop", "setdefault", "add", "discard", "remove")
# Those of sets whose arguments are other elements.
OF_SETS = (
    *NEW_SETS,
    *(f"{name}_update" for name in NEW_SETS[1:]),
    *("update", "issubset", "issuperset", "isdisjoint"),
)
# Those that look for an item.
BY_VALUE = ("index", "count", "remove", "discard", "add")
# Those of lists whose first argument is the place of an item.
AT_PLACE = ("pop", "insert")


class Default(dict[Any, Any]):
    """A defaultdict, whose factory only the parser can call."""

    factory: Any = None


class Counts(Default):
    """A Counter: what it does not hold counts 0, and asking for it changes nothing."""

    factory = int


def tracked(b: Builder, made: Any) -> Any:
    """Record the block that creates a list, dict or set, and return it; as is anything else."""
    if isinstance(made, (list, dict, set)):
        b.contents.add(made, len(b.blocks))
    return made


def tracked_parts(b: Builder, value: Any, depth: int, but: Container[int] = ()) -> Any:
    """Record that the lists and dicts of a value belong to a block at this depth, except those with ids in `but`."""
    for one in trees.sequences(value):
        if isinstance(one, (list, dict)) and id(one) not in but:
            b.contents.add(one, depth)
    return value


# For changes of anything but one item that is there.
NO_ITEM = object()
MAKE_BEFORE = "Make an array before, such as `x = np.zeros(n)`, and write `x[i] = value`; or use a name for each value."
# What is refused of a comprehension with a condition on data, and what to write instead.
FILTERED = (
    "a comprehension with a condition on data is not supported: its length is known only at run time",
    "Use a mask instead: `np.sum(x[x > 0])` or `np.where(x > 0, x, 0.0)`.",
)
# The keys that stand for all items of a list or dict, whose places change, and for one whose places differ at the end.
ALL_ITEMS, UNEVEN = object(), object()


class Grown(NeedsConstant):
    """Raised where a loop gives a list or dict more or fewer items, or other keys, than it has before."""


class ItemsMoved(Carried):
    """Raised where a loop or branch, at this depth of blocks, moves the items of a list or dict.

    The loop or branch carries all of them, or is unrolled as for any change of a container.

    Args:
        is_even: whether there may be as many items as before, as far as is known.
    """

    def __init__(self, container: Any, is_even: bool, depth: int, need: NeedsConstant) -> None:
        super().__init__(need.symbols, need.where, need.what, need.todo)
        self.container, self.is_even, self.depth = container, is_even, depth


def key_of(b: Builder, key: Any) -> Any:
    """A key of a dict or an element of a set, which must be known while parsing: integers become constants.

    Raises:
        NeedsConstant, UnsupportedProgram: it is not.
    """
    require_known(key, b.where)
    require_no_member(b, (key,))
    if isinstance(key, tuple):
        parts = [key_of(b, part) for part in key]
        return key if all(map(operator.is_, parts, key)) else rebuilt_tuple(key, parts)
    if isinstance(key, Lin) or (isinstance(key, Tensor) and not key.ndim and key.dtype.kind in "iu"):
        return b.constant(key)
    if isinstance(key, Tensor) and not key.ndim and not reads(key.at()) and (symbols := symbols_of(key.at())):
        what = "a key of a dict, or an element of a set, is computed from the counter of a loop or an argument"
        raise NeedsConstant(b.symbols_behind(symbols), b.where, what)
    if isinstance(key, Record):
        return object_keys.key_of(b, key, key_of)
    if isinstance(key, (Tensor, Selection)):
        what = "a key of a dict, or an element of a set, is known only at run time"
        raise b.unsupported(what, "Use keys that do not depend on arrays or floats, or an array and an integer index.")
    return key


def require_no_member(b: Builder, values: Iterable[Any]) -> None:
    """Require that no value is an object of a list of which only a run tells which one it is.

    Raises:
        NeedsConstant: one is, as loops that are not written out have it.
    """
    if b.objects.holds_member(list(values)):
        what = "one of the objects of a list is looked for, which one is known only at run time"
        raise NeedsConstant({var for _, var, _ in b.loops}, b.where, what)


def require_current(
    b: Builder, container: Any, key: Any = NO_ITEM, before: Any = NO_ITEM, *, may_carry: bool = True
) -> None:
    """Refuse changes of a list or dict outside the block that created it; loops in between may be unrolled.

    Args:
        key: that of the item which is assigned to, if it is only one.
        before: what the item is where it has not been assigned to, if a loop or branch may be the first to do so.
        may_carry: whether a loop or branch may try to carry all items for it.

    Raises:
        ItemsMoved: the change is in a loop or branch, which can carry all items.
        Taken: a loop goes over the list as the rows of an array, or has done so.
        AmbiguousArray: it may be one of several, to which other names refer, too.
        UnsupportedProgram: the change is in a branch, and in no loop; or the program has not made the container, so
            that later calls would find it changed.
        NeedsConstant: the change is in a loop; unrolled, it may decide the branches in it.
    """
    if id(container) in b.taken:
        raise Taken(b.taken[id(container)][1])
    if isinstance(container, dict) and id(container) in b.filling:
        filled = "a dict is changed otherwise in the loop that fills it by keys"
        raise NeedsConstant({b.filling[id(container)].var}, b.where, filled)
    original = b.originals.get(id(container), b.outside.get(id(container)))
    if original is not None and not b.contents.has(container):
        what = f"{kind_of(original)} from outside the function is changed"
        raise ChangesOutside(original, b.unsupported(what, "Make it in the function, and return what is to be kept."))
    b.contents.require_free(container)
    if b.contents.is_copy(container):
        what = f"{kind_of(container)} that may be one of several, chosen at run time, is changed"
        raise AmbiguousArray(
            what,
            b.where,
            "Change it by its own name, not by the one that is chosen, or change a copy: list(chosen).",
            "",
        )
    if not b.contents.has(container):
        what = f"{kind_of(container)} from outside the function is changed"
        raise b.unsupported(what, "Pass it as an argument, or change a copy: values = list(values).")
    b.contents.count_change(container, b.loops)
    depth, here = b.contents.depth(container), len(b.blocks)
    is_there = key is not NO_ITEM and (before is not NO_ITEM or has(container, key))
    carried = (key, ALL_ITEMS) if is_there else (ALL_ITEMS,)
    if here in (depth, *(b.items.get((id(container), one)) for one in carried)):
        return
    changed = f"{kind_of(container)} is changed in a loop or branch that is decided only at run time"
    what, todo = FILTERED if b.contents.is_filtered(container) else (changed, MAKE_BEFORE)
    around = [(var, trips) for body, var, trips in b.loops if body > depth]
    decisions = [one.symbols for one in b.decisions if one.depth > depth]
    if around:
        symbols = {around[0][0]} | around[0][1].symbols
    else:
        symbols = set[str]().union(*decisions) if all(decisions) else set()
    if is_there and b.nest is not None and b.nest.collects(container, key, range(depth + 1, here + 1), before):
        return
    need = (NeedsConstant if is_there else Grown)(symbols, b.where, what, todo)
    if may_carry and not is_there:
        _carry_all(b, container, need)
    with _noted_dict(b, container):
        raise need if is_there or symbols else b.unsupported(what, todo)


def _noted_dict(b: Builder, container: Any) -> AbstractContextManager[None]:
    """Note it if a change of a dict cannot be followed, where a masked one may stand for the dict."""
    may_be_masked = isinstance(container, dict) and _is_decided_by_data(b, container)
    # Conditions on known arrays are decided first.
    if not may_be_masked or (b.constants.knows_a_condition and not b.decides):
        return nullcontext()
    return b.logs.noted(container, None, True)


def _carry_all(b: Builder, container: Any, need: NeedsConstant) -> None:
    """Ask the loop or branch whose body is parsed to carry all items of a list or dict, as their places change.

    Raises:
        ItemsMoved: it may do so; at the end of its body there must be as many as before.
    """
    here = len(b.blocks)
    may_carry = b.nest is not None and b.nest.at(here) is not None and not isinstance(container, set)
    if may_carry and b.items.get((id(container), UNEVEN)) != here:
        raise ItemsMoved(container, True, here, need)


def has(container: Any, key: Any) -> bool:
    """Whether there is an item of a list, by a position from its start, or of a dict."""
    return 0 <= key < len(container) if isinstance(container, list) else key in container


def item_key(container: Any, index: Any) -> Any:
    """The key of an item as `require_current` takes it: a position from the start of a list; none for a slice."""
    if isinstance(container, dict):
        return index
    if isinstance(index, slice):
        return NO_ITEM
    position = operator.index(index)
    return position + len(container) if position < 0 else position


def require_latest(b: Builder, value: Any, what: str, where: Location | None = None) -> None:
    """Refuse a list or dict that stands for one of several, chosen at run time, if one of these has changed since.

    Raises:
        AmbiguousArray: one has.
    """
    if b.contents.has_stale(value):
        chosen_and_changed = "chosen at run time, and one of them has changed since"
        if isinstance(value, Record):
            what = f"{what} may be one of several objects, {chosen_and_changed}"
            todo = "Copy it where it is chosen, copy.copy(...), or change the other one afterwards."
            raise chosen_object(what, where or b.where, todo)
        what = f"{what} may be one of several lists or dicts, {chosen_and_changed}"
        todo = "Copy it where it is chosen, list(...) or dict(...), or change the other one afterwards."
        raise AmbiguousArray(what, where or b.where, todo, "")


def read(b: Builder, found: Any, what: str) -> Any:
    """An item or attribute that is read.

    Raises:
        Rebound: two paths have given it values that cannot be merged.
        AmbiguousArray: it may stand for one of several, chosen at run time, and one of these has changed since.
        UnboundVariable: some path has given it none, or one that is lost.
    """
    if isinstance(found, Unbound) and found.error is not None:
        raise found.error
    if isinstance(found, Unbound):
        missing = f"{what} may have no value here: {found.reason}"
        raise UnboundVariable(missing, b.where, "Assign it on all paths, or before them.", name=what.strip("`."))
    b.versions.require_current(found, what)
    require_latest(b, found, what)
    return found


def method(b: Builder, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """A call of a method of a list or dict."""
    if function.__name__ in BY_VALUE:
        require_no_member(b, positional)
    is_front = function.__name__ == "insert" and len(positional) == 2 and type(positional[0]) is int
    is_front = is_front and not positional[0] and type(function.__self__) is list
    if function.__name__ == "append" and appending.append(b, function.__self__, positional[0]):
        return None
    if is_front and appending.append(b, function.__self__, positional[1], is_front=True):
        return None
    if positional and isinstance(function.__self__, (dict, set)) and function.__name__ in BY_KEY:
        positional = [key_of(b, positional[0]), *positional[1:]]
    if isinstance(function.__self__, (set, frozenset)) and function.__name__ in OF_SETS:
        positional = [_keys(b, values) for values in positional]
    is_default = function.__name__ == "setdefault" and bool(positional)
    if is_default and b.python(operator.contains, function.__self__, positional[0]):
        return read(b, function.__self__[positional[0]], "an item of this dict")
    if function.__name__ in AT_PLACE and positional and isinstance(function.__self__, list):
        positional = [_place(b, positional[0]), *positional[1:]]
    if isinstance(function.__self__, list) and function.__name__ in CHANGING:
        _require_current_list(b, function.__self__, function.__name__, positional)
    elif function.__name__ not in READ_ONLY:
        require_current(b, function.__self__)
    found = b.python(function, *map(b.settle, positional), **{name: b.settle(v) for name, v in keywords.items()})
    return tracked(b, found) if function.__name__ == "copy" else found


def _keys(b: Builder, values: Any) -> Any:
    """What a set takes elements from, each of them as a key."""
    return [key_of(b, value) for value in values] if isinstance(values, (list, tuple)) else values


def _require_current_list(b: Builder, values: list[Any], name: str, positional: list[Any]) -> None:
    """Refuse a change of a list where the parser cannot follow it, of which the next attempt may make a log."""
    is_removal = name in REMOVING
    may_remove = b.nest is not None and (b.nest.items.may_remove or _is_full(values))
    may_carry = is_removal or may_remove or any(values is one for one in b.only_read.values())
    is_several = name == "extend" and positional and isinstance(positional[0], (list, tuple))
    with _noted(b, values, () if is_removal else positional[0] if is_several else positional):
        require_current(b, values, may_carry=may_carry)


def _noted(b: Builder, values: list[Any], more: Sequence[Any]) -> AbstractContextManager[None]:
    """Note it if a change of a list that the program has made cannot be followed, where it can be as a log.

    Args:
        more: what is added to it.
    """
    last = [*values, *more][-1:]
    # Of a copy, as backtracking empties an object that the program has made since.
    like = trees.copied(last)
    return b.logs.noted(values, like[0], _is_decided_by_data(b, values)) if like else nullcontext()


def noted_lookup(b: Builder, values: Any, index: Any) -> AbstractContextManager[None]:
    """Note it if there is no such item of a list that loops or branches around may change."""
    is_list = is_whole(index) and isinstance(values, list) and b.logs.is_followed(values)
    return _noted(b, values, ()) if is_list and _is_decided_by_data(b, values) else nullcontext()


def _is_decided_by_data(b: Builder, container: Any) -> bool:
    """Whether data decides if the program comes here from where it has made a container, and how often."""
    depth = b.contents.depth(container)
    is_in_branch = any(one.depth > depth and not one.symbols for one in b.decisions)
    return is_in_branch or any(body > depth and not trips.is_affine for body, _, trips in b.loops)


def _place(b: Builder, place: Any) -> Any:
    """A place in a list that changes, which must be known."""
    is_run_time = isinstance(place, Lin) or (isinstance(place, Tensor) and not place.ndim and place.dtype.kind in "iu")
    return b.constant(place) if is_run_time else place


def _is_full(values: Any) -> bool:
    """Whether what is added to a container makes it drop another item."""
    return isinstance(values, Deque) and len(values) == values.maxlen


def extend(b: Builder, values: list[Any], more: Iterable[Any]) -> None:
    """Append items to a list one by one."""
    for value in list(more):
        method(b, values.append, [value], {})
