"""Sums, extrema, `any` and `all` of a comprehension whose condition is data: what it leaves out counts as zero, or not.

How many items there are is known only at run time then, but neither depends on that.
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
from sdfgad.parse import calls
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.filtered import chosen, pairs, without_conditions
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.keyed import max_by_key, max_of_chosen, min_by_key, min_of_chosen

SUMS = (builtins.sum, np.sum, math.fsum, builtins.any)
BY_KEY: dict[Any, Any] = {min_of_chosen: min_by_key, max_of_chosen: max_by_key}
EXTREMA = ((builtins.min, min_of_chosen), (builtins.max, max_of_chosen))


def call(frame: Frame, node: ast.Call) -> Any:
    """A call; if it is such a sum or extremum, of all items, each with its condition so to speak."""
    if not node.args or not isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        return calls.call(frame, node)
    state, env, depth = frame.b.snapshot(), dict(frame.env), len(frame.loops)
    try:
        return calls.call(frame, node)
    except ConditionOnData as error:
        frame.b.restore(state)
        frame.env = env
        del frame.loops[depth:]
        function = frame.eval(node.func)
        definition = next((one for original, one in EXTREMA if function is original), None)
        if not error.is_of(node.args[0]) or (definition is None and function not in (*SUMS, builtins.all)):
            raise
        try:
            with error.again(frame, node.args[0]) as parsed:
                node = _with_argument(node, parsed)
                if definition is None:
                    return calls.call(frame, _of_all(node, function is builtins.all))
                return _extremum(frame, node, definition)
        except SdfgadError:
            raise error from None


def _extremum(frame: Frame, node: ast.Call, definition: Callable[..., Any]) -> Any:
    """The extremum of the items that are chosen, of all pairs of a condition and an item; of objects, by a key."""
    keywords = {str(keyword.arg): frame.eval(keyword.value) for keyword in node.keywords}
    if "key" not in keywords:
        return frame.call(node, definition, [frame.eval(pairs(node.args[0]))], keywords, is_definition=True)
    return frame.call(node, BY_KEY[definition], [frame.eval(_as_list(node.args[0]))], keywords, is_definition=True)


@lru_cache(maxsize=1024)
def _as_list(node: Any) -> ast.ListComp:
    return ast.copy_location(ast.ListComp(node.elt, node.generators), node)


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
