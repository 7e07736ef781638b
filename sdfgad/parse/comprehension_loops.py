"""Comprehensions whose items change something, such as ``[model.step(p) for p in rain]``, as loops that fill a list."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from sdfgad.parse import containers
from sdfgad.parse.filtered_objects import located
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import may_change_something

# Names that no program can have, and that nothing reads behind the statement that binds them (`liveness`).
FOUND, VALUES = "<skipped: items>", "<skipped: values>"


def filled(frame: Frame, node: ast.ListComp | ast.GeneratorExp, values: Any) -> list[Any] | None:
    """The items, which a ``for`` statement appends to a list; None where they change nothing, or data decides how many
    there are.

    Args:
        frame: that of the names of the comprehension, which it binds.
        values: what the comprehension goes over first.
    """
    targets = (one.target for one in node.generators)
    bound = frozenset(one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
    if not may_change_something(frame, node.elt, bound):
        return None
    frame.env[FOUND], frame.env[VALUES] = containers.tracked(frame.b, []), values
    frame.statement(_as_loop(node))
    found = frame.env[FOUND]
    return list(found) if isinstance(found, list) else None


def appended(frame: Frame, node: ast.ListComp, values: Any) -> Any:
    """A list to which a ``for`` statement appends as a comprehension does, whose conditions data decides.

    Args:
        frame, values: as above.
    """
    frame.env[VALUES] = values
    frame.statement(_empty(node))
    if isinstance(frame.env[FOUND], list):
        frame.b.contents.add_filtered(frame.env[FOUND])
    frame.statement(_as_loop(node))
    return frame.env[FOUND]


@lru_cache(maxsize=1 << 10)
def _empty(node: ast.ListComp) -> ast.stmt:
    empty = ast.Assign([ast.Name(FOUND, ast.Store())], ast.List([], ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(empty, node))


def filled_dict(frame: Frame, node: ast.DictComp, values: Any, found: Any) -> Any:
    """A dict, empty so far, that a ``for`` statement fills as a comprehension does, whose conditions data decides.

    Args:
        frame, values: as above.
    """
    frame.env[FOUND], frame.env[VALUES] = found, values
    frame.statement(_as_loop(node))
    return frame.env[FOUND]


@lru_cache(maxsize=1 << 10)
def _as_loop(node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> ast.stmt:
    if isinstance(node, ast.DictComp):
        parts = [node.key, node.value]
        loop: ast.stmt = ast.Assign([ast.Subscript(ast.Name(FOUND, ast.Load()), node.key, ast.Store())], node.value)
    else:
        parts = [node.elt]
        append = ast.Attribute(ast.Name(FOUND, ast.Load()), "append", ast.Load())
        loop = ast.Expr(ast.Call(append, parts, []))
    first = node.generators[0]
    for one in reversed(node.generators):
        for test in reversed(one.ifs):
            loop = ast.If(test, [loop], [])
        values = ast.Name(VALUES, ast.Load()) if one is first else one.iter
        loop = ast.For(one.target, values, [loop], [])
    placed = [part for one in node.generators for part in ast.iter_child_nodes(one)]
    found: ast.stmt = located(loop, node, {id(one) for one in (*parts, *placed)})
    return found
