"""Calls: known functions are evaluated by their handlers, functions of the user are inlined."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import random
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, IgnoredPrint, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse import containers, objects
from sdfgad.parse.builder import Builder
from sdfgad.parse.closures import Closure
from sdfgad.parse.frame import Frame
from sdfgad.parse.operands import calls_user_function, evaluated, is_library, require_unchanged
from sdfgad.parse.ranges import Items, Range, combined, gone_over, items_of
from sdfgad.parse.registry import Handler, Known, is_hashable, known_function
from sdfgad.parse.source import read_source, source_text
from sdfgad.parse.texts import RunTimeText, is_plain
from sdfgad.parse.values import Holder, Iteration, Record, Selection, Tensor, as_tensor, is_static

Keywords = dict[str, Any]

ITERATOR_FUNCTIONS: frozenset[Callable[..., Any]] = frozenset({enumerate, zip, reversed})
STATIC_FUNCTIONS: frozenset[Callable[..., Any]] = frozenset(
    {tuple, list, dict, str, bool, round, divmod, isinstance, sorted, slice, np.dtype}
)
# Builtin functions that call a method of an object.
OBJECT_FUNCTIONS: frozenset[Callable[..., Any]] = frozenset({abs, bool, float, int, len, round})
MOST_NESTED_CALLS = 50
RANDOM_SOURCES = (np.random.RandomState, np.random.Generator, random.Random)


@dataclass(frozen=True)
class ArrayMethod(Holder):
    """A method of an array, before it is called."""

    known: Known
    array: Tensor | Selection

    @property
    def held(self) -> Iterable[Any]:
        return (self.array,)

    def settled(self, settle: Callable[[Any], Any]) -> Any:
        return replace(self, array=settle(self.array))


def call(frame: Frame, node: ast.Call) -> Any:
    """A call: its function and arguments from left to right, then its value."""
    nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
    function = frame.eval(node.func)
    if isinstance(function, ArrayMethod) and any(calls_user_function(frame, argument) for argument in nodes):
        function = frame.b.settle(function)
    before = frame.b.versions.writes
    arguments = evaluated(frame, nodes)
    require_unchanged(frame, [function] if isinstance(function, ArrayMethod) else [], before)
    positional: list[Any] = []
    for argument, value in zip(node.args, arguments, strict=False):
        positional.extend(as_sequence(frame, node, value) if isinstance(argument, ast.Starred) else [value])
    keywords: Keywords = {}
    for keyword, value in zip(node.keywords, arguments[len(node.args) :], strict=True):
        keywords |= {keyword.arg: value} if keyword.arg else value
    return _dispatch(frame, node, function, positional, keywords)


def _dispatch(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    if not _takes_iterators(function):
        positional = [_items_now(frame, value) for value in positional]
        keywords = {name: _items_now(frame, value) for name, value in keywords.items()}
    if isinstance(function, ArrayMethod):
        return _known(frame, node, function.known, None, [function.array, *positional], keywords)
    if is_hashable(function) and function in OBJECT_FUNCTIONS and positional and isinstance(positional[0], Record):
        return method(frame, node, positional[0], f"__{function.__name__}__", *positional[1:])
    known = known_function(function)
    if known is not None:
        return _known(frame, node, known, function, positional, keywords)
    if isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "outer":
        return _outer(frame, node, function.__self__, positional, keywords)
    if function is range:
        return Range.of(frame.b, positional)
    if function is print:
        _warn_of_print(frame, node)
        return None
    if function is partial:
        settled = {name: frame.b.settle(value) for name, value in keywords.items()}
        return frame.b.python(partial, *map(frame.b.settle, positional), **settled)
    if isinstance(function, partial):
        keywords = {**function.keywords, **keywords}
        return _dispatch(frame, node, function.func, [*function.args, *positional], keywords)
    if isinstance(function, Closure):
        return inlined(frame, node, function, positional, keywords)
    if isinstance(function, Record):
        return _dispatch(frame, node, function.cls.__call__, [function, *positional], keywords)
    if function is super and not positional:
        return objects.Parent.of(frame.b, frame.source, frame.env)
    if function is dataclasses.replace:
        return objects.replaced(frame.b, positional[0], keywords)
    if objects.is_class(function):
        return objects.construct(frame.b, function, positional, keywords, partial(inlined, frame, node))
    if isinstance(function, types.MethodType) and isinstance(function.__self__, tuple):
        return frame.b.python(function, *positional, **keywords)
    if isinstance(function, types.MethodType):
        return _dispatch(frame, node, function.__func__, [function.__self__, *positional], keywords)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, (list, dict)):
        return containers.method(frame.b, function, positional, keywords)
    if isinstance(function, types.FunctionType) and not is_library(function):
        return inlined(frame, node, function, positional, keywords)
    if is_hashable(function) and function in ITERATOR_FUNCTIONS:
        return _iteration(frame, function, positional, keywords)
    if is_hashable(function) and function in STATIC_FUNCTIONS and is_static((positional, keywords)):
        are_lazy = [isinstance(value, (Range, Items)) for value in positional]
        sequences = [
            list(_sequence(frame, value)) if lazy else value for value, lazy in zip(positional, are_lazy, strict=True)
        ]
        return frame.b.python(function, *sequences, **keywords)
    if function in (tuple, list) and len(positional) == 1 and not keywords:
        values = [frame.b.settle(value) for value in as_sequence(frame, node, positional[0])]
        return tuple(values) if function is tuple else containers.tracked(frame.b, values)
    if isinstance(getattr(function, "__self__", None), str):
        return _of_text(frame, node, function, positional, keywords)
    if isinstance(getattr(function, "__self__", None), RANDOM_SOURCES):
        what = f"`{source_text(node.func)}` draws random numbers while the program runs"
        raise UnsupportedProgram(what, frame.where(node), "Draw them before, and pass them as an argument.")
    if _is_numpy(function) and is_static((positional, keywords)):
        return _as_values(frame.b, frame.b.python(function, *positional, **keywords))
    raise frame.unsupported(node, f"the function `{source_text(node.func)}` is not supported")


def method(frame: Frame, node: ast.AST, record: Record, name: str, *arguments: Any) -> Any:
    """A call of a method that Python calls for an operator or a builtin function, such as ``__len__``."""
    function = inspect.getattr_static(record.cls, name, None)
    if not isinstance(function, types.FunctionType):
        what = f"`{record.cls.__name__}` does not define `{name}` in Python"
        raise UnsupportedProgram(what, frame.b.where, "Define it, or use the object's attributes.")
    return inlined(frame, node, function, [record, *arguments], {})


def _takes_iterators(function: Any) -> bool:
    """Whether a call leaves it to others to go over iterators among its arguments."""
    if isinstance(function, (Closure, Record, partial, types.MethodType)) or function is partial:
        return True
    if isinstance(function, types.FunctionType):
        return not is_library(function) and known_function(function) is None
    return is_hashable(function) and function in ITERATOR_FUNCTIONS


def _items_now(frame: Frame, value: Any) -> Any:
    """An iterator as its items; any other argument itself."""
    value = gone_over(frame.b, value)
    return tuple(value) if isinstance(value, Iterator) else value


def _iteration(frame: Frame, function: Any, positional: list[Any], keywords: Keywords) -> Iteration:
    """``enumerate``, ``zip`` or ``reversed``, evaluated when it is gone over: the program may change a list before."""
    b, first = frame.b, positional[0] if positional else None
    count = len(first) if function is reversed and isinstance(first, list) else None

    def items() -> Any:
        if isinstance(first, list) and count is not None and len(first) != count:
            # Python begins where the last item was, and finds nothing there if the list is shorter.
            return (first[k] for k in reversed(range(count if len(first) > count else 0)))
        values = [gone_over(b, value) for value in positional]
        alike = combined(b, function, values, keywords)
        if alike is not None:
            return alike
        sequences = [_sequence(frame, value) for value in values]
        if function is reversed:
            sequences = [list(value) if isinstance(value, Iterator) else value for value in sequences]
        return b.python(function, *sequences, **keywords)

    return Iteration((*positional, *keywords.values()), items, tuple(b.blocks))


def _of_text(frame: Frame, node: ast.Call, method: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A call of a method of a string: its value where all is known while parsing, else its source."""
    if is_plain([method.__self__, *positional, *keywords.values()]):
        return frame.b.python(method, *positional, **keywords)
    return RunTimeText(source_text(node))


def _is_numpy(function: Any) -> bool:
    return callable(function) and (getattr(function, "__module__", "") or "").partition(".")[0] == "numpy"


def _known(frame: Frame, node: ast.Call, known: Known, original: Any, positional: list[Any], keywords: Keywords) -> Any:
    if known.keyed is not None and keywords.get("key") is not None:
        return inlined(frame, node, known.keyed, positional, keywords, is_definition=True)
    if known.static and original is not None and is_static((positional, keywords)):
        return _as_values(frame.b, frame.b.python(original, *positional, **keywords))
    if known.is_definition:
        return inlined(frame, node, known.handler, positional, keywords, is_definition=True)
    return _handled(frame, node, known.handler, positional, keywords)


def _outer(frame: Frame, node: ast.Call, ufunc: np.ufunc, positional: list[Any], keywords: Keywords) -> Any:
    """``ufunc.outer(x, y)``: of all pairs of an element of `x` and one of `y`."""
    x, *rest = [as_tensor(value) for value in positional]
    count = rest[0].ndim
    column = x.reindexed((*x.shape, *(Lin(1),) * count), lambda p: p[: x.ndim])
    return _dispatch(frame, node, ufunc, [column, *rest], keywords)


def _as_values(b: Builder, result: Any) -> Any:
    """A result that NumPy computed while parsing, with its arrays as constants of the program."""
    if isinstance(result, np.ndarray):
        return b.constant_array(result)
    return tuple(_as_values(b, part) for part in result) if type(result) is tuple else result


def _handled(frame: Frame, node: ast.Call, handler: Handler, positional: list[Any], keywords: Keywords) -> Any:
    try:
        inspect.signature(handler).bind(frame.b, *positional, **keywords)
    except TypeError as error:
        raise frame.unsupported(node, f"this call of `{source_text(node.func)}` is not supported: {error}") from None
    try:
        return handler(frame.b, *positional, **keywords)
    except TypeError as error:
        raise frame.unsupported(node, f"`{source_text(node.func)}` does not take these arguments: {error}") from error


def inlined(
    frame: Frame, node: ast.AST, function: Any, positional: list[Any], keywords: Keywords, is_definition: bool = False
) -> Any:
    """Inline a function of the user, or (`is_definition`) a definition of `parse.library`, in a new frame."""
    if frame.depth > MOST_NESTED_CALLS:
        raise frame.unsupported(node, "the recursion is too deep, or has no end known while parsing")
    here = frame.b.where
    bound = _parameters(frame, node, function, positional, keywords)
    env = {name: _as_local(frame.b, name, v) for name, v in bound.items()}
    source = function.source if isinstance(function, Closure) else read_source(function)
    inner = frame.inner(source, env, frame.depth + 1, is_definition or frame.is_definition)
    inner.caller, inner.lexical = frame, function.frame if isinstance(function, Closure) else None
    result = inner.run()
    frame.b.where = here
    return result


def _warn_of_print(frame: Frame, node: ast.Call) -> None:
    """Warn that the compiled program does not print."""
    warnings.warn(f"print is ignored at {frame.where(node)}", IgnoredPrint, stacklevel=2)


def _as_local(b: Builder, name: str, value: Any) -> Any:
    """An argument as the value of a parameter; only a default value can be a NumPy array here."""
    if isinstance(value, np.ndarray):
        return b.capture(name, value, lambda: value)
    return b.settle(value, name)


def _parameters(frame: Frame, node: ast.AST, function: Any, positional: list[Any], keywords: Keywords) -> Keywords:
    is_closure = isinstance(function, Closure)
    name = function.name if is_closure else function.__name__
    try:
        bound = (function.signature if is_closure else inspect.signature(function)).bind(*positional, **keywords)
    except TypeError as error:
        where = frame.where(node)
        raise ArgumentError(f"the call does not fit `{name}`: {error}", where, "Check the call.") from error
    bound.apply_defaults()
    return dict(bound.arguments)


def _sequence(frame: Frame, value: Any) -> Any:
    """A range or an array as a sequence of known length."""
    if isinstance(value, Range):
        return range(frame.b.constant(value.start), frame.b.constant(value.stop), value.step)
    items = items_of(frame.b, value)
    if items is not None:
        return (frame.b.settle(items.at(k)) for k in range(frame.b.constant(items.length)))
    return value


def as_sequence(frame: Frame, node: ast.AST, value: Any) -> Iterator[Any]:
    """The items of a loop that is unrolled while parsing; each is read when its trip begins, as in Python."""
    try:
        return iter(_sequence(frame, gone_over(frame.b, value)))
    except TypeError:
        raise frame.unsupported(node, f"a loop over a {type(value).__name__} is not supported") from None


def extend(frame: Frame, node: ast.AugAssign, values: list[Any], more: Any) -> None:
    """``values += more`` or ``values *= more`` of a list, in place."""
    containers.require_current(frame.b, values)
    if isinstance(node.op, ast.Add):
        values.extend(frame.b.settle(value) for value in as_sequence(frame, node, more))
    elif isinstance(node.op, ast.Mult) and isinstance(more, int):
        values *= more
    else:
        raise frame.unsupported(node, "this update of a list is not supported")
