"""Local exceptions as jumps: a ``raise`` in a branch of a ``try`` that catches it goes to its handler.

Only where it is plain which handler that is: the first one names the class, or catches all exceptions, and reads
neither the exception nor raises it again. What the statement raises by other means goes to its handlers as before.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WithBlocks = Callable[[Any, Callable[[list[ast.stmt]], list[ast.stmt]]], Any]


@dataclass(frozen=True)
class Handled:
    """What to do where an exception has set a flag; `exception`: the name of the exception itself, if that is used."""

    flag: str
    body: list[ast.stmt]
    exception: str = ""


def flag_of(node: ast.stmt) -> str:
    """The flag that a caught ``raise`` sets; none for other statements."""
    return getattr(node, "caught", "")


def handled(node: ast.stmt) -> list[Handled]:
    """For the exceptions in the body of a ``try`` that set flags, what its handlers do."""
    return getattr(node, "handled", [])


def marked(node: ast.Try, flag: str, with_blocks: WithBlocks) -> ast.Try | None:
    """The ``try`` statement with the exceptions marked that its first handler catches; None if there are none.

    Args:
        with_blocks: maps the blocks of a compound statement.
    """
    if not node.handlers or node.finalbody or not _is_plain(node.handlers[0]):
        return None
    found: list[ast.Raise] = []
    body = _marked(node.body, node.handlers[0], flag, with_blocks, found)
    if not found:
        return None
    made: Any = copy.copy(node)
    made.body, made.handled = body, [*handled(node), Handled(flag, copy.deepcopy(node.handlers[0].body))]
    return made


def _marked(
    body: list[ast.stmt], handler: ast.ExceptHandler, flag: str, with_blocks: WithBlocks, found: list[ast.Raise]
) -> list[ast.stmt]:
    """A block with what it raises in its branches marked; what another ``try`` may catch is not."""
    made: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.For, ast.While)):
            statement = with_blocks(statement, lambda block: _marked_inside(block, handler, flag, with_blocks, found))
        made.append(statement)
    return made


def _marked_inside(
    body: list[ast.stmt], handler: ast.ExceptHandler, flag: str, with_blocks: WithBlocks, found: list[ast.Raise]
) -> list[ast.stmt]:
    made = _marked(body, handler, flag, with_blocks, found)
    for position, statement in enumerate(made):
        if isinstance(statement, ast.Raise) and _catches(handler, statement):
            jump = copy.copy(statement)
            jump.caught = flag  # type: ignore[attr-defined]
            made[position] = jump
            found.append(jump)
    return made


def _catches(handler: ast.ExceptHandler, node: ast.Raise) -> bool:
    """Whether a handler certainly catches what a statement raises, by the names that are written in both."""
    if node.exc is None:
        return False
    if handler.type is None:
        return True
    raised = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {ast.unparse(one) for one in types}
    # Of a class of the user's it is not known here whether it is an `Exception`.
    known = getattr(builtins, raised, None)
    is_exception = isinstance(known, type) and issubclass(known, Exception)
    return raised in names or "BaseException" in names or ("Exception" in names and is_exception)


def _is_plain(handler: ast.ExceptHandler) -> bool:
    """Whether a handler needs to know nothing of the exception."""
    again = any(isinstance(n, ast.Raise) and n.exc is None for statement in handler.body for n in ast.walk(statement))
    return handler.name is None and not again
