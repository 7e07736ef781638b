"""Classes of the user that derive from dict, list or an exception: what these define is done to an object's attributes.

Only the parser follows these methods. As in Python, they call no methods that a class overrides.
"""

# mypy: ignore-errors

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

# The attribute with the items of an object; no name of a program is this one.
ITEMS = "_Items__items"


class Items:
    """What dicts and lists have in common."""

    def __getitem__(self, key):
        return self.__items[key]

    def __setitem__(self, key, value):
        self.__items[key] = value

    def __delitem__(self, key):
        del self.__items[key]

    def __contains__(self, key):
        return key in self.__items

    def __len__(self):
        return len(self.__items)

    def __iter__(self):
        return iter(self.__items)

    def clear(self):
        self.__items.clear()

    def pop(self, *arguments):
        return self.__items.pop(*arguments)


class Dict(Items):
    """``dict``."""

    def item_or_missing(self, key):
        return self._Items__items[key] if key in self._Items__items else self.__missing__(key)

    def __init__(self, *values, **named):
        self._Items__items.update(*values, **named)

    def keys(self):
        return self._Items__items.keys()

    def values(self):
        return self._Items__items.values()

    def items(self):
        return self._Items__items.items()

    def get(self, key, default=None):
        return self._Items__items.get(key, default)

    def setdefault(self, key, default=None):
        return self._Items__items.setdefault(key, default)

    def update(self, *values, **named):
        self._Items__items.update(*values, **named)

    def copy(self):
        return dict(self._Items__items)


class List(Items):
    """``list``."""

    def __init__(self, values=()):
        self._Items__items.extend(values)

    def append(self, value):
        self._Items__items.append(value)

    def extend(self, values):
        self._Items__items.extend(values)

    def insert(self, place, value):
        self._Items__items.insert(place, value)

    def index(self, value):
        return self._Items__items.index(value)

    def reverse(self):
        self._Items__items.reverse()


class Raised:
    """``BaseException``."""

    def __init__(self, *args):
        self.args = args

    def __str__(self):
        return "" if len(self.args) == 0 else str(self.args[0] if len(self.args) == 1 else self.args)


def _defined(builtin: type, cls: type) -> Iterator[tuple[Any, Callable[..., Any]]]:
    for one in reversed(cls.__mro__[:-1]):
        for name, function in vars(one).items():
            if isinstance(function, types.FunctionType) and name in vars(builtin):
                yield vars(builtin)[name], function


# What dict and list define -> what is done instead.
STAND_INS = {**dict(_defined(dict, Dict)), **dict(_defined(list, List))}


def stand_in(found: Any) -> Any:
    """What stands in for what a builtin class defines; anything else itself."""
    is_builtin = isinstance(found, (types.WrapperDescriptorType, types.MethodDescriptorType))
    if is_builtin and issubclass(found.__objclass__, BaseException):
        return vars(Raised).get(found.__name__, found)
    return STAND_INS.get(found, found) if is_builtin else found


def member(cls: type, *named: Any) -> Any:
    """What a class, or one that it derives from, defines under a name; `named` are the other arguments of `getattr`."""
    found = stand_in(inspect.getattr_static(cls, *named))
    return Dict.item_or_missing if found is Items.__getitem__ and hasattr(cls, "__missing__") else found


def empty_items(cls: type) -> Any:
    """The items of a new object of a class that derives from dict or list; None for another one."""
    return {} if issubclass(cls, dict) else [] if issubclass(cls, list) else None
