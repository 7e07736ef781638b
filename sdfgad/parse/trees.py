"""Pytrees: nested tuples, lists, dicts, objects and selections, flattened to leaves and rebuilt from them."""

from __future__ import annotations

import gc
import operator
import types
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import Any

from sdfgad.parse import object_graphs
from sdfgad.parse.logs import Site
from sdfgad.parse.object_graphs import SUSPECT, Suspected
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.tree_nodes import is_inner, is_same_kind, parts_of, with_parts
from sdfgad.parse.values import (
    DICT_VIEWS,
    UNDEFINED,
    AfterLoop,
    Holder,
    Iteration,
    Record,
)

# The attribute of a class that a function defines in which the frame of that function is kept.
LOCAL_FRAME = "<frame>"
# Of which several may be equal, and that no array can hold.
LABELS = (str, type(None), Site)
# Deeper than any value that Python can take apart.
MOST = 10**9


def leaves(value: Any) -> list[Any]:
    """The leaves of a value in order: numbers, arrays and other objects."""
    found: list[Any] = []
    try:
        _leaves(value, found, SUSPECT)
    except Suspected:
        if object_graphs.is_cyclic(value):
            return [node for node in object_graphs.nodes(value) if not is_inner(node)]
        found.clear()
        _leaves(value, found, MOST)
    return found


def _leaves(value: Any, found: list[Any], left: int) -> None:
    if not is_inner(value):
        found.append(value)
        return
    if not left:
        raise Suspected
    for part in parts_of(value):
        _leaves(part, found, left - 1)


def sequences(value: Any) -> list[Any]:
    """The tuples, lists, dicts and objects that a value is and consists of."""
    found: list[Any] = []
    try:
        _sequences(value, found, SUSPECT)
    except Suspected:
        if object_graphs.is_cyclic(value):
            return [node for node in object_graphs.nodes(value) if is_inner(node)]
        found.clear()
        _sequences(value, found, MOST)
    return found


def _sequences(value: Any, found: list[Any], left: int) -> None:
    if not is_inner(value):
        return
    if not left:
        raise Suspected
    found.append(value)
    for part in parts_of(value):
        _sequences(part, found, left - 1)


def reachable(values: Iterable[Any], but: Any) -> Iterator[Any]:
    """All leaves of values, also those that functions, iterators and frames hold, except for what `but` holds."""
    left, seen = list(values), {id(but)}
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        left += _referred(value)
        if not is_inner(value) and not isinstance(value, (partial, Holder)):
            yield value


def references(values: Iterable[Any], but: Any) -> Counter[int]:
    """How many names and parts of values refer to each list, dict or object, by id, except those that `but` holds."""
    left, seen, found = list(values), {id(but)}, Counter[int]()
    while left:
        value = left.pop()
        found[id(value)] += isinstance(value, (list, dict, Record))
        if id(value) not in seen:
            seen.add(id(value))
            left += _referred(value)
    return found


def holds_any(values: Iterable[Any], ids: Container[int]) -> bool:
    """Whether values are, consist of or go over some objects, by id; what functions hold does not count."""
    left, seen = list(values), set[int]()
    while left:
        value = left.pop()
        if id(value) in ids:
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        left += [dict_of(value)] if isinstance(value, DICT_VIEWS) else []
        is_set = isinstance(value, (set, frozenset))
        left += value if is_set else [] if isinstance(value, partial) else _iterated(value)
    return False


def dict_of(value: Any) -> Any:
    """The dict of which a value is a view, as `d.keys()` is: what it shows later. Any other value itself."""
    return gc.get_referents(value)[0] if isinstance(value, DICT_VIEWS) else value


def _iterated(value: Any) -> list[Any]:
    if isinstance(value, (Iteration, AfterLoop)):
        return list(value.held)
    return parts_of(value) if is_inner(value) else []


def _referred(value: Any) -> list[Any]:
    """What a value holds or consists of."""
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, Holder):
        return list(value.held)
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        return [value.__self__]
    if isinstance(value, Record):
        return [value.fields, value.cls]
    if isinstance(value, type):
        return [value.__dict__[LOCAL_FRAME]] if LOCAL_FRAME in value.__dict__ else []
    return parts_of(value) if is_inner(value) else []


def rebuilt(like: Any, new: Iterable[Any], same: Container[int] = ()) -> Any:
    """A value with the structure of `like` and the leaves `new`; containers with ids in `same` stay what they are."""
    parts = list(new)
    try:
        return _rebuilt(like, iter(parts), same, SUSPECT)
    except (Suspected, StopIteration):
        # Where it contains itself, its leaves are more on the way down than they are.
        rest = iter(parts)
        if object_graphs.is_cyclic(like):
            return object_graphs.rebuilt(like, lambda _: next(rest), same)
        return _rebuilt(like, rest, same, MOST)


def _rebuilt(like: Any, new: Iterator[Any], same: Container[int], left: int) -> Any:
    if not is_inner(like):
        return next(new)
    if not left:
        raise Suspected
    parts = [_rebuilt(part, new, same, left - 1) for part in parts_of(like)]
    return like if id(like) in same else with_parts(like, parts)


def matched(values: list[Any]) -> list[Any] | None:
    """The values in a common structure; None if theirs differ. An undefined value takes any structure."""
    try:
        return _matched(values, SUSPECT)
    except Suspected:
        return _matched_graphs(values) if any(map(object_graphs.is_cyclic, values)) else _matched(values, MOST)


def _matched_graphs(values: list[Any]) -> list[Any] | None:
    known = [value for value in values if value is not UNDEFINED]
    if not object_graphs.are_alike(known):
        return None
    return [object_graphs.rebuilt(known[0], _undefined) if value is UNDEFINED else value for value in values]


def _undefined(_: Any) -> Any:
    return UNDEFINED


def _is_same(x: Any, y: Any) -> bool:
    return type(x) is type(y) and x == y


def _common_exception(known: list[Any]) -> BaseException | None:
    """The exception of Python's that stands for several of one class, whose text only a run tells if they differ in it.

    None: they are no such exceptions.
    """
    first = known[0] if known else None
    if not isinstance(first, BaseException) or any(type(one) is not type(first) for one in known):
        return None
    if all(one is first or repr(one.args) == repr(first.args) for one in known):
        return first
    cls: Any = type(first)
    made: BaseException = cls.__new__(cls)
    made.args = (RunTimeText(" or ".join(dict.fromkeys(map(repr, known)))),)
    return made


def _matched(values: list[Any], left: int) -> list[Any] | None:
    known = [value for value in values if value is not UNDEFINED]
    if not any(map(is_inner, known)):
        # What is never read may as well be what is read elsewhere.
        is_label = bool(known) and isinstance(known[0], LABELS) and all(_is_same(value, known[0]) for value in known)
        exception = _common_exception(known)
        if exception is not None:
            return [exception] * len(values)
        return known[:1] * len(values) if is_label else values
    like = known[0]
    if not is_inner(like) or not all(is_same_kind(like, value) for value in known):
        return None
    if not left:
        raise Suspected
    missing = [UNDEFINED] * len(parts_of(like))
    columns = zip(*(missing if value is UNDEFINED else parts_of(value) for value in values), strict=True)
    fitted = [_matched(list(column), left - 1) for column in columns]
    if any(column is None for column in fitted):
        return None
    return [_fitted(value, like, [column[k] for column in fitted if column]) for k, value in enumerate(values)]


def by_parts(values: list[Any], each: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """What `each` makes of several values, and of the parts of tuples of one length, place by place."""
    known = [value for value in values if value is not UNDEFINED]
    are_tuples = all(isinstance(value, tuple) and is_inner(value) and type(value) is type(known[0]) for value in known)
    if not known or not are_tuples:
        return each(values)
    if len({len(one) for one in known}) != 1:
        return values
    rows = [[UNDEFINED] * len(known[0]) if value is UNDEFINED else [*value] for value in values]
    before = [list(parts) for parts in zip(*rows, strict=True)]
    after = [by_parts(parts, each) for parts in before]
    if all(map(operator.is_, after, before)):
        return values
    rows = [[*row] for row in zip(*after, strict=True)]
    return [
        value if value is UNDEFINED and all(part is UNDEFINED for part in row) else with_parts(known[0], row)
        for value, row in zip(values, rows, strict=True)
    ]


def _fitted(value: Any, like: Any, parts: list[Any]) -> Any:
    """A value with other parts; the very value if they are the same."""
    is_same = value is not UNDEFINED and all(map(operator.is_, parts_of(value), parts))
    return value if is_same else with_parts(like, parts)


def mapped(value: Any, each: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    """A value with its leaves mapped; what several parts or values refer to stays one object, and the same if it can.

    Args:
        done: by id, each part that has been mapped, and its result.
    """
    if is_inner(value) and object_graphs.is_cyclic(value):
        return _mapped_graph(value, each, done)
    return _mapped(value, each, done)


def _mapped_graph(value: Any, each: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    """All that its parts refer to is of this graph, too: where no leaf changes, each of them stays what it is."""
    if id(value) not in done:
        containers = sequences(value)
        made = {key: result for key, (_, result) in done.items()}
        if all(_mapped(leaf, each, done) is leaf for leaf in leaves(value)):
            made |= {id(one): one for one in containers}
        else:
            object_graphs.rebuilt(value, lambda leaf: _mapped(leaf, each, done), made=made)
        done |= {id(one): (one, made[id(one)]) for one in containers}
    return done[id(value)][1]


def _mapped(value: Any, each: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    if id(value) not in done:
        result = value
        if is_inner(value):
            parts = [_mapped(part, each, done) for part in parts_of(value)]
            result = _fitted(value, value, parts)
        else:
            result = each(value)
        done[id(value)] = value, result
    return done[id(value)][1]


def copied(value: Any) -> Any:
    """A value with the same leaves in other tuples, lists, dicts and objects."""
    return rebuilt(value, leaves(value))


def is_changed(value: Any, before: Any) -> bool:
    """Whether other leaves have been put in a value since the copy `before` was made of it."""
    old, new = leaves(before), leaves(value)
    return matched([before, value]) is None or len(old) != len(new) or not all(map(operator.is_, old, new))


def matched_like(like: Any, values: list[Any]) -> list[Any]:
    """`values` in the structure of `like`, which all of them have except undefined ones."""
    return (matched([like, *values]) or [])[1:]
