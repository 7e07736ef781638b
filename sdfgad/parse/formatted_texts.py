"""String interpolation: f-strings, whose values are known while parsing, or depend on counters, or are only printed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from sdfgad.errors import PythonRaises, UnsupportedProgram
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import evaluated, may_change_something
from sdfgad.parse.texts import RunTimeText, is_plain
from sdfgad.parse.values import is_static


def text(frame: Frame, node: ast.JoinedStr) -> str:
    """An f-string: its value where all of its parts are known while parsing, else its source."""
    if may_change_something(frame, node):
        return _of_parts(frame, node)
    # Parts that read run-time values are not evaluated: what they compute would be computed for a text nobody reads.
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    try:
        values = [frame.eval(part) for part in names]
        if all(is_static(value) and not isinstance(value, RunTimeText) for value in values):
            parts = [_formatted(frame, part) for part in node.values]
            if is_plain(parts):
                return "".join(parts)
    except PythonRaises:
        raise
    except UnsupportedProgram:
        return RunTimeText(ast.unparse(node))
    return RunTimeText.of(ast.unparse(node), values, partial(_text_with, frame, node, [one.id for one in names]))


def _of_parts(frame: Frame, node: ast.JoinedStr) -> str:
    """An f-string whose parts are evaluated also where nobody reads it, as that changes something."""
    parts = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    nodes = [one for part in parts for one in (part.value, part.format_spec) if one is not None]
    values = [frame.b.settle(value) for value in evaluated(frame, nodes)]
    if is_static(values) and not any(isinstance(value, RunTimeText) for value in values):
        return frame.b.python(_joined, node, *values)
    return RunTimeText.of(ast.unparse(node), values, partial(_joined, node))


def _joined(node: ast.JoinedStr, *values: Any) -> str:
    """An f-string of the values, and texts of formats, of its parts."""
    left, texts = iter(values), []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = _CONVERSIONS[part.conversion](next(left))
            texts.append(format(value, "" if part.format_spec is None else next(left)))
        else:
            texts.append(getattr(part, "value", ""))
    return "".join(texts)


def _text_with(frame: Frame, node: ast.JoinedStr, names: list[str], *values: Any) -> str:
    """An f-string with these values of the names in it."""
    known = _Known(dict(zip(names, values, strict=True)))
    return "".join(_formatted(frame, known.visit(part)) for part in copy.deepcopy(node.values))


class _Known(ast.NodeTransformer):
    """Puts values in the place of names."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(self.values[node.id]), node)


_CONVERSIONS: dict[int, Callable[[Any], Any]] = {
    -1: lambda value: value,
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


def _formatted(frame: Frame, part: ast.expr) -> Any:
    """A part of an f-string as text."""
    value = frame.eval(part.value if isinstance(part, ast.FormattedValue) else part)
    if not isinstance(part, ast.FormattedValue) or not is_plain(value):
        return value
    spec = "" if part.format_spec is None else frame.eval(part.format_spec)
    return frame.b.python(format, _CONVERSIONS[part.conversion](value), spec)
