"""Returned names: what all ways out of a function return is a name's value at its end, in Python's own storage.

In ``for ...: x[i] = ...; if error < tol: return x, k`` and ``return x, n`` the first entry is `x` on either way. As no
statement runs after a ``return``, the name still has that value where the ways meet: it needs no result of its own,
which would stand for one of several arrays as far as the program's text tells.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def common_name(body: Sequence[ast.stmt], parameters: Sequence[str], values: Sequence[ast.expr | None]) -> str:
    """The name that all of these values are, if it is bound before any of them is returned, and not anew; else none.

    Args:
        values: what each ``return`` of the function returns, or one entry of that.
    """
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    name = names.pop() if len(names) == 1 else ""
    first = next((at for at, statement in enumerate(body) if _has(statement, ast.Return)), len(body))
    is_bound = name in parameters or any(name in _bound(one) for one in body[:first] if isinstance(one, ast.Assign))
    is_left = any(isinstance(node, ast.Try) and node.finalbody for one in body for node in ast.walk(one))
    if not name or not is_bound or is_left or any(name in _bound(one) for one in body[first:]):
        return ""
    return name


def _has(statement: ast.stmt, kind: type[ast.AST]) -> bool:
    return any(isinstance(node, kind) for node in ast.walk(statement))


def _bound(statement: ast.stmt) -> Iterator[str | None]:
    """The names that a statement binds to other objects; an update of an array, ``x += y``, does not."""
    updated = {id(node.target) for node in ast.walk(statement) if isinstance(node, ast.AugAssign)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in updated:
            yield node.id
        yield getattr(node, "asname", None) or getattr(node, "name", None)
