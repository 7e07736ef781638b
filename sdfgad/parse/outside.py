"""State from outside a program: what its functions find in globals, free names, defaults and their parts.

Numbers and strings are constants, arrays are inputs, lists and dicts stay what they are, and objects of the user's
classes are objects of the program, whose attributes are read where it reads them. A later call finds out whether any of
it is another one by then (`Builder.lookups`).
"""

from __future__ import annotations

import argparse
import itertools
import operator
import re
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import Read
from sdfgad.parse import attributes, object_keys, sparse, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import Counts, Default, key_of
from sdfgad.parse.deques import Deque
from sdfgad.parse.object_columns import Deferred
from sdfgad.parse.sparse_layout import is_sparse
from sdfgad.parse.structure import LIBRARIES, is_of_library, is_record, items_of
from sdfgad.parse.texts import is_plain
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Iteration, Record, Tensor

# Classes of the standard library whose objects hold what the user has set.
NAMESPACES = (types.SimpleNamespace, argparse.Namespace)
# A class that derives from these computes as they do.
VALUES = (int, float, complex, str, bytes, np.ndarray, np.generic, dict, list, tuple, set)
# The containers of the program for those from outside.
KINDS: dict[type, type] = {
    list: list,
    dict: dict,
    set: set,
    OrderedDict: OrderedDict,
    Counter: Counts,
    defaultdict: Default,
    deque: Deque,
}
METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def from_outside(b: Builder, value: Any) -> Any:
    """What a value from outside is in the program, which must not change it; the next call sees whether others have."""
    b.require_plain(value)
    if id(value) in b.of_outside:
        return b.of_outside[id(value)][1]
    if is_object(value):
        return known(b, value, Record(type(value), _attributes_of(b, value)))
    if isinstance(value, itertools.count) and (bounds := _numbers_of(value)) is not None:
        return known(b, value, _counting(b, value, bounds))
    if id(value) in b.outside:
        return value
    if isinstance(value, (list, dict, set, deque)):
        b.outside[id(value)] = value
        note_items(b, value)
    if isinstance(value, types.MethodType) and is_object(value.__self__):
        return known(b, value, types.MethodType(value.__func__, from_outside(b, value.__self__)))
    if isinstance(value, partial) and _holds_objects(b, value, set()):
        function, *parts = [from_outside(b, part) for part in (value.func, *value.args)]
        return partial(function, *parts, **{name: from_outside(b, part) for name, part in value.keywords.items()})
    is_known = type(value) in KINDS or isinstance(value, tuple)
    if isinstance(value, (deque, defaultdict)) or (is_known and _holds_objects(b, value, set())):
        return _container(b, value)
    if isinstance(value, (list, dict, tuple, set)):
        for part in value.values() if isinstance(value, dict) else value:
            from_outside(b, part)
    return value


def _numbers_of(value: itertools.count[Any]) -> tuple[int, ...] | None:
    """The next integer of a count, and its step; None of other numbers."""
    # As it is printed: to take one, or to copy it, changes it or is not possible in all versions of Python.
    found = re.fullmatch(r"count\((-?\d+)(?:, (-?\d+))?\)", repr(value))
    return None if found is None else tuple(int(one) for one in found.groups(default="1"))


def _counting(b: Builder, value: itertools.count[Any], bounds: tuple[int, ...]) -> Iteration:
    """A count from outside, of which the program takes its own numbers, from the next one at the call on."""
    b.lookups.append((partial(_numbers_of, value), bounds))
    return Iteration(bounds, lambda: itertools.count(*bounds), tuple(b.blocks[:1]), function=itertools.count)


def known(b: Builder, value: Any, found: Any) -> Any:
    """Note what a value from outside is in the program, and return that."""
    b.of_outside[id(value)] = value, found
    b.originals[id(found.fields if isinstance(found, Record) else found)] = value
    return found


def is_object(value: Any) -> bool:
    """Whether a value is an object of a class of the user's."""
    cls = type(value)
    if cls in NAMESPACES:
        return True
    # A class statement defines one of these, unless a base does; classes in C, such as Cython's functions, do not.
    is_in_python = any("__weakref__" in vars(one) or "__slots__" in vars(one) for one in cls.__mro__)
    return is_in_python and is_record(cls) and not issubclass(cls, VALUES) and not is_of_library(cls.__module__)


def _attributes_of(b: Builder, value: Any) -> dict[str, Any]:
    """The attributes of an object, which are looked up where the program reads them."""
    names = note_names(b, value)
    return {name: Deferred(partial(part_from_outside, b, value, name, getattr), is_kept=False) for name in names}


def attributes_of(b: Builder, record: Record) -> dict[str, Any]:
    """``record.__dict__``: the very attributes of an object of the program, or those that one from outside has."""
    found = {name: attributes.other(record, name) for name in record.fields}
    if not any(is_read_later(record, name) for name in record.fields):
        return record.fields
    b.outside[id(found)] = found
    if id(record.fields) in b.originals:
        b.originals[id(found)] = b.originals[id(record.fields)]
    return found


def is_read_later(record: Record, name: str) -> bool:
    """Whether an attribute is one of an object from outside, which is looked up where it is read."""
    found = record.fields.get(name)
    return isinstance(found, Deferred) and not found.is_kept


def note_names(b: Builder, value: Any) -> tuple[str, ...]:
    """The names of the attributes of an object, which a later call compares."""
    names = _names(value)
    b.lookups.append((partial(_names, value), names))
    return names


def note_items(b: Builder, container: Any) -> None:
    """Note the items of a container, which a later call compares."""
    b.lookups.append((partial(_is_unchanged, container, _items_of(container)), True))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in items_of(value) or ())


def _holds_objects(b: Builder, value: Any, seen: set[int]) -> bool:
    """Whether a container holds, in whatever depth, an object of the user's, or what is known as another value."""
    if id(value) in seen:
        return False
    seen.add(id(value))
    if id(value) in b.of_outside:
        return True
    if isinstance(value, types.MethodType):
        return is_object(value.__self__)
    if isinstance(value, partial):
        return any(_holds_objects(b, part, seen) for part in (value.func, *value.args, *value.keywords.values()))
    if isinstance(value, dict):
        return any(_holds_objects(b, part, seen) for pair in value.items() for part in pair)
    if isinstance(value, (list, set, tuple)):
        return any(_holds_objects(b, part, seen) for part in value)
    return is_object(value)


def _container(b: Builder, value: Any) -> Any:
    """A container with the objects of the program in place of those that it has; its arrays stay where they are."""
    for part in value.values() if isinstance(value, dict) else value:
        b.holders.setdefault(id(part), value)
    if isinstance(value, tuple):
        return known(b, value, rebuilt_tuple(value, [from_outside(b, part) for part in value]))
    made = known(b, value, empty_like(value))
    b.outside[id(made)] = made
    if isinstance(value, dict):
        made.update({key_from_outside(b, key): from_outside(b, part) for key, part in value.items()})
    elif isinstance(value, set):
        made.update(key_from_outside(b, part) for part in value)
    else:
        made.extend(from_outside(b, part) for part in value)
    return made


def with_arrays(b: Builder, value: Any) -> Any:
    """A list, dict or tuple from outside with the program's arrays in place of those that it holds, where all of it is
    used at once; any other value itself."""
    is_one = isinstance(value, tuple) or (isinstance(value, (list, dict)) and id(value) in b.outside)
    if not is_one or not _holds_arrays(value, set()):
        return value
    if id(value) in b.wholes and b.wholes[id(value)].is_current(b):
        return b.wholes[id(value)].found
    keys = value if isinstance(value, dict) else range(len(value))
    parts = [with_arrays(b, part_from_outside(b, value, key, operator.getitem)) for key in keys]
    if isinstance(value, tuple):
        return rebuilt_tuple(value, parts)
    made: Any = empty_like(value) if type(value) in KINDS else {} if isinstance(value, dict) else []
    if isinstance(value, dict):
        made.update(zip(value, parts, strict=True))
    else:
        made.extend(parts)
    b.outside[id(made)], b.originals[id(made)] = made, value
    b.wholes[id(value)] = Whole.of(b, value, made)
    return made


@dataclass(frozen=True)
class Whole:
    """A container from outside, the one of the program with its arrays, and the input buffers of these."""

    value: Any
    found: Any
    inputs: Mapping[str, Any]

    @staticmethod
    def of(b: Builder, value: Any, found: Any) -> Whole:
        elements = (one.at(*[0] * one.ndim) for one in trees.leaves(found) if isinstance(one, Tensor))
        names = [one.buffer for one in elements if isinstance(one, Read) and one.buffer in b.captured]
        return Whole(value, found, {name: b.captured[name] for name in names})

    def is_current(self, b: Builder) -> bool:
        """Whether its buffers are still there: an attempt that is given up takes those away that it has met first."""
        return all(name in b.buffers and b.captured.get(name) is one for name, one in self.inputs.items())


def _holds_arrays(value: Any, seen: set[int]) -> bool:
    """Whether a container holds an array of NumPy's or a sparse matrix, in whatever depth."""
    if isinstance(value, np.ndarray) or is_sparse(value):
        return True
    if not isinstance(value, (list, dict, tuple)) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_holds_arrays(part, seen) for part in (value.values() if isinstance(value, dict) else value))


def empty_like(value: Any) -> Any:
    """An empty container of the program's of the same kind."""
    if isinstance(value, defaultdict):
        made = Default()
        made.factory = value.default_factory
        return made
    return Deque(maxlen=value.maxlen) if isinstance(value, deque) else KINDS[type(value)]()


def key_from_outside(b: Builder, value: Any) -> Any:
    """A key of a dict, or an element of a set."""
    key = from_outside(b, value)
    return key_of(b, key) if isinstance(key, Record) and object_keys.is_by_value(key.cls) else key


def _items_of(container: Any) -> list[Any]:
    return [*container, *container.values()] if isinstance(container, dict) else list(container)


def _is_unchanged(container: Any, before: list[Any]) -> bool:
    """Whether a container has the items that it had before: the same objects, or equal plain ones."""
    items = _items_of(container)
    return len(items) == len(before) and (
        all(map(operator.is_, items, before)) or all(map(_is_equal_item, items, before))
    )


def _is_equal_item(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) and is_plain(x) and is_plain(y) and bool(x == y))


def is_outside(b: Builder, container: Any) -> bool:
    """Whether a list or dict is neither made by the program nor passed to it, or a tuple has arrays of the user."""
    if isinstance(container, tuple):
        return any(isinstance(item, np.ndarray) for item in container)
    return isinstance(container, (list, dict)) and not b.contents.has(container)


def part_from_outside(
    b: Builder, owner: Any, key: Any, get: Callable[[Any, Any], Any], into: Callable[[Builder, Any], Any] = from_outside
) -> Any:
    """An attribute or item of an object that is no value of the program, which may have another one at a later call."""
    found = b.python(get, owner, key)
    b.holders.setdefault(id(found), owner)
    if isinstance(found, np.ndarray):
        return b.capture(str(key), found, partial(get, owner, key))
    if is_sparse(found):
        return sparse.captured(b, str(key), found, partial(get, owner, key))
    is_library = isinstance(owner, types.ModuleType) and owner.__name__.partition(".")[0] in LIBRARIES
    if not is_library:
        _guard(b, owner, key, found, partial(get, owner, key))
    return into(b, found)


def _guard(b: Builder, owner: Any, key: Any, found: Any, lookup: Callable[[], Any]) -> None:
    """Note how a later call tells whether an object from outside still has this attribute or item."""
    if isinstance(found, METHODS) and lookup() is not found:
        # Python makes a bound method anew each time.
        b.looked_up(owner, key, True, lambda: lookup() == found)
    else:
        b.looked_up(owner, key, found, lookup)


def item_from_outside(b: Builder, owner: Mapping[Any, Any], key: Any, default: Any = None) -> Any:
    """``get`` of a mapping that is no value of the program."""
    return part_from_outside(b, owner, key_of(b, key), lambda one, name: one.get(name, default))
