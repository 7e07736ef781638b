"""Liveness of lists: the local ones to which a function appends, and of which it reads nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sdfgad.parse.frame import Frame
from sdfgad.parse.source import FunctionNode


def is_never_read(frame: Frame, node: ast.expr) -> bool:
    """Whether this appends to a local list of which the function reads nothing, as to a log of its steps."""
    owner = _appended_to(node)
    root = None if owner is None else _root(owner)
    if owner is None or root is None or not _is_list(frame, owner):
        return False
    return root.id not in frame.source.captured and _is_only_written(frame.source.node, root.id)


@lru_cache(maxsize=1024)
def _is_only_written(function: FunctionNode, name: str) -> bool:
    """Whether a function mentions a name only where it binds it to new lists, or appends to these."""
    if any(isinstance(one, ast.arg) and one.arg == name for one in ast.walk(function.args)):
        return False
    known = {id(one) for part in ast.walk(function) for one in _writes(part)}
    mentions = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name]
    # Of a list that stands for what a comprehension gives there is none.
    return bool(mentions) and all(id(one) in known for one in mentions)


def _appended_to(call: ast.AST) -> ast.expr | None:
    """`x` in ``x.append(y)``."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    is_plain = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    return call.func.value if is_plain else None


def _root(node: ast.expr) -> ast.Name | None:
    """The name in ``us`` or ``log["u"]``."""
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _is_list(frame: Frame, node: ast.expr) -> bool:
    """Whether a name, or an item of dicts by constant keys, is a list."""
    keys: list[Any] = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        keys.insert(0, node.slice.value)
        node = node.value
    found: Any = frame.env.get(node.id) if isinstance(node, ast.Name) else None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return isinstance(found, list)


def _writes(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a statement binds to new lists, or dicts of new lists, or through which it appends to one."""
    owner = _appended_to(node.value) if isinstance(node, ast.Expr) else None
    root = None if owner is None else _root(owner)
    if root is not None:
        yield root
    for name, value in _bindings(node):
        if all(isinstance(one, ast.List) for one in (value.values if isinstance(value, ast.Dict) else [value])):
            yield name


def _bindings(statement: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names that an assignment binds, each with its expression."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return [(one, of) for one, of in pairs if isinstance(one, ast.Name)]
