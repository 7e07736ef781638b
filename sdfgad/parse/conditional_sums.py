"""Sums over a comprehension whose condition is data: what it leaves out counts as zero.

How many items there are is known only at run time then, but a sum does not depend on that.
"""

from __future__ import annotations

import ast
import builtins
import math
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.parse import calls
from sdfgad.parse.comprehensions import ConditionOnData
from sdfgad.parse.frame import Frame

SUMS = (builtins.sum, np.sum, math.fsum)


def call(frame: Frame, node: ast.Call) -> Any:
    """A call; if it is such a sum, of all items, each multiplied by its condition so to speak."""
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
        if error.comprehension is not node.args[0] or frame.eval(node.func) not in SUMS:
            raise
        try:
            return calls.call(frame, whole)
        except SdfgadError:
            raise error from None


@lru_cache(maxsize=1024)
def _of_all(node: ast.Call) -> ast.Call | None:
    """A call with a comprehension without its conditions, but with zero where they do not hold."""
    first = node.args[0] if node.args else None
    if not isinstance(first, (ast.GeneratorExp, ast.ListComp)):
        return None
    tests = [test for one in first.generators for test in one.ifs]
    if not tests:
        return None
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    generators = [ast.comprehension(one.target, one.iter, [], one.is_async) for one in first.generators]
    items = type(first)(ast.IfExp(test, first.elt, ast.Constant(0)), generators)
    whole = ast.Call(node.func, [ast.copy_location(items, first), *node.args[1:]], node.keywords)
    return ast.fix_missing_locations(ast.copy_location(whole, node))
