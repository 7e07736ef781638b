"""The context management protocol: ``with`` as calls of `enter` and `leave`, for `sdfgad.parse.context_managers`."""

from __future__ import annotations

import ast
from typing import Any


def enter(manager: Any) -> Any:
    """The value of ``manager.__enter__()``."""


def leave(manager: Any) -> None:
    """Call ``manager.__exit__`` as at the end of a block that raises nothing."""


def is_errstate(node: ast.With) -> bool:
    """Whether a ``with`` is of ``np.errstate`` alone, by its name."""
    return all(_callee(entered.context_expr) == "errstate" for entered in node.items)


def _callee(node: ast.expr) -> str:
    """The last part of the name of the function that is called."""
    function = node.func if isinstance(node, ast.Call) else node
    return getattr(function, "attr", getattr(function, "id", ""))


def as_try(node: ast.With) -> list[ast.stmt]:
    """``with``, as statements that enter its managers, and leave them in a ``finally``."""
    body = node.body
    for entered in reversed(node.items):
        name = f"<manager {entered.context_expr.lineno}:{entered.context_expr.col_offset}>"
        start: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], entered.context_expr),
            _bound(entered.optional_vars, _call(enter, name)),
        ]
        body = [*start, ast.Try(body, [], [], [ast.Expr(_call(leave, name))])]
    return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in body]


def _call(function: Any, manager: str) -> ast.Call:
    return ast.Call(ast.Constant(function), [ast.Name(manager, ast.Load())], [])


def _bound(target: ast.expr | None, value: ast.expr) -> ast.stmt:
    return ast.Expr(value) if target is None else ast.Assign([target], value)
