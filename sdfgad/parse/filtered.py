"""Comprehensions with a condition that data decides: pairs of the condition and the item, of which a mask chooses, or
objects and a mask (`filtered_objects`).

Where the condition does not hold, the item is not computed: it may be undefined there, as ``log(v)`` is of ``v < 0``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sdfgad.ir.expr import BOOL
from sdfgad.parse import comprehensions, filtered_objects
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.frame import Frame
from sdfgad.parse.selecting import selection
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Record, Selection, as_tensor, astype, scalar

# The name of what a comprehension goes over; see `filtered_objects.LIST`.
ALL = "<skipped: all>"


def items(frame: Frame, node: ast.ListComp) -> list[Any] | Record:
    """The items of a list comprehension; of objects and numbers that data chooses, the objects with a mask, and as many
    numbers as the call at hand has.

    Raises:
        ConditionOnData: data decides how many there are, and that is no constant, or they are neither.
    """
    state, env, depth = frame.b.snapshot(), dict(frame.env), len(frame.loops)

    def backtrack() -> None:
        frame.b.restore(state)
        frame.env = dict(env)
        del frame.loops[depth:]

    try:
        return comprehensions.items(frame, node)
    except ConditionOnData as error:
        if not error.is_of(node):
            raise
        refusal = error
    for chosen_of in (_objects, _chosen):
        backtrack()
        with refusal.again(frame, node) as parsed:
            found = chosen_of(frame, parsed)
        if found is not None:
            return found
    raise refusal


def _objects(frame: Frame, node: ast.ListComp) -> Record | None:
    """The objects of a list of which data chooses; None of other items."""
    if len(node.generators) > 1 or not isinstance(node.elt, ast.Name):
        return None
    iterable = node.generators[0].iter
    # Once for the objects, and once for the tests.
    if not isinstance(iterable, ast.Name | ast.Attribute) and not filtered_objects.is_over_all(node):
        values = frame.eval(iterable)
        if not isinstance(values, list | tuple):
            return None
        frame.env[ALL], node = values, _over_name(node)
    all_items, all_tests = _items_and_tests(node)
    found, objects = None, comprehensions.items(frame, all_items)
    if all(isinstance(one, Record) for one in objects):
        found = filtered_objects.of(frame.b, objects, comprehensions.items(frame, all_tests))
    frame.env.pop(ALL, None)
    return found


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
    items = without_conditions(node, ast.ListComp, lambda _, item: item)
    truth = ast.Constant(bool)  # type: ignore[arg-type]
    tests = without_conditions(node, ast.ListComp, lambda test, _: ast.Call(truth, [test], []))
    return ast.fix_missing_locations(items), ast.fix_missing_locations(tests)


def _chosen(frame: Frame, node: ast.ListComp) -> list[Any] | None:
    b = frame.b
    if b.values is None:
        return None
    both = comprehensions.items(frame, pairs(node))
    if not both or any(as_tensor(item).ndim for _, item in both):
        return None
    mask = astype(stacked(b, [test for test, _ in both]), BOOL)
    found = selection(b, stacked(b, [item for _, item in both]), mask)
    if isinstance(found, Selection):
        return None
    return [b.settle(scalar(found.at(k))) for k in range(b.constant(found.shape[0]))]


@lru_cache(maxsize=1024)
def pairs(first: ast.GeneratorExp | ast.ListComp) -> ast.ListComp:
    """A comprehension without its conditions, of pairs of their conjunction and an item, or 0 where it is false."""
    made = without_conditions(first, ast.ListComp, lambda test, item: ast.Tuple([test, chosen(test, item)], ast.Load()))
    result: ast.ListComp = ast.fix_missing_locations(made)
    return result


def chosen(test: ast.expr, item: ast.expr, otherwise: bool = False) -> ast.expr:
    """An item where a condition holds, else 0, or True."""
    return ast.IfExp(test, item, ast.Constant(otherwise or 0))


def without_conditions(first: Any, kind: Any, made: Callable[[ast.expr, ast.expr], ast.expr]) -> Any:
    """A comprehension without its conditions, of what is `made` of their conjunction and an item."""
    tests = [test for one in first.generators for test in one.ifs]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    generators = [ast.comprehension(one.target, one.iter, [], one.is_async) for one in first.generators]
    return ast.copy_location(kind(made(test, first.elt), generators), first)
