"""Which Python callables, methods and attributes the parser knows, and how it evaluates each.

A handler takes the builder and the call's arguments. A numpy function whose arguments are all known while parsing
is simply called, when its handler is marked `static`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Handler = Callable[..., Any]


@dataclass(frozen=True)
class Known:
    """A handler; `static`: on known arguments the original is called instead."""

    handler: Handler
    static: bool = False


FUNCTIONS: dict[Any, Known] = {}
METHODS: dict[str, Handler] = {}
ATTRIBUTES: dict[str, Handler] = {}


def function(*originals: Any, static: bool = False, method: str = "") -> Callable[[Handler], Handler]:
    """Register a handler for Python callables, and as a method of arrays under the name `method`."""

    def register(handler: Handler) -> Handler:
        for original in originals:
            FUNCTIONS[original] = Known(handler, static)
        if method:
            METHODS[method] = handler
        return handler

    return register


def attribute(name: str) -> Callable[[Handler], Handler]:
    """Register a handler for an attribute of arrays."""

    def register(handler: Handler) -> Handler:
        ATTRIBUTES[name] = handler
        return handler

    return register
