"""What a ``for`` or a comprehension goes over."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from sdfgad.ir.expr import Int, Lin
from sdfgad.parse import masked_lists
from sdfgad.parse.frame import Frame
from sdfgad.parse.iterators import iterated
from sdfgad.parse.object_iteration import require_apart
from sdfgad.parse.ranges import Items, Range
from sdfgad.parse.registry import known_function
from sdfgad.parse.values import is_whole, scalar


def iterable_of(frame: Frame, node: ast.expr, loop: ast.For | None = None) -> Any:
    """The value of an expression that is gone over: ``np.arange(i, n)`` needs no array, and so no known length.

    Args:
        loop: the ``for`` that goes over it, if it is one.
    """
    if not isinstance(node, ast.Call) or not _is_arange(frame, node):
        value = frame.eval(node)
        if loop is not None:
            require_apart(frame, loop, value)
        return value if masked_lists.is_filtered(value) else iterated(frame, node, value)
    bounds = [frame.eval(bound) for bound in node.args]
    span = Range.of(frame.b, bounds) if all(map(is_whole, bounds)) else None
    if isinstance(span, Range):
        # Its items are no Python integers: their dtype counts.
        return Items(span.trips, lambda trip: scalar(Int(Lin.of(span.index(Lin.of(trip))))).as_value(settled=True))
    return known_function(np.arange).handler(frame.b, *bounds)  # type: ignore[union-attr]


def _is_arange(frame: Frame, node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    is_plain = bool(node.args) and not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
    return name == "arange" and is_plain and frame.eval(node.func) is np.arange
