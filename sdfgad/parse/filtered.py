"""Comprehensions with a condition that data decides: pairs of the condition and the item, of which a mask chooses.

Where the condition does not hold, the item is not computed: it may be undefined there, as ``log(v)`` is of ``v < 0``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sdfgad.ir.expr import BOOL
from sdfgad.parse import comprehensions
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.frame import Frame
from sdfgad.parse.selecting import selection
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Selection, as_tensor, astype, scalar


def items(frame: Frame, node: ast.ListComp) -> list[Any]:
    """The items of a list comprehension; numbers that data chooses, as many as the call at hand has.

    Raises:
        ConditionOnData: data decides how many there are, and that is no constant, or they are no numbers.
    """
    b = frame.b
    if b.values is None:
        return comprehensions.items(frame, node)
    state, env, depth = b.snapshot(), dict(frame.env), len(frame.loops)
    try:
        return comprehensions.items(frame, node)
    except ConditionOnData as error:
        if error.comprehension is not node:
            raise
        b.restore(state)
        frame.env = env
        del frame.loops[depth:]
        found = _chosen(frame, node)
        if found is None:
            raise
        return found


def _chosen(frame: Frame, node: ast.ListComp) -> list[Any] | None:
    b, both = frame.b, comprehensions.items(frame, pairs(node))
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


def chosen(test: ast.expr, item: ast.expr) -> ast.expr:
    """An item where a condition holds, else 0."""
    return ast.IfExp(test, item, ast.Constant(0))


def without_conditions(first: Any, kind: Any, made: Callable[[ast.expr, ast.expr], ast.expr]) -> Any:
    """A comprehension without its conditions, of what is `made` of their conjunction and an item."""
    tests = [test for one in first.generators for test in one.ifs]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    generators = [ast.comprehension(one.target, one.iter, [], one.is_async) for one in first.generators]
    return ast.copy_location(kind(made(test, first.elt), generators), first)
