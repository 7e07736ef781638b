"""Comprehensions with a condition that data decides: pairs of the condition and the item, of which a mask chooses, or
objects and a mask (`filtered_objects`).

Where the condition does not hold, the item is not computed: it may be undefined there, as ``log(v)`` is of ``v < 0``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sdfgad.errors import InvalidIndex, PythonRaises, UnboundVariable
from sdfgad.ir.expr import BOOL
from sdfgad.parse import comprehension_loops, comprehensions, filtered_objects, masked_lists
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.conditions import ShapesDiffer
from sdfgad.parse.data_order import is_scalar
from sdfgad.parse.frame import Frame
from sdfgad.parse.liveness import reads_name
from sdfgad.parse.operands import calls_user_function, may_change_something
from sdfgad.parse.selecting import selection
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import NotNumeric, Record, Selection, astype, scalar

# The names of what a comprehension goes over, and of a condition in it; see `filtered_objects.LIST`.
ALL, TEST = "<skipped: all>", "<skipped: test>"


def items(frame: Frame, node: ast.ListComp) -> list[Any] | Record:
    """The items of a list comprehension; of objects and numbers that data chooses, the objects with a mask, and as many
    numbers as the call at hand has.

    Raises:
        ConditionOnData: data decides how many there are, and that is no constant, or they are neither.
    """
    return _items(frame, node, (_objects, _chosen, _appended))


def objects(frame: Frame, node: ast.ListComp) -> list[Any] | Record:
    """The same, but of objects alone.

    Raises:
        ConditionOnData: data decides how many other items there are.
    """
    return _items(frame, node, (_objects,))


def _items(frame: Frame, node: ast.ListComp, ways: tuple[Callable[..., Any], ...]) -> list[Any] | Record:
    point = ChoicePoint.of(frame)
    try:
        return comprehensions.items(frame, node)
    except ConditionOnData as error:
        if not error.is_of(node):
            raise
        refusal = error
    for chosen_of in ways:
        point.backtrack(frame)
        with refusal.again(frame, node) as parsed:
            found = chosen_of(frame, parsed)
        if found is not None:
            return found
    raise refusal


def _objects(frame: Frame, node: ast.ListComp) -> Record | None:
    """The objects of a list of which data chooses; None of other items."""
    if calls_user_function(frame, node.elt) or binds_or_steps(node.elt):
        # Of the objects that it would make, those that are left out would be, too.
        return None
    # What it goes over is evaluated once for the objects, and once for the tests.
    if not filtered_objects.is_over_all(node) and not all(_may_repeat(frame, one.iter) for one in node.generators):
        values = frame.eval(node.generators[0].iter) if len(node.generators) == 1 else None
        if not isinstance(values, list | tuple):
            return None
        frame.env[ALL], node = values, _over_name(node)
    all_items, all_tests = _items_and_tests(node)
    found, before = None, frame.b.snapshot()
    try:
        objects = comprehensions.items(frame, all_items)
    except (InvalidIndex, PythonRaises, UnboundVariable):
        # An item may not be there where its condition does not hold, or read what that binds.
        return None
    if all(isinstance(one, Record) for one in objects) and not frame.b.has_changed_since(before):
        before = frame.b.snapshot()
        found = masked_lists.of(frame.b, objects, comprehensions.items(frame, all_tests))
        if not isinstance(node.elt, ast.Name) and frame.b.has_changed_since(before):
            # Python makes an item behind its test, and the tests of those before.
            return None
    frame.env.pop(ALL, None)
    return found


def binds_or_steps(node: ast.AST) -> bool:
    """Whether an expression binds a name, or asks an iterator for its next item."""
    return any(
        isinstance(one, ast.NamedExpr) or (isinstance(one, ast.Name) and one.id == "next") for one in ast.walk(node)
    )


def _may_repeat(frame: Frame, values: ast.expr) -> bool:
    """Whether an expression may be evaluated twice, and gives the same objects again: `map` may make others."""
    makes_objects = any(isinstance(one, ast.List | ast.ListComp | ast.GeneratorExp) for one in ast.walk(values))
    hands_on = not any(reads_name(values, name) for name in ("map", "starmap", "sorted", "reduce"))
    is_iterated = isinstance(values, ast.Name) and isinstance(frame.env.get(values.id), Record)
    return hands_on and not makes_objects and not is_iterated and not may_change_something(frame, values)


@lru_cache(maxsize=1024)
def _over_name(node: ast.ListComp) -> ast.ListComp:
    """The comprehension over a name of what it goes over."""
    (first,) = node.generators
    name = ast.copy_location(ast.Name(ALL, ast.Load()), first.iter)
    made = ast.ListComp(node.elt, [ast.comprehension(first.target, name, first.ifs, first.is_async)])
    return ast.copy_location(made, node)


@lru_cache(maxsize=1024)
def _items_and_tests(node: ast.ListComp) -> tuple[ast.ListComp, ast.ListComp]:
    """Comprehensions of all items, and of the conditions on them."""
    return _list(node, lambda _, item: item), _list(node, _as_truth)


@lru_cache(maxsize=1024)
def items_and_tests(node: ast.GeneratorExp | ast.ListComp) -> tuple[ast.ListComp, ast.ListComp]:
    """The same, with 0 for the items whose conditions are false."""
    return _list(node, chosen), _list(node, _as_truth)


def _as_truth(test: ast.expr, _: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(bool), [test], [])  # type: ignore[arg-type]


def _list(node: ast.GeneratorExp | ast.ListComp, made: Callable[[ast.expr, ast.expr], ast.expr]) -> ast.ListComp:
    found: ast.ListComp = ast.fix_missing_locations(without_conditions(node, ast.ListComp, made))
    return found


def _chosen(frame: Frame, node: ast.ListComp) -> list[Any] | None:
    b = frame.b
    if b.values is None:
        return None
    try:
        both = comprehensions.items(frame, pairs(node))
    except (ShapesDiffer, NotNumeric):
        # Arrays or tuples, of which there is none where the condition does not hold.
        return None
    if not both or not all(is_scalar(item) for _, item in both):
        return None
    mask = astype(stacked(b, [test for test, _ in both]), BOOL)
    found = selection(b, stacked(b, [item for _, item in both]), mask)
    if isinstance(found, Selection):
        return None
    return [b.settle(scalar(found.at(k))) for k in range(b.constant(found.shape[0]))]


def _appended(frame: Frame, node: ast.ListComp) -> Any:
    """Tuples, as a loop appends them."""
    values = frame.eval(node.generators[0].iter)
    return comprehension_loops.appended(comprehensions.inner_of(frame), node, values)


@lru_cache(maxsize=1024)
def pairs(first: ast.GeneratorExp | ast.ListComp) -> ast.ListComp:
    """A comprehension without its conditions, of pairs of their conjunction and an item, or 0 where it is false."""
    return _list(first, _pair)


def _pair(test: ast.expr, item: ast.expr) -> ast.Tuple:
    """``(t := test, item if t else 0)``: what the test changes, it changes once."""
    named = ast.NamedExpr(ast.Name(TEST, ast.Store()), test)
    return ast.Tuple([named, chosen(ast.Name(TEST, ast.Load()), item)], ast.Load())


def chosen(test: ast.expr, item: ast.expr, otherwise: bool = False) -> ast.expr:
    """An item where a condition holds, else 0, or True."""
    return ast.IfExp(test, item, ast.Constant(otherwise or 0))


def without_conditions(first: Any, kind: Any, made: Callable[[ast.expr, ast.expr], ast.expr]) -> Any:
    """A comprehension without its conditions, of what is `made` of their conjunction and an item."""
    tests = [test for one in first.generators for test in one.ifs]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    generators = [ast.comprehension(one.target, one.iter, [], one.is_async) for one in first.generators]
    return ast.copy_location(kind(made(test, first.elt), generators), first)
