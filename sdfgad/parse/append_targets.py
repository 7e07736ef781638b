"""Escape analysis of lists: those to which a loop appends, and that nothing else can reach meanwhile."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse import trees
from sdfgad.parse.contents import Filling, Rolling
from sdfgad.parse.frame import Frame
from sdfgad.parse.ranges import MANY_ITEMS
from sdfgad.parse.values import Record

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """A local name, or an item or attribute of what it is bound to, by constant keys: ``us``, ``log["u"]``, ``r.u``."""

    name: str
    keys: Keys

    @staticmethod
    def of(node: ast.AST) -> Path | None:
        keys: list[str] = []
        while not isinstance(node, ast.Name):
            key = _key(node)
            if key is None:
                return None
            keys.append(key)
            node = node.value  # type: ignore[attr-defined]
        return Path(node.id, tuple(reversed(keys)))

    def values(self, frame: Frame) -> list[Any]:
        """What the name is bound to, and what each key leads to; None if there is nothing."""
        found = [frame.env.get(self.name)]
        for key in self.keys:
            owner: Any = found[-1]
            items = owner.fields if isinstance(owner, Record) else owner
            found.append(items.get(key[1:]) if isinstance(owner, _CLASSES[key[0]]) else None)
        return found


# The first character of a key says whether it is an item's or an attribute's.
ITEM, ATTRIBUTE = "[", "."
_CLASSES: dict[str, type] = {ITEM: dict, ATTRIBUTE: Record}


def _key(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return ATTRIBUTE + node.attr
    is_text = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return ITEM + node.slice.value if is_text and isinstance(node.slice.value, str) else None  # type: ignore[attr-defined]


def fillings(frame: Frame, node: ast.For, trips: Lin) -> dict[int, Filling]:
    """The lists, by their ids, that a loop does nothing with but append to them."""
    if node.orelse or not trips.is_const or trips.const < MANY_ITEMS or frame.b.rolling is Rolling.NONE:
        return {}
    calls = [one.value for one in node.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    found = {}
    for call in calls:
        path = _appended_to(call)
        values = path.values(frame)[-1] if path else None
        if isinstance(values, list) and path and _is_alone(frame, node, path, values):
            found[id(values)] = Filling(values, len(frame.b.blocks) + 1)
    return found


def _appended_to(call: ast.Call) -> Path | None:
    """`x` in ``x.append(y)``."""
    function = call.func
    is_append = isinstance(function, ast.Attribute) and function.attr == "append" and len(call.args) == 1
    if not is_append or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    return Path.of(function.value)  # type: ignore[attr-defined]


def _is_alone(frame: Frame, node: ast.For, path: Path, values: list[Any]) -> bool:
    """Whether nothing but a local name can have reached a list by the end of a loop in its block."""
    function = frame.source.node
    until = [one for one in ast.walk(function) if getattr(one, "lineno", 0) <= (node.end_lineno or node.lineno)]
    parameters = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    # Functions and iterators that are kept somewhere may hold it, or what holds it, too.
    holders = trees.references([*frame.env.values(), frame.caller, frame.lexical], frame)
    is_held_once = all(holders[id(one)] == 1 for one in path.values(frame))
    is_local = path.name not in parameters and path.name not in frame.source.captured and is_held_once
    known = {id(one) for statement in until for one in _plain_mentions(statement, path)}
    is_plain = all(id(one) in known for one in until if isinstance(one, ast.Name) and one.id == path.name)
    inside = [one for one in ast.walk(node) if isinstance(one, ast.Call) and _appended_to(one) == path]
    others = sum(Path.of(one) == path for one in ast.walk(node)) - len(inside)
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == path.name]
    is_bound = any(isinstance(one.ctx, ast.Store) for one in names)
    is_once = len(inside) == 1 and not others and not is_bound
    return is_local and is_plain and is_once and frame.b.contents.depth(values) == len(frame.b.blocks)


def _plain_mentions(statement: ast.AST, path: Path) -> Iterator[ast.Name]:
    """The names that a statement binds to new containers, and those through which it reaches this list or others."""
    if isinstance(statement, ast.Call):
        owner = _appended_to(statement)
        if owner is not None and (owner == path or (path.keys and _is_apart(owner, path))):
            yield _root(statement.func)
    if path.keys and isinstance(statement, (ast.Subscript, ast.Attribute)) and _is_read(statement, path):
        yield _root(statement)
    new = (ast.Dict, ast.Call) if path.keys else ast.List
    yield from (one for one, of in _bindings(statement) if isinstance(of, new))


def _bindings(statement: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names that an assignment binds, each with its expression."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return [(one, of) for one, of in pairs if isinstance(one, ast.Name)]


def _root(node: ast.AST) -> ast.Name:
    while not isinstance(node, ast.Name):
        node = node.value  # type: ignore[attr-defined]
    return node


def _is_apart(one: Path, path: Path) -> bool:
    """Whether neither of two places holds the other one."""
    shortest = min(len(one.keys), len(path.keys))
    return one.name == path.name and one.keys[:shortest] != path.keys[:shortest]


def _is_read(node: ast.AST, path: Path) -> bool:
    """Whether an item by a constant key is apart from the list; an attribute may be a method that reaches it."""
    own = Path.of(node)
    return own is not None and _is_apart(own, path) and all(key[0] == ITEM for key in own.keys[:1])


def is_never_read(frame: Frame, node: ast.expr) -> bool:
    """Whether this appends to a local list of which the function reads nothing, as to a log of its steps."""
    path = _appended_to(node) if isinstance(node, ast.Call) else None
    if path is None or not isinstance(path.values(frame)[-1], list):
        return False
    function = frame.source.node
    parameters = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    if path.name in parameters or path.name in frame.source.captured:
        return False
    known = {id(one) for part in ast.walk(function) for one in _writes(part)}
    return all(id(one) in known for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == path.name)


def _writes(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a statement binds to new lists, or dicts of new lists, or through which it appends to one."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _appended_to(node.value) is not None:
        yield _root(node.value.func)
    for name, value in _bindings(node):
        if all(isinstance(one, ast.List) for one in (value.values if isinstance(value, ast.Dict) else [value])):
            yield name
