"""Delay lines: of a list whose length is data, the items that the program reads, by places that are known.

``while errors[-1] > tol`` and ``if abs(h[-1] - h[-2]) < tol: break`` read the last items, ``r[-1] / r[0]`` the first
one, too. An object holds these and the number of items, and loops carry them as they do the attributes of any object.
What is appended besides is dropped. What reads the list as a whole, ``np.array(kept)``, gets as many numbers as there
are in the call at hand; whatever else looks into the list is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import InvalidIndex, UnsupportedProgram
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op, as_linear
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import containers, logged_items, stacks, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.conditions import decided
from sdfgad.parse.frame import Frame
from sdfgad.parse.logs import CHANGING, Kept, Log, Site, is_log
from sdfgad.parse.rows import put_item, row_of
from sdfgad.parse.stacking import stacked
from sdfgad.parse.stacks import blank
from sdfgad.parse.values import Record, Tensor, as_tensor, is_integer, is_number, is_whole


def made(frame: Frame, node: ast.expr, values: list[Any], field: str = "") -> Any:
    """A list that an expression of the program makes, or the log in its place.

    Args:
        field: that of the dataclass's object made there which the list is the value of.
    """
    b, site = frame.b, Site(frame.source.file, node.lineno, node.col_offset, field)
    kept = b.logs.known.get(site)
    if kept is None:
        b.logs.follow(values, site)
        return values
    values = list(values)
    logged_items.hold(b, values, kept)
    if kept.is_stack:
        kept = replace(kept, first=0, latest=0, items=stacks.room(b, site, len(values)))
    missing = [blank(b, kept.like) for _ in range(max(kept.first, kept.latest) - len(values))]
    fields = {
        "origin": site,
        "length": len(values),
        "first": containers.tracked(b, [*values, *missing][: kept.first]),
        "latest": containers.tracked(b, [*values[::-1], *missing][: kept.latest]),
        "most": kept.items,
        "items": _all_of(b, values[: kept.items], kept) if kept.items else None,
        "is_stack": kept.is_stack,
        "start": 0,
    }
    if kept.is_stack:
        stacks.forget(b, fields["items"])
    log = Record(Log, containers.tracked(b, fields))
    b.logs.live.append(log)
    return log


# What makes lists beside displays: ``list(x)``, ``[0.0] * 3``, comprehensions and slices.
MAKING = (ast.Call, ast.BinOp, ast.ListComp, ast.Subscript)


def of_new(frame: Frame, node: ast.expr, values: list[Any], before: int) -> Any:
    """A list that such an expression has made, or the log in its place; another list itself.

    Args:
        before: how many lists and dicts were followed when it began.
    """
    # What stands for a call that the program does not write has no place in its text.
    is_new = hasattr(node, "lineno") and frame.b.contents.count_with(values) > before
    is_new = is_new and not frame.b.logs.is_followed(values)
    return made(frame, node, values) if is_new else values


def _all_of(b: Builder, values: list[Any], kept: Kept) -> Any:
    """An array for the items of a log, or a tuple of them, which holds the first ones.

    Raises:
        UnsupportedProgram: they are neither numbers nor arrays, or the first ones are unlike the others.
    """
    columns = [trees.leaves(value) for value in values]
    likes = trees.leaves(kept.like)
    if any(len(one) != len(likes) for one in columns) or not all(map(_is_numeric, likes)):
        raise kept.failure
    arrays = [_array_of(b, [one[k] for one in columns], like, kept.items) for k, like in enumerate(likes)]
    return trees.rebuilt(kept.like, arrays)


def _is_numeric(like: Any) -> bool:
    return isinstance(like, Tensor) or is_number(like) or isinstance(like, Lin)


def _array_of(b: Builder, values: list[Any], like: Any, number: int) -> Tensor:
    like, first = as_tensor(like), stacked(b, values)
    dtype = np.result_type(like.dtype, first.dtype) if values else like.dtype
    weak = like.weak and all(as_tensor(value).weak for value in values)
    array = b.new_view("", (Lin(number), *like.shape), dtype, weak)
    b.assign(array, 0)
    if like.ndim:
        for k, value in enumerate(values):
            put_item(b, array, Lin(k), as_tensor(value))
    elif values:
        b.assign(array.reindexed(first.shape, lambda p: p), first)
    return array


def all_items(b: Builder, log: Record) -> list[Any]:
    """The items of a log, as many as the call at hand has (`sdfgad.parse.value_specialisation`).

    Where they are not kept in this attempt, they are others.

    Raises:
        NeedsConstant, UnsupportedProgram: their number is no constant, or they are neither numbers nor arrays.
    """
    site = log.fields["origin"]
    kept = b.logs.known[site]
    if not all(map(_is_numeric, trees.leaves(kept.like))):
        raise kept.failure
    number = _length(b, log, kept.failure)
    if log.fields["is_stack"]:
        items = stacks.items(b, log, number)
    else:
        is_kept = b.logs.keep(site, items=number)
        items = log.fields["items"] if is_kept else _all_of(b, [], replace(kept, items=number))
    arrays = trees.leaves(items) if number else []
    rows = [trees.rebuilt(kept.like, [row_of(array, Lin(k)) for array in arrays]) for k in range(number)]
    found: list[Any] = containers.tracked(b, [logged_items.hold_read(b, row, kept) for row in rows])
    b.logs.note_items(found, log)
    return found


def _length(b: Builder, log: Record, failure: UnsupportedProgram) -> int:
    """The number of items, where it may be a constant that data decides.

    Raises:
        NeedsConstant: loops around change it, which may be unrolled.
        UnsupportedProgram: it is `failure`: there is no such constant.
    """
    b.lacks_constant = True
    if b.values is None:
        raise failure
    try:
        return b.constant(as_linear(as_tensor(log.fields["length"]).at()))
    except UnsupportedProgram:
        raise failure from None
    except NeedsConstant as error:
        raise NeedsConstant(error.symbols, failure.where, failure.what, failure.todo) from error


def is_kept_at(log: Record, place: Any) -> bool:
    """Whether items at such a place may be kept: of a stack at any, else at known ones."""
    return is_whole(place) if log.fields["is_stack"] else is_integer(place) and Lin.of(place).is_const


def items_for(frame: Frame, log: Record, index: Any) -> list[Any]:
    """The items of a log, for a slice or a place that is not kept; raises as `all_items`."""
    site = log.fields["origin"]
    if is_whole(index) and _changes_around(frame, frame.b.logs.known[site]):
        frame.b.logs.by_place.add(site)
    return all_items(frame.b, log)


def _changes_around(frame: Frame, kept: Kept) -> bool:
    """Whether a loop around changes a list, as far as the place tells where that could not be followed."""
    where = kept.failure.where
    if where is None or where.file != frame.source.file:
        return False
    return any(loop.lineno <= where.line <= (loop.end_lineno or 0) for loop in frame.loops)


def item(b: Builder, log: Record, place: Any) -> Any:
    """``log[place]``, by a place from the start or the end; another number or array if it is not kept.

    Raises:
        UnsupportedProgram: the items are neither numbers nor arrays.
    """
    site = log.fields["origin"]
    if log.fields["is_stack"]:
        return stacks.item_at(b, log, place)
    end, depth = _reached(b, log, Lin.of(place).const)
    kept = log.fields[end]
    found = kept[depth - 1] if depth <= len(kept) else b.settle(blank(b, b.logs.known[site].like))
    if found is None:
        raise b.logs.known[site].failure
    return logged_items.hold_read(b, containers.read(b, found, "an item of a list"), b.logs.known[site])


def _reached(b: Builder, log: Record, place: int) -> tuple[str, int]:
    """The end from which an item is counted, and how far it is from there; requires that it is there."""
    site = log.fields["origin"]
    end, depth = ("latest", -place) if place < 0 else ("first", place + 1)
    # With each item that is removed at the end, one more has to be known.
    b.logs.keep(site, **{end: depth + (b.logs.removed[site] if place < 0 else 0)})
    _require_items(b, log, depth)
    return end, depth


def updated_item(b: Builder, log: Record, place: Any) -> Any:
    """The number ``log[place]`` before ``log[place] += value``; an array, which changes in place, is refused."""
    require_place(b, log, place)
    found = item(b, log, place)
    if isinstance(found, Tensor) and found.ndim:
        raise b.logs.known[log.fields["origin"]].failure
    return found


def require_place(b: Builder, log: Record, place: Any) -> None:
    """Require that ``log[place] = value`` has a place that is known and kept; raises as `item` does."""
    if not is_kept_at(log, place):
        b.logs.by_place |= {log.fields["origin"]} if is_whole(place) else set()
        raise b.logs.known[log.fields["origin"]].failure
    if log.fields["is_stack"]:
        stacks.row_at(b, log, place)
    else:
        _reached(b, log, Lin.of(place).const)


def _require_items(b: Builder, log: Record, number: int) -> None:
    """Require that a log has so many items: by a check at run time where that is not known."""
    has = Op("less_equal", (Const(number, INT), as_tensor(log.fields["length"]).at()), BOOL)
    # It is no error yet that there certainly are not: a loop may be parsed without its carried names at first.
    if decided(b, has) is not True:
        b.check(has, (), "list index out of range", InvalidIndex, "Python raises IndexError here, too.")


def with_items(b: Builder, values: Iterable[Any], is_stored: bool = False) -> list[Any]:
    """The arguments of a function whose body is not parsed, with the items of logs in their place.

    Args:
        is_stored: whether the function stores them only, so that objects in them may have logs.

    Raises:
        UnsupportedProgram: the items are not known, or a log is in a list.
    """
    values = [all_items(b, value) if is_log(value) else value for value in values]
    if is_stored and not any(map(_holds_log_itself, values)):
        return values
    for log in filter(is_log, (part for value in values for part in trees.sequences(value))):
        raise b.logs.known[log.fields["origin"]].failure
    return values


def _holds_log_itself(value: Any) -> bool:
    """Whether a log is an item of nested lists, tuples and dicts, and not an attribute of an object in them."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(_holds_log_itself, value.values() if isinstance(value, dict) else value))
    return is_log(value)


def handed_on(b: Builder, log: Record, node: ast.AST, parent: ast.AST | None) -> Any:
    """A log where the expression around it hands it on, or asks what is kept of it; else the list of its items.

    Raises:
        UnsupportedProgram: the expression may change the list, or its length is not known.
    """
    is_insertion = isinstance(parent, ast.Attribute) and parent.attr == "insert"
    is_kept = bool(log.fields["first"] or log.fields["latest"] or log.fields["most"])
    if _hands_on(parent, node) and not (is_insertion and is_kept):
        return log
    if _reads(parent, node):
        return all_items(b, log)
    raise b.logs.known[log.fields["origin"]].failure


def _reads(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether an expression needs the items alone: `x[ids]` does, `ids[k] = value` does not."""
    if isinstance(parent, ast.Subscript):
        return parent.value is not node
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    return isinstance(parent, READING)


def _hands_on(parent: ast.AST | None, node: ast.AST) -> bool:
    if isinstance(parent, ast.Attribute):
        return parent.attr in CHANGING or parent.attr in Log.__annotations__
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, (ast.Load, ast.Store))
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    # Of an update's target the parser makes a new name.
    is_target = parent is None and isinstance(node, ast.Name)
    return is_target or isinstance(parent, HANDING_ON)


READING = (ast.For, ast.comprehension, ast.BinOp, ast.Starred)
HANDING_ON = (
    *(ast.AnnAssign, ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.Call, ast.Return, ast.Expr),
    *(ast.If, ast.IfExp, ast.While, ast.BoolOp),
)
