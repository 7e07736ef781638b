"""Calls: known functions are evaluated by their handlers, functions of the user are inlined."""

from __future__ import annotations

import ast
import dataclasses
import os
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import EnumType
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sdfgad.errors import SingularMatrix
from sdfgad.ir.expr import BOOL, Lin, Op
from sdfgad.parse import (
    chosen_texts,
    conditions,
    containers,
    eigenvalue_uses,
    hazards,
    masked_lists,
    objects,
    operators,
    outside,
    polymorphic,
    sparse,
    trajectory_items,
)
from sdfgad.parse.alternatives import instead_of
from sdfgad.parse.builder import Builder
from sdfgad.parse.builtin_bases import member, stand_in
from sdfgad.parse.clocks import CLOCKS, READING
from sdfgad.parse.closures import Closure
from sdfgad.parse.communicators import Method
from sdfgad.parse.delay_lines import made, with_items
from sdfgad.parse.deques import Deque
from sdfgad.parse.exception_objects import thrown_for
from sdfgad.parse.exception_values import Parts
from sdfgad.parse.filled_lists import is_followed, require_followed
from sdfgad.parse.frame import Frame
from sdfgad.parse.functions.keyed import OF_FILTERED, itself, sum_of_objects
from sdfgad.parse.handlers import NOT_THESE, handled
from sdfgad.parse.ignored_calls import ignore, is_ignored
from sdfgad.parse.inlined_calls import inlined
from sdfgad.parse.iterators import (
    ITERATOR_FUNCTIONS,
    Site,
    all_items,
    as_sequence,
    items_now,
    iteration,
    length,
    mapping,
    sequence,
    until_decided,
)
from sdfgad.parse.library.selected import OF_SELECTIONS
from sdfgad.parse.logs import put, see
from sdfgad.parse.memoised_calls import remembered
from sdfgad.parse.object_arrays import ObjectArray
from sdfgad.parse.object_equality import defines
from sdfgad.parse.operands import evaluated, is_library, may_update, method, require_unchanged
from sdfgad.parse.optional_values import required, required_parts
from sdfgad.parse.polymorphic import PolymorphicMethod
from sdfgad.parse.program_calls import of_programs
from sdfgad.parse.provenance import arguments_behind
from sdfgad.parse.python_calls import GETTERS, SPECIAL, call_getter, special, special_method
from sdfgad.parse.ranges import Items, Range, is_lazy
from sdfgad.parse.registry import METHODS, Handler, Known, is_hashable, known_function
from sdfgad.parse.rows import elements_of
from sdfgad.parse.source import source_text
from sdfgad.parse.sparse_layout import is_sparse
from sdfgad.parse.texts import RunTimeText, is_plain, require_known, require_no_texts
from sdfgad.parse.throwing import operating
from sdfgad.parse.tuple_methods import own_method
from sdfgad.parse.values import (
    DICT_VIEWS,
    Holder,
    Iteration,
    MaybeNone,
    Polymorphic,
    Record,
    Selection,
    Tensor,
    as_tensor,
    is_real,
    is_static,
)

Keywords = dict[str, Any]

STATIC_FUNCTIONS: frozenset[Any] = frozenset(
    {tuple, list, str, bool, round, divmod, isinstance, issubclass, slice, np.dtype, complex, ord, chr, repr, bytes}
    | {hash, bin, hex, oct, format, ascii, ast.literal_eval, os.cpu_count}
)
# Builtin functions that call a method of an object.
OBJECT_FUNCTIONS: frozenset[Callable[..., Any]] = frozenset({abs, bool, float, int, len, round})
# What functools.lru_cache makes of a function.
CACHES = type(lru_cache(print))
# Functions of matrices that raise LinAlgError in NumPy for NaN, where the compiled program gives NaN, but in a `try`.
MAY_NOT_CONVERGE = frozenset(
    getattr(np.linalg, name)
    for name in ("cond", "eig", "eigh", "eigvals", "eigvalsh", "lstsq", "matrix_rank", "norm", "pinv", "svd", "svdvals")
)


# The parts of SciPy whose functions depend on their arguments alone, but for the method `rvs` of distributions.
PURE = ("numpy.", "scipy.signal.", "scipy.linalg.", "scipy.special.", "scipy.stats._distn_infrastructure.")


# Modules of Python's whose functions, and methods of objects, depend on their arguments alone.
EXACT = frozenset({"decimal", "_decimal", "fractions", "re"})


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
    if isinstance(function, ArrayMethod) and any(may_update(frame, argument) for argument in nodes):
        function = frame.b.settle(function)
    before = frame.b.versions.writes
    with frame.holding([function]):
        arguments = evaluated(frame, nodes)
    require_unchanged(frame, [function] if isinstance(function, ArrayMethod) else [], before)
    positional: list[Any] = []
    for argument, value in zip(node.args, arguments, strict=False):
        positional.extend(all_items(frame, node, value) if isinstance(argument, ast.Starred) else [value])
    keywords: Keywords = {}
    for keyword, value in zip(node.keywords, arguments[len(node.args) :], strict=True):
        keywords |= {keyword.arg: value} if keyword.arg else mapping(frame, node, value)
    frame.direct = node
    with operating(frame, node):
        return Parts.of(node, _dispatch(frame, node, function, positional, keywords))


def _dispatch(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    if isinstance(function, Polymorphic | PolymorphicMethod):
        return polymorphic.call(frame, node, function, positional, keywords)
    if (own := own_method(function, "__call__")) is not None:
        return _dispatch(frame, node, own, [function, *positional], keywords)
    if function is len and len(positional) == 1 and id(positional[0]) in frame.b.filling:
        return trajectory_items.length(frame.b, positional[0])
    if not is_followed(function):
        positional = [outside.with_arrays(frame.b, value) for value in positional]
        keywords = {name: outside.with_arrays(frame.b, value) for name, value in keywords.items()}
    is_stored = function in (put, see) or (_is_of_container(function) and function.__name__ in STORING)
    is_handed_on = is_followed(function) or is_stored
    if any(isinstance(value, MaybeNone) for value in (*positional, *keywords.values())) and not is_handed_on:
        text = f"an argument of `{source_text(node.func)}`"
        positional = [required(frame.b, value, text) for value in positional]
        keywords = {name: required(frame.b, value, text) for name, value in keywords.items()}
    if any(map(polymorphic.is_one, positional)) and not is_handed_on:
        return polymorphic.call(frame, node, function, positional, keywords)
    if not is_followed(function) and not (is_hashable(function) and is_ignored(function)):
        chosen_texts.require_none(frame.b, node.func, (*positional, *keywords.values()))
        require_no_texts(function, (*positional, *keywords.values()), frame.b.where)
    if frame.b.logs.known and function is not len and not is_followed(function):
        positional = with_items(frame.b, positional, is_stored=_is_of_container(function))
        keywords = dict(zip(keywords, with_items(frame.b, keywords.values()), strict=True))
    if frame.b.filling:
        require_followed(frame, function, (*positional, *keywords.values()))
    if function in (any, all) and len(positional) == 1 and is_lazy(positional[0]):
        positional = [tuple(until_decided(frame, node, positional[0], function is any))]
    if function in (any, all) and len(positional) == 1 and isinstance(positional[0], list | tuple):
        positional = [[_as_condition(frame, node, item) for item in positional[0]]]
    if not _takes_iterators(function) and not _takes_a_number(function, positional, keywords):
        given, positional = positional, [items_now(frame, value, function is sum) for value in positional]
        keywords = {name: items_now(frame, value) for name, value in keywords.items()}
        if function is list and given and isinstance(given[0], Iteration) and isinstance(positional[0], Record):
            return positional[0]
        if any(isinstance(one, Iteration) for one in given):
            positional = with_items(frame.b, positional)
    if function in (sum, min, max) and "key" not in keywords:
        positional = [_with_values(frame, node, value) for value in positional]
    for kind in (_of_programs, _of_numpy, _of_python, _of_users, _of_known):
        found = kind(frame, node, function, positional, keywords)
        if found is not NOT_THESE:
            return found
    what = f"the function `{source_text(node.func)}` is not supported"
    with frame.b.versions.unchecked():
        arguments = arguments_behind(frame.b, (*positional, *keywords.values(), getattr(function, "__self__", None)))
    raise frame.unsupported(node, what, instead_of(function, arguments))


def _with_values(frame: Frame, node: ast.Call, items: Any) -> Any:
    """Items of which some may be None, as what they are otherwise, which a check at run time requires."""
    is_partly_none = type(items) in (list, tuple) and any(isinstance(item, MaybeNone) for item in items)
    return required_parts(frame.b, items, f"an item of `{source_text(node)}`") if is_partly_none else items


def _as_condition(frame: Frame, node: ast.Call, item: Any) -> Any:
    """What ``any`` and ``all`` ask of an item: its truth, where it is no number or container that is known."""
    has_own = own_method(item, "__bool__") or own_method(item, "__len__")
    is_plain = isinstance(item, Tensor | Lin | Selection | list | tuple | dict | set) or is_static(item)
    return item if is_plain and not has_own else conditions.tested(frame, node, item)


def _of_programs(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    return of_programs(_site(frame, node), function, positional, keywords)


def _of_numpy(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Functions that have a handler or a definition, and methods of arrays."""
    if isinstance(function, ArrayMethod):
        return _known(frame, node, function.known, None, [function.array, *positional], keywords)
    if isinstance(function, Method):
        return handled(frame, node, function.handler, [function.owner, *positional], keywords)
    owner = getattr(function, "__self__", None)
    are_texts = isinstance(owner, np.ndarray) and owner.dtype.kind == "U"
    if are_texts and is_static((positional, keywords)):
        return _as_values(frame.b, frame.b.python(function, *positional, **keywords))
    if isinstance(owner, np.ndarray) and function.__name__ in METHODS:
        array = frame.b.capture(function.__name__, owner, lambda: owner)
        return _known(frame, node, METHODS[function.__name__], None, [array, *positional], keywords)
    if isinstance(owner, (np.generic, int, float, complex)) and is_static((positional, keywords)):
        return _as_values(frame.b, frame.b.python(function, *positional, **keywords))
    is_of_object = bool(positional) and isinstance(positional[0], Record)
    if is_of_object and function is reversed and defines(positional[0].cls, "__reversed__"):
        return method(frame, node, positional[0], "__reversed__")
    if function is bool and is_of_object:
        return conditions.tested(frame, node, positional[0])
    if is_hashable(function) and function in OBJECT_FUNCTIONS and is_of_object:
        return method(frame, node, positional[0], f"__{function.__name__}__", *positional[1:])
    if is_hashable(function) and function in OBJECT_FUNCTIONS and positional:
        own = own_method(positional[0], f"__{function.__name__}__")
        if own is not None:
            return frame.call(node, own, positional, keywords)
    if any(isinstance(value, Record) for value in positional):
        expression = operators.expression_of(function, [ast.Constant(value) for value in positional])
        if expression is not None:
            return frame.eval(ast.fix_missing_locations(ast.copy_location(expression, node)))
    if function is len and positional and isinstance(positional[0], Range):
        return length(frame.b, positional[0])
    if positional and isinstance(positional[0], Selection) and is_hashable(function) and function in OF_SELECTIONS:
        return inlined(frame, node, OF_SELECTIONS[function], positional, keywords, is_definition=True)
    if _is_of_items(function) and (len(positional) == 1 or function is sum):
        positional = [_items_of_object(frame, node, positional[0]), *positional[1:]]
    if function in (min, max) and "key" not in keywords and _hold_objects(positional):
        keywords = {**keywords, "key": itself}
    if function is sum and _hold_objects(positional):
        return inlined(frame, node, sum_of_objects, positional, keywords, is_definition=True)
    known = known_function(function)
    if known is not None:
        if _is_numpy(function) or getattr(function, "__module__", "") in ("math", "statistics"):
            positional = [_with_values(frame, node, value) for value in positional]
        _note_hazards(frame, node, function, positional)
        positional = [_as_array(frame, function, value) for value in positional]
        found = _known(frame, node, known, function, positional, keywords)
        _note_domain(frame.b, node, function, positional, found)
        return eigenvalue_uses.as_numpy_has_them(frame, node, function, positional, found)
    is_theirs = type(function).__module__.startswith(("scipy.", "numpy", "sdfgad.parse."))
    by_class = known_function(type(function).__call__) if is_theirs else None
    if by_class is not None and _is_within(frame, by_class.handler, function):
        # The derivative rule of a function calls the function itself.
        return _dispatch(frame, node, function.__wrapped__, positional, keywords)
    if by_class is not None:
        return _known(frame, node, by_class, None, [function, *positional], keywords)
    if isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "outer":
        return _outer(frame, node, function.__self__, positional, keywords)
    return NOT_THESE


def _of_python(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Functions of Python's that the parser evaluates, partial ones and cached ones."""
    if function is range:
        return Range.of(frame.b, positional)
    if is_hashable(function) and is_ignored(function):
        return ignore(frame, node, function, positional, keywords)
    if is_exact(function) and is_static((positional, keywords)) and is_real((positional, keywords)):
        return frame.b.python(function, *positional, **keywords)
    if is_hashable(function) and function in CLOCKS:
        return READING
    if is_hashable(function) and function in SPECIAL:
        return special(_site(frame, node), function, positional, keywords)
    if isinstance(function, GETTERS):
        return call_getter(_site(frame, node), function, *positional)
    if isinstance(function, CACHES):
        frame.direct = None
        again = partial(_dispatch, frame, node, function.__wrapped__, positional, keywords)
        return remembered(frame, function, (positional, keywords), again)
    if function is partial:
        settled = {name: frame.b.settle(value) for name, value in keywords.items()}
        return frame.b.python(partial, *map(frame.b.settle, positional), **settled)
    if isinstance(function, partial):
        keywords = {**function.keywords, **keywords}
        return _dispatch(frame, node, function.func, [*function.args, *positional], keywords)
    return NOT_THESE


def is_exact(function: Any) -> bool:
    """Whether a call depends on its arguments alone, and changes none: of exact numbers and patterns of texts."""
    owner = getattr(function, "__self__", None)
    where = function if owner is None or isinstance(owner, types.ModuleType) else type(owner)
    return getattr(where, "__module__", None) in EXACT


def _of_users(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Functions, methods, classes and objects of the user: they are inlined."""
    is_direct = frame.direct is node and not getattr(function, "is_cached", False)
    if isinstance(function, Closure):
        inline = partial(inlined, frame, node, function, positional, keywords, is_direct=is_direct)
        return remembered(frame, function, (positional, keywords), inline) if function.is_cached else inline()
    if isinstance(function, np.vectorize):
        return _dispatch(frame, node, np.vectorize.__call__, [function, *positional], keywords)
    if isinstance(function, Record):
        return _dispatch(frame, node, function.cls.__call__, [function, *positional], keywords)
    if function is super:
        return objects.Parent.of(frame.b, frame.source, frame.env, *positional)
    if function is dataclasses.replace:
        return objects.replaced(frame.b, positional[0], keywords)
    if isinstance(function, type) and issubclass(function, BaseException):
        return _exception(frame, node, function, positional, keywords)
    if objects.is_class(function):
        begin = partial(_made_for, frame, node)
        return objects.construct(frame.b, function, positional, keywords, partial(_in_turn, frame, node), begin)
    if isinstance(function, types.MethodType) and isinstance(function.__self__, (Deque, ObjectArray)):
        return special_method(_site(frame, node), function, positional, keywords)
    if isinstance(function, types.MethodType) and objects.is_generated(function):
        return containers.tracked(frame.b, frame.b.python(function, *positional, **keywords))
    if isinstance(function, types.MethodType):
        return _dispatch(frame, node, function.__func__, [function.__self__, *positional], keywords)
    if positional and isinstance(positional[0], Record) and (instead := stand_in(function)) is not function:
        return inlined(frame, node, instead, positional, keywords, is_direct=is_direct)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.MappingProxyType) and function.__name__ == "get":
        return outside.item_from_outside(frame.b, owner, *positional)
    if isinstance(function, types.BuiltinMethodType) and isinstance(owner, (list, dict, set)):
        return special_method(_site(frame, node), function, positional, keywords)
    if isinstance(function, types.FunctionType) and not is_library(function):
        return inlined(frame, node, function, positional, keywords, is_direct=is_direct)
    return NOT_THESE


def _in_turn(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A call that a constructor makes: of functions of its class, or of what a dataclass has as `default_factory`."""
    if isinstance(function, (types.FunctionType, Closure)):
        return inlined(frame, node, function, positional, keywords)
    return _site(frame, node).dispatch(function, positional, keywords)


def _made_for(frame: Frame, node: ast.Call, field: str, values: list[Any]) -> Any:
    return made(frame, node, values, field)


def _bound_of_slice(b: Builder, bound: Any) -> int:
    """A bound of a slice that has a name, which must be known: in loops these are written out."""
    what = "a bound of `slice(...)` is known only at run time"
    return b.constant(bound, what, "Write the slice where it is used: x[a:b] instead of s = slice(a, b) and x[s].")


def _of_known(frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: Keywords) -> Any:
    """Iterators, and functions of values that are known while parsing."""
    if is_hashable(function) and function in ITERATOR_FUNCTIONS:
        return iteration(_site(frame, node), function, positional, keywords)
    if is_hashable(function) and function in STATIC_FUNCTIONS and is_static((positional, keywords)):
        lazy = (Range, Items)
        sequences = [list(sequence(frame, value)) if isinstance(value, lazy) else value for value in positional]
        made = frame.b.python(function, *sequences, **keywords)
        return containers.tracked(frame.b, made) if isinstance(made, (list, set)) else made
    if isinstance(function, EnumType) and is_static((positional, keywords)):
        return frame.b.python(function, *positional, **keywords)
    if function is slice:
        return slice(*(None if bound is None else _bound_of_slice(frame.b, bound) for bound in positional))
    if function is list and masked_lists.is_filtered(positional[0] if positional else None):
        return masked_lists.copied(frame.b, positional[0])
    if function in (tuple, list) and len(positional) == 1 and not keywords:
        values = elements_of(frame.b, positional[0])
        if values is None:
            values = [frame.b.settle(value) for value in as_sequence(frame, node, positional[0])]
        return tuple(values) if function is tuple else containers.tracked(frame.b, values)
    if isinstance(getattr(function, "__self__", None), str):
        return _of_text(frame, node, function, positional, keywords)
    if _is_numpy(function):
        positional = [_fixed(frame.b, value) for value in positional]
        keywords = {name: _fixed(frame.b, value) for name, value in keywords.items()}
        if is_static((positional, keywords)):
            return _as_values(frame.b, frame.b.python(function, *positional, **keywords))
    return NOT_THESE


def _fixed(b: Builder, value: Any) -> Any:
    """An argument of a function that only NumPy can call: an integer that decides nothing else becomes a constant."""
    return b.constant(value) if isinstance(value, Lin) else value


def _is_within(frame: Frame | None, definition: Handler, of: Any) -> bool:
    """Whether a definition that was called with `of` as its first argument is being inlined here."""
    while frame is not None:
        if frame.source.function is definition and next(iter(frame.env.values()), None) is of:
            return True
        frame = frame.caller
    return False


def _note_hazards(frame: Frame, node: ast.Call, function: Any, positional: list[Any]) -> None:
    """Note where functions of matrices raise, as an iteration does not converge."""
    is_of_vector = function is np.linalg.norm and len(node.args) + len(node.keywords) == 1
    if function in MAY_NOT_CONVERGE and not is_of_vector and not frame.is_definition and positional:
        _require_finite(frame.b, as_tensor(positional[0]), f"`{source_text(node.func)}` does not converge, as for NaN")


def _note_domain(b: Builder, node: ast.Call, function: Any, positional: list[Any], found: Any) -> None:
    """Note where Python's functions of numbers, unlike NumPy's, raise."""
    if not b.tries or getattr(function, "__module__", "") not in ("math", "cmath") or is_static(positional):
        return
    what = f"`{source_text(node.func)}` raises for some numbers, where NumPy's function gives inf or NaN"
    are_numbers = all(isinstance(one, (Tensor, Lin, int, float)) for one in (found, *positional))
    unless = hazards.is_regular(found, positional) if are_numbers else None
    b.may_raise(what, *hazards.KINDS.get(function, (ValueError,)), unless=unless)


def _require_finite(b: Builder, x: Tensor, what: str) -> None:
    """Where a handler around it catches that, raise for what is not finite, as NumPy does."""
    if b.catches(np.linalg.LinAlgError):
        box = tuple((b.fresh("p"), extent) for extent in x.shape)
        finite = Op("isfinite", (x.at(*(Lin.symbol(var) for var, _ in box)),), BOOL)
        b.check(finite, box, what, SingularMatrix)


def _is_of_container(function: Any) -> bool:
    """Whether a function is a method of a list, dict or set, which stores its arguments."""
    owner = getattr(function, "__self__", None)
    return isinstance(function, types.BuiltinMethodType) and isinstance(owner, (list, dict, set))


def _is_of_items(function: Any) -> bool:
    return is_hashable(function) and function in (sum, min, max, any, all)


def _items_of_object(frame: Frame, node: ast.Call, value: Any) -> Any:
    """What the ``__iter__`` of an object of the user gives; other values as they are."""
    is_users = isinstance(value, Record) and not value.cls.__module__.startswith("sdfgad.")
    has_items = is_users and (hasattr(value.cls, "__iter__") or hasattr(value.cls, "__getitem__"))
    return list(as_sequence(frame, node, value)) if has_items else value


def _hold_objects(values: list[Any]) -> bool:
    """Whether there are objects, or named tuples that can be added, among some values, or the items of the only one."""
    items = values[0] if len(values) == 1 or (values and isinstance(values[0], (list, tuple))) else values
    return isinstance(items, (list, tuple)) and any(map(_is_object, items))


def _is_object(value: Any) -> bool:
    return isinstance(value, Record) or own_method(value, "__add__") is not None


def _as_array(frame: Frame, function: Any, value: Any) -> Any:
    """A range whose bounds are known at run time, or the elements of a dict or set, as what a function makes of it."""
    if isinstance(value, (DICT_VIEWS, dict, set, frozenset)) and function in (sum, min, max, any, all):
        return list(value)
    is_about_values = _is_numpy(function) or function in (sum, min, max, any, all)
    if not isinstance(value, Range) or not is_about_values:
        return value
    return known_function(np.arange).handler(frame.b, value.start, value.stop, value.step)  # type: ignore[union-attr]


def _site(frame: Frame, node: ast.Call) -> Site:
    def indirectly(function: Any, *arguments: Any) -> Any:
        frame.direct = None
        return _dispatch(frame, node, function, *arguments)

    return Site(frame, node, indirectly)


# Methods of lists, dicts and sets that store what they are passed as it is.
STORING = ("append", "appendleft", "insert", "add", "setdefault")


def _takes_iterators(function: Any) -> bool:
    """Whether a call leaves it to others to go over iterators among its arguments."""
    if isinstance(function, (Closure, Record, partial, types.MethodType)) or function is partial:
        return True
    if isinstance(function, types.FunctionType):
        return not is_library(function) and known_function(function) is None
    if _is_of_container(function) and function.__name__ in STORING:
        return True
    return is_hashable(function) and (function in ITERATOR_FUNCTIONS or function in SPECIAL)


def _takes_a_number(function: Any, positional: list[Any], keywords: Keywords) -> bool:
    """Whether a call takes a number of items of an iterator, and leaves the others: ``np.fromiter`` with `count`."""
    return function is np.fromiter and (len(positional) > 2 or "count" in keywords)


def _exception(frame: Frame, node: ast.Call, cls: Any, positional: list[Any], keywords: Keywords) -> Any:
    """An exception: Python's, or an object of the program where its class has an ``__init__`` or values are data.

    Where it is raised, one of Python's that has only a text stands for such an object.
    """
    b, constructor = frame.b, member(cls, "__init__")
    given = [one for one in (*positional, *keywords.values()) if not isinstance(one, RunTimeText)]
    if is_real(given) and constructor not in b.methods:
        return b.python(cls, *positional, **keywords)
    record = Record(cls, containers.tracked(b, {}))
    _in_turn(frame, node, constructor, [record, *positional], keywords)
    thrown_for(b, record, source_text(node))
    return record


def _of_text(frame: Frame, node: ast.Call, method: Any, positional: list[Any], keywords: Keywords) -> Any:
    """A call of a method of a string: its value where all is known while parsing, else its source."""
    if is_plain([method.__self__, *positional, *keywords.values()]):
        return frame.b.python(method, *positional, **keywords)
    require_known(method.__self__, frame.b.where)
    if method.__name__ == "format" and not keywords:
        text = method.__self__
        return RunTimeText.of(source_text(node), positional, lambda *known: text.format(*known))
    return RunTimeText(source_text(node))


def _is_numpy(function: Any) -> bool:
    """Whether a function is one of NumPy's, or of those of SciPy that draw no random numbers."""
    module = (getattr(function, "__module__", "") or "") + "."
    return callable(function) and module.startswith(PURE) and getattr(function, "__name__", "") != "rvs"


def _known(frame: Frame, node: ast.Call, known: Known, original: Any, positional: list[Any], keywords: Keywords) -> Any:
    if known.keyed is not None and keywords.get("key") is not None:
        by_key = OF_FILTERED[known.keyed] if masked_lists.is_filtered(positional[0]) else known.keyed
        return inlined(frame, node, by_key, positional, keywords, is_definition=True)
    if known.keyed is not None and not is_static((positional, keywords)) and _are_tuples(node, positional):
        return inlined(frame, node, known.keyed, positional, {**keywords, "key": itself}, is_definition=True)
    are_texts = any(map(_is_of_texts, (*positional, *keywords.values())))
    if are_texts and not is_static((positional, keywords)):
        raise frame.unsupported(
            node, "an array of strings beside data is not supported", "Number the strings, and use these."
        )
    if (known.static or are_texts) and original is not None and is_static((positional, keywords)):
        return _as_values(frame.b, frame.b.python(original, *positional, **keywords))
    if known.is_definition:
        is_direct = frame.direct is node
        return inlined(frame, node, known.handler, positional, keywords, is_definition=True, is_direct=is_direct)
    return handled(frame, node, known.handler, positional, keywords)


def _is_of_texts(value: Any) -> bool:
    """Whether a value is an array of strings, or a sequence with some (not of more levels: a list may hold itself)."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind == "U" for part in parts)


def _are_tuples(node: ast.Call, positional: list[Any]) -> bool:
    """Whether items, of which one is chosen, are tuples, which have a lexicographic order."""
    items = positional[0] if len(positional) == 1 else positional
    if isinstance(items, (tuple, list)):
        return any(isinstance(item, tuple) for item in items)
    made = node.args[0] if len(node.args) == 1 else None
    return isinstance(made, ast.GeneratorExp) and isinstance(made.elt, ast.Tuple)


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
    if is_sparse(result):
        return sparse.constant(b, result)
    return tuple(_as_values(b, part) for part in result) if type(result) is tuple else result


def extend(frame: Frame, node: ast.AugAssign, values: list[Any], more: Any) -> None:
    """``values += more`` or ``values *= more`` of a list, in place."""
    if isinstance(node.op, ast.Add):
        containers.extend(frame.b, values, as_sequence(frame, node, more))
        return
    containers.require_current(frame.b, values)
    if isinstance(node.op, ast.Mult) and isinstance(more, int):
        values *= more
    else:
        raise frame.unsupported(
            node, "this update of a list is not supported", "Add a list, `values += more`, or use append."
        )
