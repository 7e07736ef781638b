"""Pytrees of arguments: containers are flattened to their leaves, which are named as Python selects them, and rebuilt.

Containers are dicts, lists, tuples, named tuples, dataclasses, objects of classes in Python, and sparse matrices.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import re
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.parse.sparse_layout import Layout, arrays_of, is_sparse, is_understood, layout_of, rebuilt

# Classes of these packages are not taken apart: their objects are constants, or refused.
LIBRARIES = frozenset(
    {"builtins", "collections", "dace", "functools", "jax", "jaxlib", "numpy", "pandas", "scipy", "torch"}
)
# Nested deeper, a container contains itself.
MOST_LEVELS = 100


@dataclasses.dataclass(frozen=True)
class Structure:
    """What a container is made of.

    Attributes:
        cls: its class.
        keys: the keys, positions or names of its parts, in order.
        parts: the structure of each; None for a leaf.
    """

    cls: type
    keys: tuple[Hashable, ...]
    parts: tuple[Structure | None, ...]

    @property
    def is_record(self) -> bool:
        """Whether its parts are attributes."""
        return not issubclass(self.cls, (dict, list, tuple))

    def select(self, key: Hashable) -> str:
        """The text that selects a part: ``["w"]``, ``[0]`` or ``.w``."""
        has_names = self.is_record or hasattr(self.cls, "_fields")
        return f".{key}" if has_names else f"[{key!r}]"


@dataclasses.dataclass(frozen=True, eq=False)
class Leaf:
    """Stands for an array or run-time integer of a program that is being parsed."""

    value: Any


class Indivisible:
    """An object of the parser's that is no container, whatever its attributes are."""


# What is certainly no container; most leaves are.
PLAIN = frozenset({Leaf, np.ndarray, float, int, bool, complex, str, np.float64, np.float32, type(None)})


def flattened(value: Any, name: str) -> tuple[Structure | None, list[Any]]:
    """The structure of a container, None for anything else, and its leaves in order.

    Raises:
        ArgumentError: it contains itself.
    """
    leaves: list[Any] = []
    return _flattened(value, name, leaves, 0), leaves


def _flattened(value: Any, name: str, leaves: list[Any], level: int) -> Structure | None:
    items = None if type(value) in PLAIN else items_of(value)
    if items is None:
        leaves.append(value)
        return None
    if level > MOST_LEVELS:
        raise ArgumentError(
            f"the argument `{name}` is nested too deeply, or contains itself",
            None,
            "Pass the arrays that it holds as arguments of their own.",
        )
    parts = tuple([_flattened(part, name, leaves, level + 1) for part in items.values()])
    return Structure(layout_of(value) or type(value), tuple(items), parts)


def items_of(value: Any) -> dict[Hashable, Any] | None:
    """The parts of a container by key, position or name; None if it is none."""
    if is_sparse(value):
        # Some of the formats are dicts.
        return arrays_of(value) if is_understood(value) else None
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return _attributes(value) if is_record(type(value)) else None


def is_record(cls: type) -> bool:
    """Whether the attributes of objects of a class are its parts: one that is written in Python, by the user."""
    if cls is types.SimpleNamespace:
        return True
    is_heap = bool(cls.__flags__ & (1 << 9))
    return is_heap and cls.__module__.partition(".")[0] not in LIBRARIES and not _is_special(cls)


def is_of_library(module: str | None) -> bool:
    """Whether a module is one of the standard library, of ours, or of those whose objects are not taken apart."""
    top = (module or "").partition(".")[0]
    return top in LIBRARIES or top in sys.stdlib_module_names - {"__main__"} or top == "sdfgad"


def _is_special(cls: type) -> bool:
    is_value = issubclass(cls, (type, BaseException, enum.Enum, Indivisible))
    is_array = any(hasattr(cls, name) for name in ("__array__", "__cuda_array_interface__", "__dlpack_device__"))
    # Iterators of libraries, and generators, are no containers; one that is written in Python is an object like others.
    own = getattr(cls, "__next__", None)
    return is_value or is_array or (own is not None and not isinstance(own, types.FunctionType))


def _attributes(value: Any) -> dict[Hashable, Any]:
    slots = [name for cls in type(value).__mro__ for name in _slots(cls) if hasattr(value, name)]
    return {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def repeated(parts: Iterable[tuple[Structure | None, Any, str]]) -> tuple[str, str] | None:
    """The names of two parts that are one list, dict or object; None if there are none."""
    seen: dict[int, str] = {}
    left = list(parts)
    while left:
        structure, value, name = left.pop()
        if structure is None:
            continue
        if not isinstance(value, tuple) and seen.setdefault(id(value), name) != name:
            return name, seen[id(value)]
        items = items_of(value) or {}
        pairs = zip(structure.keys, structure.parts, strict=True)
        left += [(part, items[key], name + structure.select(key)) for key, part in pairs]
    return None


@lru_cache(maxsize=1024)
def names(structure: Structure | None, name: str) -> tuple[str, ...]:
    """The names of the leaves of a container, in order, such as ``params['layers'][0].w``."""
    if structure is None:
        return (name,)
    pairs = zip(structure.keys, structure.parts, strict=True)
    return tuple(leaf for key, part in pairs for leaf in names(part, name + structure.select(key)))


def places(structure: Structure | None, name: str) -> tuple[str, ...]:
    """The names of the leaves that say where the entries of sparse matrices are, which a gradient has, too."""
    if structure is None:
        return ()
    if issubclass(structure.cls, Layout):
        return names(structure, name)[1:]
    pairs = zip(structure.keys, structure.parts, strict=True)
    return tuple(leaf for key, part in pairs for leaf in places(part, name + structure.select(key)))


def build(structure: Structure | None, new: Iterator[Any], make: Callable[[type, dict[Hashable, Any]], Any]) -> Any:
    """A container with other leaves; `make` makes one of a class from its parts by key, position or name."""
    if structure is None:
        return next(new)
    pairs = zip(structure.keys, structure.parts, strict=True)
    return make(structure.cls, {key: build(part, new, make) for key, part in pairs})


def sequence(cls: Any, items: dict[Hashable, Any]) -> Any:
    """A dict, list or tuple of a class from its parts."""
    if issubclass(cls, dict):
        return OrderedDict(items) if issubclass(cls, OrderedDict) else items
    if issubclass(cls, list):
        return list(items.values())
    return cls._make(items.values()) if hasattr(cls, "_fields") else tuple(items.values())


def container(cls: type, items: dict[Hashable, Any]) -> Any:
    """A container of a class from its parts; the constructors of classes are not called."""
    if issubclass(cls, (dict, list, tuple)):
        return sequence(cls, items)
    if issubclass(cls, Layout):
        return rebuilt(cls, items)
    made = types.SimpleNamespace() if cls is types.SimpleNamespace else object.__new__(cls)
    for name, value in items.items():
        object.__setattr__(made, str(name), value)
    return made


# --- parts by name


# The structure of an argument or of a part of one (None: a leaf), and its name.
Part = tuple[Structure | None, str]


def part_named(structure: Structure | None, name: str, path: tuple[Hashable, ...]) -> Part | None:
    """The part of a container that a path leads to, and its name; None if there is none.

    An attribute's name also selects the item of a dict.
    """
    for key in path:
        if structure is None or key not in structure.keys:
            return None
        name, structure = name + structure.select(key), structure.parts[structure.keys.index(key)]
    return structure, name


def path_of(text: str) -> tuple[str, tuple[Hashable, ...]] | None:
    """The name and the keys in a text such as ``params["w"]``, ``params.w`` or ``return[0]``; None for another text."""
    try:
        # `return` is no name in Python.
        node = ast.parse(re.sub(r"^return\b", "return_", text), mode="eval").body
    except SyntaxError:
        return None
    keys: list[Hashable] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            keys.insert(0, node.attr)
        elif isinstance(node, ast.Subscript):
            try:
                keys.insert(0, ast.literal_eval(node.slice))
            except ValueError:
                return None
        else:
            return None
        node = node.value
    return ("return" if node.id == "return_" else node.id), tuple(keys)


def identifier(name: str) -> str:
    """The name of a leaf as a name that code may have: ``params['w'][0]`` becomes ``params_w_0``."""
    return name if name.isidentifier() else re.sub(r"\W+", "_", name).strip("_")
