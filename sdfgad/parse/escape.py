"""Escape analysis: which arrays may be reached by other names than the one that is bound anew, also in callers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from sdfgad.parse import trees
from sdfgad.parse.frame import Frame
from sdfgad.parse.updating import aliased_by
from sdfgad.parse.values import AfterLoop, Tensor

# Expressions whose parts `operands.evaluated` evaluates, or of which one part alone is evaluated.
OPEN = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.keyword, ast.Starred),
    *(ast.Tuple, ast.List, ast.Subscript, ast.Attribute),
)
# Statements that evaluate one expression before all else.
PLAIN = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.If, ast.While, ast.For, ast.Assert, ast.Lambda)
FIRST = ("value", "test", "iter", "body")


def aliased_buffers(
    frame: Frame, name: str, value: Any, env: dict[str, Any], dead: frozenset[str] = frozenset()
) -> set[str]:
    """Alias analysis: the buffers of `value`, a leaf of the value of `name`, that other names may refer to.

    Args:
        dead: names of arrays that nothing reads any more, so that only what else holds these arrays counts.
    """
    if not isinstance(value, Tensor):
        return set()
    if value.place is None:
        return aliased_by(value)
    buffer = str(value.buffer)
    others = [other for n, other in env.items() if n != name and n not in dead]
    if is_callers(frame, buffer) or any(refers_to(other, buffer) for other in others):
        return {buffer}
    if not any(refers_to(env[n], buffer) for n in dead if n != name):
        return set()
    return {buffer} if outlives(frame, buffer) else set()


def is_callers(frame: Frame, buffer: str) -> bool:
    """Whether something of a caller's may refer to an array from before the call."""
    return buffer in frame.caller_buffers and (buffer in frame.foreign or outlives(frame, buffer))


def outlives(frame: Frame, buffer: str) -> bool:
    """Escape analysis: whether the function may have put an array into what is there after it, a list of its caller's
    for one, whatever its own names stand for by now."""
    around = [frame.caller, frame.lexical, *frame.iterables, *frame.b.namespaces.values(), *_operands(frame)]
    return any(refers_to(held, buffer) for held in trees.reachable(around, frame))


def _operands(frame: Frame | None) -> Iterator[Any]:
    """What has been evaluated of the expressions under way, here and in callers."""
    while frame is not None:
        yield from frame.operands
        frame = frame.caller


def refers_to(value: Any, buffer: str) -> bool:
    """Whether a value is, may be, or holds an array in a buffer."""
    if isinstance(value, AfterLoop):
        return refers_to(value.value, buffer)
    tensors = [leaf for leaf in trees.leaves(value) if isinstance(leaf, Tensor)]
    return any(leaf.buffer == buffer or buffer in aliased_by(leaf) for leaf in tensors)


def is_open(frame: Frame, node: ast.AST) -> bool:
    """Whether all that a statement has evaluated before a call in it is among the frame's operands.

    That of a comprehension is not, for one: it has made items for which there is no name yet. And what goes over a
    generator has names of its own.
    """
    if frame.source.is_generator:
        return False
    parents = frame.source.parents
    inner, around = node, parents.get(id(node))
    while isinstance(around, OPEN):
        inner, around = around, parents.get(id(around))
    if isinstance(around, ast.AugAssign):
        return isinstance(around.target, ast.Name) and inner is around.value
    return isinstance(around, PLAIN) and any(inner is getattr(around, part, None) for part in FIRST)
