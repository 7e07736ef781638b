"""Calls: known functions by their handlers, the user's own by running them in place."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.frontend import loops
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.registry import FUNCTIONS, Handler
from sdfgad.frontend.source import read_source
from sdfgad.frontend.values import Tensor, is_static
from sdfgad.ir.expr import Int, symbols_of
from sdfgad.ir.specialise import NeedsConstant

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame

Keywords = dict[str, Any]

ON_SEQUENCES: frozenset[Callable[..., Any]] = frozenset({enumerate, zip, reversed})
ON_KNOWN: frozenset[Callable[..., Any]] = frozenset(
    {tuple, list, dict, str, bool, round, divmod, isinstance, sorted, slice, np.dtype}
)
READ_ONLY = ("get", "items", "keys", "values", "copy", "index", "count")
DEEPEST = 50


@dataclass(frozen=True)
class ArrayMethod:
    """A method of an array, before it is called."""

    handler: Handler
    array: Tensor


def call(frame: Frame, node: ast.Call) -> Any:
    """A call: its function and arguments from left to right, then its value."""
    function = frame.eval(node.func)
    arguments = frame.eval_all([*node.args, *(k.value for k in node.keywords)])
    positional: list[Any] = []
    for argument, value in zip(node.args, arguments, strict=False):
        positional.extend(value if isinstance(argument, ast.Starred) else [value])
    keywords: Keywords = {}
    for keyword, value in zip(node.keywords, arguments[len(node.args) :], strict=True):
        keywords |= {keyword.arg: value} if keyword.arg else value
    return _dispatch(frame, node, function, positional, keywords)


def _dispatch(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    if isinstance(function, ArrayMethod):
        return _handled(frame, node, function.handler, [function.array, *positional], keywords)
    known = FUNCTIONS.get(function) if _is_hashable(function) else None
    if known is not None:
        if known.static and is_static((positional, keywords)):
            return frame.b.python(function, *positional, **keywords)
        return _handled(frame, node, known.handler, positional, keywords)
    if function is range:
        return loops.Range.of(frame.b, positional)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, (list, dict)):
        return _container_method(frame.b, function, positional)
    if isinstance(function, types.FunctionType) and not _is_library(function):
        return _inlined(frame, node, function, positional, keywords)
    if _is_hashable(function) and function in ON_SEQUENCES:
        sequences = [_sequence(frame, value) for value in positional]
        return made(frame.b, list(frame.b.python(function, *sequences, **keywords)))
    if _is_hashable(function) and function in ON_KNOWN and is_static((positional, keywords)):
        return frame.b.python(function, *positional, **keywords)
    raise frame.unsupported(node, f"the function `{source_text(node.func)}` is not supported")


def _handled(frame: Frame, node: ast.Call, handler: Handler, positional: list[Any], keywords: Keywords) -> Any:
    try:
        inspect.signature(handler).bind(frame.b, *positional, **keywords)
    except TypeError as error:
        raise frame.unsupported(node, f"this call of `{source_text(node.func)}` is not supported: {error}") from None
    try:
        return handler(frame.b, *positional, **keywords)
    except TypeError as error:
        raise frame.unsupported(node, f"`{source_text(node.func)}` does not take these arguments: {error}") from error


def _inlined(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Run a function of the user in a frame of its own."""
    from sdfgad.frontend.interpreter import Frame as NewFrame

    if frame.depth > DEEPEST:
        raise frame.unsupported(node, "the recursion is too deep, or has no end known while parsing")
    here = frame.b.where
    bound = _parameters(frame, node, function, positional, keywords)
    env = {name: _as_local(frame.b, name, v) for name, v in bound.items()}
    result = NewFrame(frame.b, read_source(function), env, frame.depth + 1).run()
    frame.b.where = here
    return result


def _as_local(b: Builder, name: str, value: Any) -> Any:
    """An argument as the helper's name holds it; an array here is a default value."""
    if isinstance(value, np.ndarray):
        return b.capture(name, value, lambda: value)
    return b.settle(value, name)


def _parameters(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Keywords:
    try:
        bound = inspect.signature(function).bind(*positional, **keywords)
    except TypeError as error:
        where = frame.source.where(node)
        raise ArgumentError(
            f"the call does not fit `{function.__name__}`: {error}", where, "Check the call."
        ) from error
    bound.apply_defaults()
    return dict(bound.arguments)


def _sequence(frame: Frame, value: Any) -> Any:
    """A range or an array as a sequence of known length."""
    if isinstance(value, loops.Range):
        return range(frame.b.constant(value.start), frame.b.constant(value.stop), value.step)
    return [frame.b.settle(row) for row in frame.rows(value)] if isinstance(value, Tensor) else value


# --- lists and dicts


def made(b: Builder, container: Any) -> Any:
    """Note where a list or dict is made."""
    b.containers[id(container)] = (container, len(b.blocks))
    return container


def require_current(b: Builder, container: Any) -> None:
    """A list or dict may change only in the block where it was made: loops in between must be unrolled."""
    depth = b.containers.get(id(container), (None, 1))[1]
    if depth == len(b.blocks):
        return
    what = f"a {type(container).__name__} is changed in a loop or branch that runs at run time"
    around = [(var, trips) for body, var, trips in b.loops if body > depth]
    if len(around) < len(b.blocks) - depth:
        raise b.unsupported(what, "Use an array, or names, for values that change.")
    var, trips = around[0]
    raise NeedsConstant({var} | symbols_of(Int(trips)), b.where, what)


def _container_method(b: Builder, function: Any, positional: list[Any]) -> Any:
    if function.__name__ not in READ_ONLY:
        require_current(b, function.__self__)
    return b.python(function, *map(b.settle, positional))


# --- what a call may do


def calls_user_function(frame: Frame, node: ast.AST) -> bool:
    """Whether an expression calls a function that might write to its arguments."""
    return any(isinstance(n, ast.Call) and not _is_pure(frame, n.func) for n in ast.walk(node))


def _is_pure(frame: Frame, callee: ast.expr) -> bool:
    """Whether a called function is a library's; a method of an array or list is none of the user's either."""
    root: ast.expr = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in frame.env:
        return isinstance(callee, ast.Attribute)
    function = frame.eval(callee)
    return not isinstance(function, types.FunctionType) or _is_library(function)


def _is_hashable(value: Any) -> bool:
    return getattr(value, "__hash__", None) is not None


def _is_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in {"numpy", "scipy", "math"}


def source_text(node: ast.AST) -> str:
    """The start of an expression's text."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
