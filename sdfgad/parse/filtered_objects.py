"""Loops and comprehensions over masked lists (`masked_lists`): they go over all objects that there may be, and leave
out those that are not in the list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import stops
from sdfgad.parse.masked_lists import is_filtered
from sdfgad.parse.values import Record

# Names that no program can have, and that nothing reads behind the statement that binds them (`liveness`).
LIST, FLAG, NUMBER, ITEM = (f"<skipped: {name}>" for name in ("list", "is in it", "number", "item"))


@contextmanager
def named(frame: Frame, value: Record) -> Iterator[None]:
    """Within it, a list has the name that the nodes below read."""
    before = {name: frame.env[name] for name in (LIST, FLAG) if name in frame.env}
    frame.env[LIST] = value
    try:
        yield
    finally:
        for name in (LIST, FLAG):
            frame.env.pop(name, None)
        frame.env |= before


@lru_cache(maxsize=1 << 10)
def loop_over_all(node: ast.For, keeps_items: bool) -> ast.For:
    """A loop over all objects of a list, which `LIST` is a name of, that skips those that are not in it.

    Args:
        keeps_items: whether its target must be none that is not in the list.
    """
    if keeps_items:
        return _loop_over_all(node, _parts(), _named([FLAG, ITEM]), [ast.Name(ITEM, ast.Load())], [])
    return _loop_over_all(node, _parts(), _named([FLAG], node.target), [], [])


def _parts() -> list[ast.expr]:
    return [ast.Attribute(ast.Name(LIST, ast.Load()), name, ast.Load()) for name in ("_mask", "_objects")]


def _loop_over_all(
    node: ast.For, parts: list[ast.expr], target: ast.Tuple, items: list[ast.expr], arguments: list[ast.AST]
) -> ast.For:
    """A loop over several sequences with a target for their items, whose body is a branch.

    Args:
        items: what the target of the loop `node` gets where that has the trip, if `target` does not have it.
        arguments: the nodes in `parts` that have a place.
    """
    assigned: list[ast.stmt] = [ast.Assign([node.target], item) for item in items]
    body: list[ast.stmt] = [ast.If(ast.Name(FLAG, ast.Load()), [*assigned, *node.body], [])]
    loop: Any = ast.For(target, _zipped(parts), body, node.orelse)
    loop.stop = stops(node)
    return located(loop, node, {id(one) for one in (node.target, *node.body, *node.orelse, *arguments)})


def enumerated(frame: Frame, values: ast.expr) -> Record | None:
    """Such a list, where an expression is ``enumerate`` of a name of one."""
    if not isinstance(values, ast.Call) or not isinstance(values.func, ast.Name) or values.func.id != "enumerate":
        return None
    if not values.args or not isinstance(values.args[0], ast.Name | ast.Attribute):
        return None
    found = frame.eval(values.args[0])
    return found if is_filtered(found) and frame.eval(values.func) is enumerate else None


@lru_cache(maxsize=1 << 10)
def numbered_loop_over_all(node: ast.For, keeps_items: bool) -> ast.For:
    """A loop over ``enumerate`` of a list, which `LIST` is a name of, as one over all objects and their numbers."""
    numbers, arguments = _numbers(node.iter)
    if not keeps_items:
        mask, objects = _parts()
        return _loop_over_all(node, [mask, _zipped([numbers, objects])], _named([FLAG], node.target), [], arguments)
    pair = ast.Tuple([ast.Name(name, ast.Load()) for name in (NUMBER, ITEM)], ast.Load())
    return _loop_over_all(node, [*_parts(), numbers], _named([FLAG, ITEM, NUMBER]), [pair], arguments)


def _numbers(call: Any) -> tuple[ast.Call, list[ast.AST]]:
    method = ast.Attribute(ast.Name(LIST, ast.Load()), "_numbers", ast.Load())
    return ast.Call(method, call.args[1:], call.keywords), [*call.args[1:], *call.keywords]


@lru_cache(maxsize=1 << 10)
def over_all(node: Any) -> Any:
    """A comprehension over all objects of a list, which `LIST` is a name of, with a further condition."""
    first, *others = node.generators
    tests = [ast.Name(FLAG, ast.Load()), *first.ifs]
    whole = ast.comprehension(_named([FLAG], first.target), _zipped(_parts()), tests, first.is_async)
    return _over_all(node, [whole, *others], [first.target, *first.ifs, *others])


@lru_cache(maxsize=1 << 10)
def numbered_over_all(node: Any) -> Any:
    """The same of ``enumerate`` of a list."""
    first, *others = node.generators
    numbers, arguments = _numbers(first.iter)
    tests = [ast.Name(FLAG, ast.Load()), *first.ifs]
    inner = _zipped([numbers, _parts()[1]])
    whole = ast.comprehension(_named([FLAG], first.target), _zipped([_parts()[0], inner]), tests, first.is_async)
    return _over_all(node, [whole, *others], [first.target, *first.ifs, *others, *arguments])


def _over_all(node: Any, generators: list[ast.comprehension], placed: list[ast.AST]) -> Any:
    kept = {"generators": generators}
    new = type(node)(**{name: kept.get(name, getattr(node, name)) for name in node._fields})
    inside = [part for name, part in ast.iter_fields(node) if name != "generators"]
    new.origin = node
    return located(new, node, {id(one) for one in (*placed, *inside)})


def _named(names: list[str], *targets: ast.expr) -> ast.Tuple:
    return ast.Tuple([*(ast.Name(name, ast.Store()) for name in names), *targets], ast.Store())


def is_over_all(node: ast.AST) -> bool:
    """Whether a comprehension is one of `over_all`."""
    return hasattr(node, "origin")


def _zipped(parts: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Constant(zip), parts, [])  # type: ignore[arg-type]


def located(new: Any, node: ast.AST, kept: set[int]) -> Any:
    """New nodes with the place of what they replace; those that are `kept` have their own."""
    inner: list[ast.AST] = [new]
    while inner:
        made = inner.pop()
        if id(made) not in kept:
            ast.copy_location(made, node)
            inner += ast.iter_child_nodes(made)
    return new
