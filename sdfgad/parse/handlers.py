"""Calls of known functions: their handlers get the arguments, which must fit."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from sdfgad.parse import containers, truth_values
from sdfgad.parse.frame import Frame
from sdfgad.parse.registry import Handler
from sdfgad.parse.source import source_text

# What a kind of calls gives for a function of another kind.
NOT_THESE: Any = object()
# The functions of these modules take numbers of each type as Python and NumPy do.
BY_TYPE = frozenset(f"sdfgad.parse.functions.{name}" for name in ("elementwise", "facts", "mathematics", "python"))


def handled(frame: Frame, node: ast.Call, handler: Handler, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """What a handler returns.

    Raises:
        UnsupportedProgram: it does not take these arguments.
    """
    try:
        inspect.signature(handler).bind(frame.b, *positional, **keywords)
    except TypeError as error:
        raise frame.unsupported(
            node,
            f"this call of `{source_text(node.func)}` is not supported: {error}",
            "Leave this argument out; docs/supported.md lists the functions.",
        ) from None
    if handler.__module__ not in BY_TYPE:
        truth_values.require_same_function(frame.b, [*positional, *keywords.values()])
    try:
        return containers.tracked(frame.b, handler(frame.b, *positional, **keywords))
    except TypeError as error:
        raise frame.unsupported(
            node,
            f"`{source_text(node.func)}` does not take these arguments: {error}",
            getattr(error, "todo", "Pass arrays and numbers; docs/supported.md lists the functions."),
        ) from error
