"""Procedure inlining: calls of functions of the user, and of definitions, in new frames."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import containers
from sdfgad.parse.builder import Builder
from sdfgad.parse.closure_conversion import lexical_frame
from sdfgad.parse.closures import Closure
from sdfgad.parse.frame import Frame
from sdfgad.parse.generators import generator
from sdfgad.parse.source import Source, own_signature, read_source, unwrapped

Keywords = dict[str, Any]
# Modules whose functions are definitions: lines in them mean nothing to users.
OURS = ("sdfgad.parse.", "sdfgad.models.")
MOST_NESTED_CALLS = 50
# A function that has called itself so often with a run-time integer may not end.
FEW_NESTED_CALLS = 6
TOO_DEEP = "the recursion is too deep, or whether it ends depends on data"


def inlined(
    frame: Frame, node: ast.AST, function: Any, positional: list[Any], keywords: Keywords, is_definition: bool = False
) -> Any:
    """Inline a function of the user, or (`is_definition`) a definition of `parse.library`, in a new frame."""
    here = frame.b.where
    if isinstance(function, types.FunctionType):
        function = frame.b.methods.get(function, function)
    function = function if isinstance(function, Closure) else unwrapped(function)
    bound = _parameters(frame, node, function, positional, keywords)
    for default in (*(getattr(function, "__defaults__", None) or ()), *_keyword_defaults(function)):
        containers.from_outside(frame.b, default)
    if isinstance(function, types.FunctionType):
        for name in ("__defaults__", "__kwdefaults__"):
            frame.b.looked_up(function, name, getattr(function, name), partial(getattr, function, name))
    env = {name: _as_local(frame.b, name, v) for name, v in bound.items()}
    source = function.source if isinstance(function, Closure) else read_source(function)
    # Methods of classes of ours, such as those of sparse matrices, and operators of models are definitions, too.
    is_ours = isinstance(function, types.FunctionType) and (function.__module__ or "").startswith(OURS)
    is_definition = is_definition or is_ours
    _require_end(frame, node, source, bound)

    lexical = lexical_frame(frame.b, function) if isinstance(function, Closure) else None

    def entered() -> Frame:
        inner = frame.inner(source, dict(env), frame.depth + 1, is_definition or frame.is_definition)
        inner.caller, inner.lexical = frame, lexical
        return inner

    if source.is_generator:
        return generator(frame, entered, tuple(env.values()))
    try:
        result = entered().run()
    except RecursionError:
        raise frame.unsupported(node, TOO_DEEP, "Write a loop: `for _ in range(n):` or `while`.") from None
    frame.b.where = here
    return result


def _require_end(frame: Frame, node: ast.AST, source: Source, bound: Keywords) -> None:
    """Require that recursion ends: the run-time integers among its arguments become constants, which may decide that.

    Raises:
        NeedsConstant: there are some.
        UnsupportedProgram: it is too deep.
    """
    if frame.depth > MOST_NESTED_CALLS:
        raise frame.unsupported(node, TOO_DEEP, "Write a loop: `for _ in range(n):` or `while`.")
    depth, caller = 0, frame
    while caller is not None and frame.depth > FEW_NESTED_CALLS:
        depth, caller = depth + (caller.source.node is source.node), caller.caller  # type: ignore[assignment]
    if depth > FEW_NESTED_CALLS:
        integers = [value for value in bound.values() if isinstance(value, Lin)]
        symbols = {symbol for value in integers for symbol in value.symbols}
        if symbols:
            raise NeedsConstant(symbols, frame.where(node), TOO_DEEP, "Write a loop: `for _ in range(n):` or `while`.")


def _keyword_defaults(function: Any) -> Iterable[Any]:
    return (getattr(function, "__kwdefaults__", None) or {}).values()


def _as_local(b: Builder, name: str, value: Any) -> Any:
    """An argument as the value of a parameter; only a default value can be a NumPy array here."""
    if isinstance(value, np.ndarray):
        return b.capture(name, value, lambda: value)
    return b.settle(value, name)


def _parameters(frame: Frame, node: ast.AST, function: Any, positional: list[Any], keywords: Keywords) -> Keywords:
    is_closure = isinstance(function, Closure)
    name = function.name if is_closure else function.__name__
    try:
        bound = (function.signature if is_closure else own_signature(function)).bind(*positional, **keywords)
    except TypeError as error:
        where = frame.where(node)
        raise ArgumentError(
            f"the call does not fit `{name}`: {error}", where, "Pass the arguments that its definition names."
        ) from error
    bound.apply_defaults()
    for parameter in bound.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            containers.tracked(frame.b, bound.arguments[parameter.name])
    return dict(bound.arguments)
