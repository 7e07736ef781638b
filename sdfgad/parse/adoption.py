"""Adoption: arrays, lists, dicts and objects from outside that a program changes, as its own.

That something is changed is found where the program does so. It is then parsed again with a copy that is made at its
beginning: of what is there at each call, and what is outside stays as it is. Lists, dicts and objects are copied with
all that they hold but their arrays, which are adopted where they are updated in turn.
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sdfgad.parse import outside
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import tracked
from sdfgad.parse.contents import ChangesOutside
from sdfgad.parse.dtypes import DTYPES
from sdfgad.parse.functions.creation import copy_method
from sdfgad.parse.object_columns import Deferred
from sdfgad.parse.overlap import may_overlap
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Record

# More values are not adopted: Python makes them anew at each attempt.
MOST = 1000
# No name of a program begins so.
PREFIX = "outside "


def more(b: Builder, adopted: tuple[Any, ...], failure: ChangesOutside) -> tuple[Any, ...]:
    """What the next attempt adopts.

    Raises:
        SdfgadError: this attempt has adopted what the program changes, or it changes ever other values.
    """
    if len(adopted) > MOST or any(failure.value is one for one in adopted):
        raise failure.refusal
    known = {id(one) for one in adopted}
    new = [one for one in _with_holders(b, failure.value) if id(one) not in known] or [failure.value]
    _require_apart(b, [one for one in (*adopted, *new) if isinstance(one, np.ndarray)])
    return (*adopted, *new)


def _require_apart(b: Builder, arrays: list[np.ndarray[Any, Any]]) -> None:
    """Refuse arrays that share memory, as each of them is copied."""
    if any(may_overlap(x, y) for x, y in itertools.combinations(arrays, 2)):
        what = "arrays from outside the function that it updates share memory"
        raise b.unsupported(what, "Pass the whole array as an argument, and take its parts in the function.")


def _with_holders(b: Builder, value: Any) -> list[Any]:
    """What to adopt where a program changes a value: what holds it and all else, or the arrays beside it in a list."""
    holder = b.holders.get(id(value))
    if isinstance(value, np.ndarray):
        beside = holder.values() if isinstance(holder, dict) else holder if isinstance(holder, (list, tuple)) else ()
        return [value, *(one for one in beside if isinstance(one, np.ndarray) and one is not value)]
    seen = set[int]()
    while id(value) not in seen and (outside.is_object(holder) or isinstance(holder, (list, tuple, dict, set, deque))):
        seen.add(id(value))
        value, holder = holder, b.holders.get(id(holder))
    return [value]


def opened(b: Builder, values: Sequence[Any]) -> dict[str, Any]:
    """What a program changes of the outside as values of its own, by names of its frame, so that loops carry them."""
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    for value in [*arrays, *values]:
        if id(value) not in b.of_outside:
            _own(b, value)
    return {f"{PREFIX}{k}": b.of_outside[id(value)][1] for k, value in enumerate(values)}


def _own(b: Builder, value: Any) -> Any:
    """A value from outside as one of the program's; what it may not change stays one from outside."""
    if id(value) in b.of_outside:
        return b.of_outside[id(value)][1]
    if isinstance(value, np.ndarray):
        copied = b.settle(copy_method(b, b.capture("an array", value, lambda: value)))
        b.adopted.append(value)
        return outside.known(b, value, copied)
    if isinstance(value, tuple):
        parts = [_part(b, value, k, operator.getitem) for k in range(len(value))]
        return outside.known(b, value, rebuilt_tuple(value, parts))
    if outside.is_object(value):
        names = outside.note_names(b, value)
        record = outside.known(b, value, Record(type(value), tracked(b, {})))
        record.fields.update({name: _attribute(b, value, name) for name in names})
        return record
    if type(value) in outside.KINDS:
        outside.note_items(b, value)
        return _own_container(b, value)
    return outside.from_outside(b, value)


def _attribute(b: Builder, value: Any, name: str) -> Any:
    """An attribute of an object; arrays that are not supported matter where they are read."""
    found = getattr(value, name)
    if isinstance(found, np.ndarray) and found.dtype.name not in DTYPES:
        return Deferred(partial(_part, b, value, name, getattr))
    return _part(b, value, name, getattr)


def _own_container(b: Builder, value: Any) -> Any:
    if isinstance(value, set):
        return outside.known(b, value, tracked(b, {outside.key_from_outside(b, one) for one in value}))
    made = outside.known(b, value, tracked(b, outside.empty_like(value)))
    if isinstance(value, dict):
        parts = {outside.key_from_outside(b, key): _part(b, value, key, operator.getitem) for key in value}
        made.update(parts)
    else:
        made += [_part(b, value, k, operator.getitem) for k in range(len(value))]
    return made


def _part(b: Builder, owner: Any, key: Any, get: Callable[[Any, Any], Any]) -> Any:
    return outside.part_from_outside(b, owner, key, get, _own)
