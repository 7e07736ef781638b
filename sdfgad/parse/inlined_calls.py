"""Procedure inlining: calls of functions of the user, and of definitions, in new frames."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import containers, generators, outside
from sdfgad.parse.builder import Builder
from sdfgad.parse.closure_conversion import lexical_frame
from sdfgad.parse.closures import Closure
from sdfgad.parse.escape import is_open
from sdfgad.parse.exception_lowering import with_exceptions_as_values
from sdfgad.parse.exception_values import Parts, handlers_of_call
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.facts import class_of
from sdfgad.parse.generators import Generator
from sdfgad.parse.internal_iteration import all_items
from sdfgad.parse.inverted_loops import with_inverted_loops
from sdfgad.parse.recursion import TOO_DEEP, WRITE_A_LOOP, Place, Recursive, as_loop, is_call
from sdfgad.parse.source import Source, own_signature, read_source, unwrapped
from sdfgad.parse.values import Tensor

Keywords = dict[str, Any]
# Modules whose functions are definitions: lines in them mean nothing to users.
OURS = ("sdfgad.parse.", "sdfgad.models.")
MOST_NESTED_CALLS = 50
# A function that has called itself so often with a run-time integer may not end.
FEW_NESTED_CALLS = 4


def inlined(
    frame: Frame,
    node: ast.AST,
    function: Any,
    positional: list[Any],
    keywords: Keywords,
    is_definition: bool = False,
    is_direct: bool = False,
) -> Any:
    """Inline a function of the user, or (`is_definition`) a definition of `parse.library`, in a new frame.

    Args:
        is_direct: whether the function is what the call at `node` calls, rather than what calls this one in turn.
    """
    here = frame.b.where
    if isinstance(function, types.FunctionType):
        function = frame.b.methods.get(function, function)
    function = function if isinstance(function, Closure) else unwrapped(_implementation(frame.b, function, positional))
    bound = _parameters(frame, node, function, positional, keywords)
    defaults = (*(getattr(function, "__defaults__", None) or ()), *_keyword_defaults(function))
    inside = {id(default): outside.from_outside(frame.b, default) for default in defaults}
    if isinstance(function, types.FunctionType):
        for name in ("__defaults__", "__kwdefaults__"):
            frame.b.looked_up(function, name, getattr(function, name), partial(getattr, function, name))
    env = {name: _as_local(frame.b, name, inside.get(id(v), v)) for name, v in bound.items()}
    source = function.source if isinstance(function, Closure) else read_source(function)
    # Methods of classes of ours, such as those of sparse matrices, and operators of models are definitions, too.
    is_ours = isinstance(function, types.FunctionType) and (function.__module__ or "").startswith(OURS)
    may_share, is_definition = is_direct and not is_definition, is_definition or is_ours
    if (loop := as_loop(source.node) if place_of(source) in frame.b.looped else None) is not None:
        source = replace(source, node=loop)
    handlers = handlers_of_call(node) if is_direct else ()
    source = with_exceptions_as_values(source, frame.b.throws, handlers)
    source = with_inverted_loops(source, frame.b.inverted)
    _require_end(frame, node, source, bound)

    lexical = lexical_frame(frame.b, function) if isinstance(function, Closure) else None

    def entered() -> Frame:
        inner = frame.inner(source, dict(env), frame.depth + 1, is_definition or frame.is_definition)
        inner.caller, inner.lexical, inner.call_node = frame, lexical, node if is_direct else None
        if may_share and not source.is_generator and is_open(frame, node):
            inner.foreign = frame.foreign
        return inner

    if source.is_generator:
        return _generated(frame, node, source.node, entered, env)
    try:
        with nullcontext() if is_definition else frame.b.outside_operations():
            result = Parts(entered().returned()) if handlers else entered().run()
    except RecursionError:
        raise _endless(frame, node, source) from None
    frame.b.where = here
    return result


def _generated(frame: Frame, call: ast.AST, node: Any, make: Callable[[], Frame], env: Keywords) -> Generator:
    """What the call of a generator function returns."""
    return Generator(
        tuple(env.values()),
        lambda: generators.items(make()),
        tuple(frame.b.blocks),
        is_generator=True,
        make=make,
        call=call,
        node=node,
        collect=partial(all_items, frame),
    )


def _require_end(frame: Frame, node: ast.AST, source: Source, bound: Keywords) -> None:
    """Require that recursion ends: the run-time integers among its arguments become constants, which may decide that.

    Raises:
        NeedsConstant: there are some.
        Recursive: data decides whether it ends, and it can be a loop.
        UnsupportedProgram: it is too deep.
    """
    calls = [one for one in _callers(frame) if one.source.node is source.node]
    if len(calls) > FEW_NESTED_CALLS:
        integers = [value for value in bound.values() if isinstance(value, Lin)]
        if symbols := {symbol for value in integers for symbol in value.symbols}:
            raise NeedsConstant(symbols, frame.where(node), TOO_DEEP, WRITE_A_LOOP)
        if _is_decided_by_data(frame.b, calls[-1].entered) and _may_be_loop(frame, node, source):
            raise _endless(frame, node, source)
    if frame.depth > MOST_NESTED_CALLS:
        raise _endless(frame, node, source)


def _endless(frame: Frame, node: ast.AST, source: Source) -> Exception:
    """What is raised where a function calls others so deeply that this may not end."""
    if _may_be_loop(frame, node, source):
        return Recursive(place_of(source), frame.where(node))
    return frame.unsupported(node, TOO_DEEP, WRITE_A_LOOP)


def _may_be_loop(frame: Frame, node: ast.AST, source: Source) -> bool:
    """Whether a function that calls itself, by its own name, can be a loop; a wrapper would run at each call."""
    is_by_name = isinstance(source.node, ast.FunctionDef) and is_call(node, source.node.name)
    return is_by_name and frame.source.node is source.node and as_loop(source.node) is not None


def _is_decided_by_data(b: Builder, depth: int) -> bool:
    """Whether data decides a branch that is deeper than so many blocks."""
    return any(one.depth > depth and not one.symbols for one in b.decisions)


def _callers(frame: Frame) -> Iterator[Frame]:
    """The frame and those around it, from the innermost one out, where these are many."""
    caller = frame if frame.depth > FEW_NESTED_CALLS else None
    while caller is not None:
        yield caller
        caller = caller.caller


def _implementation(b: Builder, function: Any, positional: list[Any]) -> Any:
    """The function that `functools.singledispatch` chooses by the class of the first argument; others as they are."""
    is_plain = isinstance(function, types.FunctionType) and function.__globals__.get("__name__") == "functools"
    dispatch = getattr(function, "dispatch", None) if is_plain and positional else None
    if dispatch is None:
        return function
    if isinstance(positional[0], Tensor) and len(positional[0].types) > 1:
        raise b.unsupported("the class of this number is known only at run time", "Convert it: float(x), say.")
    return dispatch(class_of(positional[0]))


def place_of(source: Source) -> Place:
    return source.file, source.node.lineno


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
