"""Delay lines: of a list whose length is data, the items that the program reads, by places that are known.

``while errors[-1] > tol`` and ``if abs(h[-1] - h[-2]) < tol: break`` read the last items, ``r[-1] / r[0]`` the first
one, too. An object holds these and the number of items, and loops carry them as they do the attributes of any object.
What is appended besides is dropped, and whatever else looks into the list is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op
from sdfgad.parse import containers, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.conditions import decided
from sdfgad.parse.logs import APPENDING, Log, Site, is_log
from sdfgad.parse.values import Record, Tensor, as_tensor, is_integer, is_number, scalar


def made(b: Builder, values: list[Any], site: Site) -> Any:
    """A list that the program makes, or the log in its place."""
    kept = b.logs.known.get(site)
    if kept is None:
        b.logs.follow(values, site)
        return values
    missing = [_blank(b, kept.like) for _ in range(max(kept.first, kept.latest) - len(values))]
    fields = {
        "origin": site,
        "length": len(values),
        "first": containers.tracked(b, [*values, *missing][: kept.first]),
        "latest": containers.tracked(b, [*values[::-1], *missing][: kept.latest]),
    }
    return Record(Log, containers.tracked(b, fields))


def _blank(b: Builder, like: Any) -> Any:
    """What stands for an item that there is not yet, and is never read."""
    if isinstance(like, tuple):
        return trees.rebuilt_tuple(like, [_blank(b, part) for part in like])
    if not isinstance(like, Tensor):
        return type(like)(0) if is_number(like) else None
    zero = scalar(Const(0, like.dtype), weak=like.weak)
    if not like.ndim:
        return zero
    array = b.new_view("", like.shape, like.dtype, like.weak)
    b.assign(array, zero)
    return array


def item(b: Builder, log: Record, index: Any) -> Any:
    """``log[index]``, by a known place from the start or the end.

    Raises:
        Reaches: the item is not kept.
        UnsupportedProgram: the place is known only at run time, or the items are neither numbers nor arrays.
    """
    site = log.fields["origin"]
    if not is_integer(index) or not Lin.of(index).is_const:
        raise b.logs.known[site].failure
    place = Lin.of(index).const
    end, depth = ("latest", -place) if place < 0 else ("first", place + 1)
    b.logs.reach(site, **{"first": 0, "latest": 0, end: depth})
    _require_items(b, log, depth)
    found = log.fields[end][depth - 1]
    if found is None:
        raise b.logs.known[site].failure
    return containers.read(b, found, "an item of a list")


def _require_items(b: Builder, log: Record, number: int) -> None:
    """Require that a log has so many items: by a check at run time where that is not known."""
    has = Op("less_equal", (Const(number, INT), as_tensor(log.fields["length"]).at()), BOOL)
    # It is no error yet that there certainly are not: a loop may be parsed without its carried names at first.
    if decided(b, has) is not True:
        b.check(has, (), "list index out of range", InvalidIndex, "Python raises IndexError here, too.")


def require_none(b: Builder, values: Iterable[Any]) -> None:
    """Refuse logs among the arguments of a function whose body is not parsed."""
    for log in filter(is_log, (part for value in values for part in trees.sequences(value))):
        raise b.logs.known[log.fields["origin"]].failure


def require_handed_on(b: Builder, log: Record, node: ast.AST, parent: ast.AST | None) -> None:
    """Refuse an expression around one whose value is a log, unless it hands it on, or asks what is kept of it."""
    is_insertion = isinstance(parent, ast.Attribute) and parent.attr == "insert"
    is_kept = bool(log.fields["first"] or log.fields["latest"])
    if not _hands_on(parent, node) or (is_insertion and is_kept):
        raise b.logs.known[log.fields["origin"]].failure


def _hands_on(parent: ast.AST | None, node: ast.AST) -> bool:
    if isinstance(parent, ast.Attribute):
        return parent.attr in APPENDING or parent.attr in Log.__annotations__
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    # Of an update's target the parser makes a new name.
    is_target = parent is None and isinstance(node, ast.Name)
    return is_target or isinstance(parent, HANDING_ON)


HANDING_ON = (
    *(ast.AnnAssign, ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.Call, ast.Return, ast.Expr),
    *(ast.If, ast.IfExp, ast.While, ast.BoolOp),
)
