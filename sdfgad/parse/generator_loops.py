"""Loop fusion: loops over generator expressions with conditions, and over ``filter``, have these as branches.

``for p in (q for q in agents if q.alive)`` is a loop over the agents whose body is a branch, as Python, too,
tests an item just before the trip that has it.
"""

from __future__ import annotations

import ast
import builtins
import copy
from functools import lru_cache
from typing import Any

from sdfgad.parse.filtered_objects import located
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import stops

# Names in such loops that nothing reads behind them (`liveness`).
ITEM = "<skipped: {}>"
# Expressions of functions that are the same in each trip.
FUNCTIONS = ast.Lambda | ast.Name | ast.Attribute
SCOPES = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def as_generator(frame: Frame, node: ast.expr) -> ast.expr:
    """An expression; the call of a ``filter`` as the generator expression that it is short for.

    Its function is evaluated here, and has a name from here on.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "filter":
        return node
    is_plain = len(node.args) == 2 and not node.keywords and isinstance(node.args[0], FUNCTIONS)
    if not is_plain or frame.eval(node.func) is not builtins.filter:
        return node
    frame.env[_name_of(node)] = frame.eval(node.args[0])
    return _filter(node)


def _name_of(node: ast.Call) -> str:
    return ITEM.format(f"function of {node.lineno}, {node.col_offset}")


@lru_cache(maxsize=1 << 10)
def _filter(node: ast.Call) -> ast.GeneratorExp:
    values, item = node.args[1], ITEM.format("item")
    test = ast.Call(ast.Name(_name_of(node), ast.Load()), [ast.Name(item, ast.Load())], [])
    whole = ast.comprehension(ast.Name(item, ast.Store()), values, [test], 0)
    return located(ast.GeneratorExp(ast.Name(item, ast.Load()), [whole]), node, {id(values)})


def flattened(frame: Frame, node: Any) -> Any:
    """A comprehension over ``filter`` as one with a condition; others as they are."""
    first = node.generators[0]
    values: Any = as_generator(frame, first.iter)
    return node if values is first.iter or not isinstance(first.target, ast.Name) else _flattened(node)


@lru_cache(maxsize=1 << 10)
def _flattened(node: Any) -> Any:
    first, *others = node.generators
    function, target = ast.Name(_name_of(first.iter), ast.Load()), ast.Name(first.target.id, ast.Load())
    test = located(ast.Call(function, [target], []), first.iter, set())
    whole = ast.comprehension(first.target, first.iter.args[1], [test, *first.ifs], first.is_async)
    kept = {"generators": [whole, *others]}
    return ast.copy_location(type(node)(**{name: kept.get(name, getattr(node, name)) for name in node._fields}), node)


@lru_cache(maxsize=1 << 10)
def fused(node: ast.For, values: ast.expr) -> ast.For | None:
    """A loop over a generator expression as one over what that goes over; None of those with names of their own inside.

    Args:
        values: what the loop goes over.
    """
    if not isinstance(values, ast.GeneratorExp) or len(values.generators) > 1 or not values.generators[0].ifs:
        return None
    (first,) = values.generators
    names = {one.id for one in ast.walk(first.target) if isinstance(one, ast.Name)}
    own = [first.target, values.elt, *first.ifs]
    if not all(name.startswith("<") for name in names):
        if any(isinstance(part, SCOPES | ast.NamedExpr) for one in own for part in ast.walk(one)):
            return None
        own = [_Renamed(names).visit(copy.deepcopy(one)) for one in own]
    target, item, *tests = own
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    body: list[ast.stmt] = [ast.If(test, [ast.Assign([node.target], item), *node.body], [])]
    loop: Any = ast.For(target, first.iter, body, node.orelse)
    loop.stop = stops(node)
    kept = {id(one) for one in (node.target, *node.body, *node.orelse, first.iter, *own)}
    return located(loop, node, kept)


class _Renamed(ast.NodeTransformer):
    """Gives names that are local to a generator expression others, which the function around does not have."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        name = ITEM.format(node.id) if node.id in self.names else node.id
        return ast.copy_location(ast.Name(name, node.ctx), node)
