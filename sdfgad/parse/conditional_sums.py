"""Sums, extrema, `any`, `all` and the first item of a comprehension whose condition is data: what it leaves out counts
as zero, or not.

How many items there are is known only at run time then, but none of them depends on that.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.parse import calls, filtered, filtered_objects, masked_lists
from sdfgad.parse.backtracking import ChoicePoint, attempted
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.filtered import binds_or_steps, chosen, items_and_tests, pairs, without_conditions
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.keyed import (
    first_of_chosen,
    first_of_list,
    max_by_key,
    max_of_chosen,
    min_by_key,
    min_of_chosen,
)
from sdfgad.parse.generator_loops import as_generator, flattened
from sdfgad.parse.inlined_calls import inlined
from sdfgad.parse.internal_iteration import first_found, is_search
from sdfgad.parse.operands import calls_user_function

SUMS = (builtins.sum, np.sum, math.fsum, builtins.any)
BY_KEY: dict[Any, Any] = {min_of_chosen: min_by_key, max_of_chosen: max_by_key}
LISTS = (builtins.list, builtins.tuple)
# Of pairs of a condition and an item.
DEFINITIONS = ((builtins.min, min_of_chosen), (builtins.max, max_of_chosen), (builtins.next, first_of_chosen))


def call(frame: Frame, node: ast.Call) -> Any:
    """A call; if it is such a one, of all items, each with its condition so to speak."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        return calls.call(frame, node)
    if (first := as_generator(frame, node.args[0])) is not node.args[0]:
        node = _with_argument(node, first)
    if not isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        return calls.call(frame, node)
    if is_search(frame, node):
        return first_found(frame, node)
    if (first := flattened(frame, node.args[0])) is not node.args[0]:
        node = _with_argument(node, first)
    point = ChoicePoint.of(frame)
    try:
        return calls.call(frame, node)
    except ConditionOnData as error:
        point.backtrack(frame)
        function = frame.eval(node.func)
        definition = next((one for original, one in DEFINITIONS if function is original), None)
        if not error.is_of(node.args[0]) or (definition is None and function not in (*SUMS, *LISTS, builtins.all)):
            raise
        stops = function in (builtins.next, builtins.any, builtins.all)
        if function is builtins.next and any(map(partial(_has_effects, frame), _repeated(node.args[0]))):
            # Python evaluates it for no item behind the first one, and it may change something.
            raise
        if function in LISTS:
            return frame.eval(_as_list(node.args[0]))
        try:
            with error.again(frame, node.args[0]) as parsed:
                node = _with_argument(node, parsed)
                if definition is None:
                    found = calls.call(frame, _of_all(node, function is builtins.all))
                else:
                    found = _chosen(frame, node, definition)
                if stops and frame.b.has_changed_since(point.state):
                    raise error
                return found
        except SdfgadError:
            raise error from None


def _chosen(frame: Frame, node: ast.Call, definition: Callable[..., Any]) -> Any:
    """The extremum or the first of the items that are chosen, of all pairs of a condition and an item; of objects, of
    their list."""
    keywords = {str(keyword.arg): frame.eval(keyword.value) for keyword in node.keywords}
    comprehension: Any = node.args[0]
    if "key" in keywords:
        definition, items = BY_KEY[definition], [frame.eval(_as_list(node.args[0]))]
    elif definition is not first_of_chosen:
        items = [frame.eval(pairs(node.args[0]))]
    elif (values := _objects(frame, _as_list(node.args[0]))) is not None:
        definition, items = first_of_list, [values]
    elif calls_user_function(frame, comprehension.generators[0].iter):
        raise frame.unsupported(node, "what a search goes over would be made twice", "Give it a name before.")
    else:
        items = [frame.eval(one) for one in items_and_tests(node.args[0])]
    others = [frame.eval(one) for one in node.args[1:]]
    return inlined(frame, node, definition, [*items, *others], keywords, is_definition=True)


def _has_effects(frame: Frame, node: ast.expr) -> bool:
    return calls_user_function(frame, node) or binds_or_steps(node)


def _repeated(node: Any) -> list[ast.expr]:
    """What a comprehension evaluates for each item."""
    later = [one.iter for one in node.generators[1:]]
    return [node.elt, *later, *(test for one in node.generators for test in one.ifs)]


def _objects(frame: Frame, node: ast.ListComp) -> Any:
    """The list of objects that data chooses; None of other items."""

    def chosen_objects() -> Any:
        found = filtered.objects(frame, flattened(frame, node))
        return found if masked_lists.is_filtered(found) else None

    return attempted(frame, chosen_objects, (ConditionOnData,))


@lru_cache(maxsize=1024)
def _as_list(node: Any) -> ast.ListComp:
    made: Any = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    if filtered_objects.is_over_all(node):
        made.origin = node.origin
    return made


@lru_cache(maxsize=1024)
def _with_argument(node: ast.Call, first: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(node.func, [first, *node.args[1:]], node.keywords), node)


@lru_cache(maxsize=1024)
def _of_all(node: ast.Call, otherwise: bool = False) -> Any:
    """A call with a comprehension without its conditions, but with zero, or True, where they do not hold."""
    first: Any = node.args[0]
    item = partial(chosen, otherwise=otherwise)
    whole = ast.Call(node.func, [without_conditions(first, type(first), item), *node.args[1:]], node.keywords)
    return ast.fix_missing_locations(ast.copy_location(whole, node))
