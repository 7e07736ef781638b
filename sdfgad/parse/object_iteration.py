"""Iteration of objects by ``__next__``, whose items are taken at once: where Python, too, takes them all."""

from __future__ import annotations

import ast
import types
from typing import Any

from sdfgad.parse.builtin_bases import member
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import stops
from sdfgad.parse.source import source_text
from sdfgad.parse.structure import is_of_library
from sdfgad.parse.values import Record

# Functions that take all items of what they are given.
TAKING_ALL = frozenset({"list", "tuple", "sum", "max", "min", "sorted", "set"})


def require_all(frame: Frame, node: ast.AST, value: Record) -> None:
    """Refuse to take the items of an iterator at once where Python takes them one by one, as those that are left, or
    are taken in between, may be others' (``zip(it, it)``)."""
    parents = frame.source.parents
    whole = parents.get(id(parents.get(id(node))))
    taker = parents.get(id(whole)) if isinstance(whole, ast.GeneratorExp) else None
    calls = [one for one in (node, taker) if isinstance(one, ast.Call)]
    for call in calls:
        if not _is_of_users(frame, call) and not _takes_all(call):
            what = f"an object of {value.cls.__name__} is gone over by `{source_text(call)}`, item by item"
            raise frame.unsupported(call, what, "Make a list of its items before: items = list(values).")


def _takes_all(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in TAKING_ALL


def _is_of_users(frame: Frame, call: ast.Call) -> bool:
    """Whether a call makes the object that a loop goes over, rather than goes over it itself."""
    found = frame.eval(call.func) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    module = getattr(found, "__module__", None)
    return isinstance(found, (type, types.FunctionType, types.MethodType)) and not is_of_library(module)


def defines(cls: type, name: str) -> bool:
    return isinstance(member(cls, name, None), types.FunctionType)


def require_apart(frame: Frame, node: ast.For, value: Any) -> None:
    """Refuse a loop over an object whose items are all taken before it, if its body could see that.

    Raises:
        UnsupportedProgram: the body may stop, or has the object's name.
    """
    if not isinstance(value, Record) or not _is_taken_at_once(value.cls):
        return
    root: ast.expr = node.iter
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    names = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name)}
    if stops(node) or (isinstance(root, ast.Name) and root.id in names):
        what = f"a loop over an object of {value.cls.__name__} has a `break`, or uses the object itself"
        raise frame.unsupported(node, what, "Write __iter__ as a generator: `for k in range(n): yield ...`.")


def _is_taken_at_once(cls: type) -> bool:
    return defines(cls, "__next__") or (defines(cls, "__getitem__") and member(cls, "__iter__", None) is None)
