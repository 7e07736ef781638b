"""Which Python callables, methods and attributes the parser knows, and how it evaluates each.

A handler takes the builder and the call's arguments. A function that can be said in simpler NumPy is `in_numpy`: the
parser runs that text in its place. A numpy function whose arguments are all known while parsing is simply called, when
it is marked `static`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Handler = Callable[..., Any]


@dataclass(frozen=True)
class Known:
    """A handler, or a Python function to run in place of the original (`is_text`).

    `static`: on known arguments the original is called instead.
    """

    handler: Handler
    static: bool = False
    is_text: bool = False


FUNCTIONS: dict[Any, Known] = {}
# The functions of modules that the program may have imported, by name; they need not be there.
OPTIONAL: dict[str, dict[str, Known]] = {}
# Objects other than arrays that are subscripted, such as ``np.mgrid``, by id: the object, and the handler of its index.
SUBSCRIPTS: dict[int, tuple[Any, Handler]] = {}
METHODS: dict[str, Known] = {}
ATTRIBUTES: dict[str, Handler] = {}


def function(*originals: Any, static: bool = False, method: str = "") -> Callable[[Handler], Handler]:
    """Register a handler for Python callables, and as a method of arrays under the name `method`."""

    def register(handler: Handler) -> Handler:
        _enter(Known(handler, static), originals, method)
        return handler

    return register


def in_numpy(*originals: Any, static: bool = True, method: str = "") -> Callable[[Handler], Handler]:
    """Register a function that says in NumPy what `originals`, and the method of arrays called `method`, compute."""

    def register(text: Handler) -> Handler:
        _enter(Known(text, static, is_text=True), originals, method)
        return text

    return register


def subscript(container: Any) -> Callable[[Handler], Handler]:
    """Register a handler for ``container[index]``."""

    def register(handler: Handler) -> Handler:
        SUBSCRIPTS[id(container)] = (container, handler)
        return handler

    return register


def optional(module: str, *names: str, is_text: bool = False) -> Callable[[Handler], Handler]:
    """Register a handler, or a text in NumPy, for functions of a module that sdfgad itself does not import."""

    def register(handler: Handler) -> Handler:
        OPTIONAL.setdefault(module, {}).update(dict.fromkeys(names, Known(handler, static=True, is_text=is_text)))
        return handler

    return register


def known_function(original: Any) -> Known | None:
    """How the parser evaluates a callable, or None."""
    if not is_hashable(original):
        return None
    if original not in FUNCTIONS:
        for module in [name for name in OPTIONAL if name in sys.modules]:
            found = {getattr(sys.modules[module], name, None): known for name, known in OPTIONAL.pop(module).items()}
            found.pop(None, None)
            FUNCTIONS.update(found)
    return FUNCTIONS.get(original)


def is_hashable(value: Any) -> bool:
    """Whether a value can be a key: a callable object need not be."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _enter(known: Known, originals: tuple[Any, ...], method: str) -> None:
    FUNCTIONS.update(dict.fromkeys(originals, known))
    if method:
        METHODS[method] = known


def attribute(name: str) -> Callable[[Handler], Handler]:
    """Register a handler for an attribute of arrays."""

    def register(handler: Handler) -> Handler:
        ATTRIBUTES[name] = handler
        return handler

    return register
