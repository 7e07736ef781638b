"""Loop nests: a ``for`` over ``itertools.product`` of ranges is a loop for each of them, the last one innermost."""

from __future__ import annotations

import ast
import itertools
from functools import lru_cache
from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import all_names
from sdfgad.parse.ranges import Range
from sdfgad.parse.values import Iteration

Axes = tuple[Any, ...]


def axes_of(b: Builder, function: Any, positional: list[Any], keywords: dict[str, Any]) -> Axes:
    """The ranges of which a function makes a product, each as often as it is repeated; none for other calls."""
    if function is not itertools.product or not keywords.keys() <= {"repeat"}:
        return ()
    if not all(isinstance(value, (range, Range)) for value in positional):
        return ()
    return tuple(positional) * b.constant(keywords.get("repeat", 1))


def nest_of(b: Builder, node: ast.For, value: Any, function: ast.AST) -> ast.For | None:
    """The loops that go over a product of ranges in its order; None for other loops, and those that stop early.

    Args:
        value: what the loop goes over.
        function: the syntax tree of the function that it is in.
    """
    is_made_here = isinstance(node.iter, ast.Call) and isinstance(value, Iteration) and value.blocks == tuple(b.blocks)
    if not is_made_here or len(value.axes) < 2 or stops(node) or node.orelse:
        return None
    return _nest(node, value.axes, function)


@lru_cache(maxsize=1 << 10)
def _nest(node: ast.For, axes: Axes, function: ast.AST) -> ast.For:
    names = _new_names(function, len(axes))
    # The loop's own target stays as it was, where a range is empty: it is assigned in the innermost loop only.
    values = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    body: list[ast.stmt] = [ast.Assign([node.target], values), *node.body]
    for name, axis in zip(reversed(names), reversed(axes), strict=True):
        body = [ast.For(ast.Name(name, ast.Store()), ast.Constant(axis), body, [])]
    loop = body[0]
    assert isinstance(loop, ast.For)
    return _located(loop, node)


def _new_names(function: ast.AST, count: int) -> list[str]:
    """Names that a function does not use."""
    used = all_names(function)
    free = (name for k in itertools.count() if (name := f"axis_{k}") not in used)
    return list(itertools.islice(free, count))


def _located(loop: ast.For, node: ast.For) -> ast.For:
    """The loops with the place of the one that they replace; the statements of its body keep theirs."""
    inner: list[ast.AST] = [loop]
    while inner:
        made = inner.pop()
        if made is node.target or (isinstance(made, ast.stmt) and made in node.body):
            continue
        ast.copy_location(made, node)
        inner += ast.iter_child_nodes(made)
    return loop
