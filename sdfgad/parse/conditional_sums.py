"""Sums and extrema over a comprehension whose condition is data: what it leaves out counts as zero, or not at all.

How many items there are is known only at run time then, but neither depends on that.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.parse import calls
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.filtered import chosen, pairs, without_conditions
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.keyed import max_of_chosen, min_of_chosen

SUMS = (builtins.sum, np.sum, math.fsum)
EXTREMA = ((builtins.min, min_of_chosen), (builtins.max, max_of_chosen))


def call(frame: Frame, node: ast.Call) -> Any:
    """A call; if it is such a sum or extremum, of all items, each with its condition so to speak."""
    whole = _of_all(node)
    if whole is None:
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
        if error.comprehension is not node.args[0] or (definition is None and function not in SUMS):
            raise
        try:
            return calls.call(frame, whole) if definition is None else _extremum(frame, node, definition)
        except SdfgadError:
            raise error from None


def _extremum(frame: Frame, node: ast.Call, definition: Callable[..., Any]) -> Any:
    """The extremum of the items that are chosen, of all pairs of a condition and an item."""
    keywords = {str(keyword.arg): frame.eval(keyword.value) for keyword in node.keywords}
    return frame.call(node, definition, [frame.eval(pairs(node.args[0]))], keywords, is_definition=True)


@lru_cache(maxsize=1024)
def _of_all(node: ast.Call) -> ast.Call | None:
    """A call with a comprehension without its conditions, but with zero where they do not hold."""
    first = node.args[0] if node.args else None
    if not isinstance(first, (ast.GeneratorExp, ast.ListComp)) or not any(one.ifs for one in first.generators):
        return None
    whole = ast.Call(node.func, [without_conditions(first, type(first), chosen), *node.args[1:]], node.keywords)
    return ast.fix_missing_locations(ast.copy_location(whole, node))
