"""Registry of the Python callables, methods and attributes that the parser knows, and how it evaluates each.

A handler takes the builder and the call's arguments. A definition, registered by `in_numpy`, is a Python function that
computes the same by simpler NumPy functions: the parser inlines it. A function that is marked `static` is called itself
where all arguments are known while parsing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

Handler = Callable[..., Any]


@dataclass(frozen=True)
class Known:
    """A handler, or a definition in Python to inline in place of the original (`is_definition`).

    `static`: the original is called instead where all arguments are known while parsing. `keyed`: a definition that is
    inlined instead where the argument `key` is given, as only a definition can call functions of the user.
    """

    handler: Handler
    static: bool = False
    is_definition: bool = False
    keyed: Handler | None = None


FUNCTIONS: dict[Any, Known] = {}
# Functions, by name, of modules that need not be installed: registered once the module has been imported.
OPTIONAL: dict[str, dict[str, Known]] = {}
# Objects other than arrays that are subscripted, such as ``np.mgrid``, by id: the object, and the handler of its index.
SUBSCRIPTS: dict[int, tuple[Any, Handler]] = {}
METHODS: dict[str, Known] = {}
ATTRIBUTES: dict[str, Handler] = {}


def function(
    *originals: Any, static: bool = False, method: str = "", keyed: Handler | None = None
) -> Callable[[Handler], Handler]:
    """Register a handler for Python callables, and as a method of arrays under the name `method`."""

    def register(handler: Handler) -> Handler:
        _add(Known(handler, static, keyed=keyed), originals, method)
        return handler

    return register


def in_numpy(*originals: Any, static: bool = True, method: str = "") -> Callable[[Handler], Handler]:
    """Register a definition of `originals`, and of the method of arrays called `method`, by simpler NumPy functions."""

    def register(definition: Handler) -> Handler:
        _add(Known(definition, static, is_definition=True), originals, method)
        return definition

    return register


def subscript(container: Any) -> Callable[[Handler], Handler]:
    """Register a handler for ``container[index]``."""

    def register(handler: Handler) -> Handler:
        SUBSCRIPTS[id(container)] = (container, handler)
        return handler

    return register


def optional(
    module: str, *names: str, is_definition: bool = False, static: bool = True
) -> Callable[[Handler], Handler]:
    """Register a handler, or a definition, of functions of a module that sdfgad itself does not import.

    A name with a dot is that of a method of an object in the module: ``norm.logpdf``.
    """

    def register(handler: Handler) -> Handler:
        OPTIONAL.setdefault(module, {}).update(
            dict.fromkeys(names, Known(handler, static, is_definition=is_definition))
        )
        return handler

    return register


def definitions(module: str) -> Callable[..., Callable[[Handler], Handler]]:
    """`optional` for definitions of functions of one module."""
    return partial(optional, module, is_definition=True)


def known_function(original: Any) -> Known | None:
    """How the parser evaluates a callable, or None."""
    if not is_hashable(original):
        return None
    if original not in FUNCTIONS:
        for module in [name for name in OPTIONAL if name in sys.modules]:
            found = {_part(sys.modules[module], name): known for name, known in OPTIONAL.pop(module).items()}
            found.pop(None, None)
            FUNCTIONS.update(found)
    return FUNCTIONS.get(original)


def _part(module: Any, name: str) -> Any:
    """An attribute of a module, or of an object in it, or None: versions of the module differ."""
    for attribute_name in name.split("."):
        module = getattr(module, attribute_name, None)
    return module


def is_hashable(value: Any) -> bool:
    """Whether a value can be a key: a callable object need not be."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _add(known: Known, originals: tuple[Any, ...], method: str) -> None:
    # NumPy has some functions under several names, not the same ones in all versions.
    for original in dict.fromkeys(originals):
        _register(FUNCTIONS, original, known)
    if method:
        _register(METHODS, method, known)


def _register(known: dict[Any, Known], name: Any, new: Known) -> None:
    """Register under a name that is free: of two handlers, one would never be called."""
    if name in known:
        raise ValueError(f"{name} is registered twice: {known[name].handler} and {new.handler}")
    known[name] = new


def attribute(name: str) -> Callable[[Handler], Handler]:
    """Register a handler for an attribute of arrays."""

    def register(handler: Handler) -> Handler:
        if name in ATTRIBUTES:
            raise ValueError(f"the attribute {name} is registered twice")
        ATTRIBUTES[name] = handler
        return handler

    return register
