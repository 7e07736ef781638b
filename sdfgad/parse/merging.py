"""Phi nodes: the value of a name where several paths of a program meet.

Each path copies its value to common storage. A name of an array is a reference in Python, so the copy is valid only
until one of the arrays that the name may alias is written; `Tensor.copy` has their buffers.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import Location, Rebound, UnboundVariable
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, reads
from sdfgad.parse import chosen_objects, chosen_texts, containers, mixed_dtypes, sharing, trees, truth_values
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import RESULT
from sdfgad.parse.values import (
    ABSENT,
    UNDEFINED,
    AfterLoop,
    MaybeBound,
    MaybeNone,
    Record,
    Selection,
    Tensor,
    Text,
    Unbound,
    as_tensor,
    is_integer,
    is_member,
    is_number,
    kind_of,
    scalar,
)
from sdfgad.parse.versions import stale

NUMBERS = "Use numbers or arrays for what changes there: 0 and 1 instead of strings or functions, say."
SAME_KIND = "Assign values of one kind to it: lists or tuples of the same length, dicts with the same keys."
SAME_SHAPE = (
    "Use an array of one size, np.zeros(n), say, and write parts of it: y[:k] = ...; or use a name for each shape."
)


def bound_value(frame: Frame, node: ast.Name, value: Any) -> Any:
    """The value of a name that is read; checks that it is bound, and that a copy of an aliased array is not stale."""
    where = frame.where(node)
    if isinstance(value, AfterLoop):
        _require_run(frame, node.id, value.trips, where)
        frame.env[node.id] = value.value
        return bound_value(frame, node, value.value)
    if isinstance(value, MaybeBound):
        what = f"`{node.id}` has no value here: no path that was taken has assigned it"
        if value.bound is not True:
            frame.checked_names.add(node.id)
            frame.b.check(truth_of(value.bound), (), what, UnboundVariable, "Assign it on all paths, or before them.")
        return bound_value(frame, node, value.value)
    if isinstance(value, Unbound) and value.error is not None:
        raise value.error
    if isinstance(value, Unbound):
        what = f"`{node.id}` may have no value here: {value.reason}"
        raise UnboundVariable(what, where, "Assign it on all paths, or before them.", name=node.id)
    if isinstance(value, MaybeNone):
        return replace(value, value=bound_value(frame, node, value.value))
    if isinstance(value, Tensor):
        frame.b.versions.require_current(value, f"`{node.id}`", where)
    elif isinstance(value, (tuple, list, dict, Record)):
        containers.require_latest(frame.b, value, f"`{node.id}`", where)
    return value


def _require_run(frame: Frame, name: str, trips: Lin, where: Location | None) -> None:
    """Require that the loop that binds `name` has a trip; by a run-time check if the trip count is data."""
    b = frame.b
    if b.holds(trips - 1):
        return
    what, todo = f"`{name}` is bound only inside a loop that may not run", "Assign it before the loop."
    if not reads(Int(trips)):
        raise UnboundVariable(what, where, todo, name=name)
    frame.checked_names.add(name)
    did_run = Op("greater", (Int(trips), Const(0, INT)), BOOL)
    b.check(did_run, (), f"`{name}` is bound only inside a loop that did not run", UnboundVariable, todo)


def truth_of(bound: Any) -> Expr:
    return as_tensor(bound).at()


def phi(
    b: Builder,
    name: str,
    ends: list[tuple[Any, list[Any]]],
    sources: Callable[[int, Any], set[str]],
    masks: dict[Any, Any] | None = None,
) -> Any:
    """The value of a name after several blocks: for each leaf, storage that each block assigns its value to.

    Args:
        ends: each block's value, and its statements, to which the copies are added.
        sources: position in `ends`, and a leaf of that value -> the buffers that the leaf may alias.
        masks: cache of merged masks, so that selections that share a mask before share one after.

    Raises:
        Rebound: the values differ in structure or shape, or are no numbers or arrays.
    """
    values = trees.matched(unified(b, [value for value, _ in ends], len(b.blocks), joins_none=True))
    if values is None:
        raise _of_kinds(name, b, [value for value, _ in ends])
    parts: list[Any] = []
    for choices in zip(*map(trees.leaves, values), strict=True):
        found = {buffer for end, leaf in enumerate(choices) for buffer in sources(end, leaf)}
        pairs = list(zip(choices, [block for _, block in ends], strict=True))
        if masks is not None and isinstance(values[0], Selection) and len(parts) == 1:
            key = tuple(map(mask_key, choices))
            if key not in masks:
                masks[key] = _phi_leaf(b, name, pairs, found)
            parts.append(masks[key])
        else:
            parts.append(_phi_leaf(b, name, pairs, found))
    same = sharing.same_containers(values)
    return containers.tracked_parts(b, trees.rebuilt(values[0], parts, same), len(b.blocks), same)


def _of_kinds(name: str, b: Builder, values: list[Any]) -> Rebound:
    error = Rebound(f"{called(name)} is of different kinds on the ways to here", b.where, SAME_KIND)
    error.is_of_object = _differ_in_class(values)
    return error


def _differ_in_class(values: list[Any]) -> bool:
    """Whether values are objects of several classes, or tuples with such ones."""
    values = [value.value if isinstance(value, MaybeBound | MaybeNone) else value for value in values]
    known = [value for value in values if value is not UNDEFINED and value is not None]
    if all(isinstance(value, Record) for value in known):
        return len({value.cls for value in known}) > 1
    are_tuples = all(isinstance(value, tuple) for value in known) and len({len(value) for value in known}) == 1
    return are_tuples and any(_differ_in_class(list(parts)) for parts in zip(*known, strict=True))


def called(name: str) -> str:
    """A name in an error message; what a function returns has none of the user's."""
    return "what a function returns here" if name == RESULT else f"`{name}`"


def mask_key(mask: Tensor) -> Any:
    """A key that is equal for equal masks."""
    return mask.shape, mask.element(tuple(Lin.symbol(f"m{axis}_") for axis in range(mask.ndim)))


def _phi_leaf(b: Builder, name: str, ends: list[tuple[Any, list[Any]]], sources: set[str]) -> Any:
    first = ends[0][0]
    if all(value is first or is_same(value, first) for value, _ in ends[1:]):
        return first
    tensors = [as_mergeable(b, name, value) for value, _ in ends]
    shape = same_shape(b, name, tensors)
    mixed_dtypes.require_alike(b, name, known_ones(tensors))
    dtype, weak = common_type(tensors)
    least = mixed_dtypes.lowest(b, known_ones(tensors))
    result = b.new_view(name, shape, dtype, weak)
    mixed_dtypes.mark(b, result, least)
    result = replace(result, types=truth_values.joined(known_ones(tensors)))
    for tensor, (_, block) in zip(tensors, ends, strict=True):
        b.blocks.append(block)
        b.refer(result, tensor)
        b.blocks.pop()
    result = replace(b.ordered(result, *tensors), read_only=any(tensor.read_only for tensor in tensors))
    return value_in_storage(b, result, sources)


def value_in_storage(b: Builder, store: Tensor, sources: set[str]) -> Tensor:
    """The value of a name whose storage is `store`: a copy, if it may alias the arrays in `sources`."""
    if sources:
        return replace(b.versions.copy_of(store, sources), settled=True)
    return store.result


def unified(b: Builder, values: list[Any], depth: int, joins_none: bool = False) -> list[Any]:
    """Values in a common representation: all as `MaybeBound` if one may be unbound, all as `Selection` if one is.

    Args:
        depth: that of the block outside which objects must have been made of which one is chosen.
        joins_none: whether None and others become `MaybeNone`, and not only where one is such already, or an object
            that is known by its place.
    """
    if any(isinstance(value, MaybeBound) or value is ABSENT for value in values):
        maybes = [as_maybe_bound(value) for value in values]
        inner = unified(b, [maybe.value for maybe in maybes], depth, joins_none)
        return [MaybeBound(value, maybe.bound) for value, maybe in zip(inner, maybes, strict=True)]
    if chosen_texts.are_texts([value for value in values if value is not UNDEFINED]):
        return chosen_texts.unified(values)
    is_none = [value is None for value in values if value is not UNDEFINED]
    joins_none = joins_none or chosen_objects.is_any(b, values)
    if any(isinstance(value, MaybeNone) for value in values) or (joins_none and any(is_none) and not all(is_none)):
        options = [as_maybe_none(value) for value in values]
        inner = unified(b, [option.value for option in options], depth)
        return [MaybeNone(value, option.there) for value, option in zip(inner, options, strict=True)]
    like = next((value for value in values if isinstance(value, Selection)), None)
    if like is None:
        return chosen_texts.unified(chosen_objects.unified(b, values, depth))
    return [like.all_of(v) if isinstance(v, Tensor) and v.ndim == like.dense.ndim else v for v in values]


def as_maybe_bound(value: Any) -> MaybeBound:
    """A value, or `ABSENT`, as a `MaybeBound`."""
    if isinstance(value, MaybeBound):
        return value
    if isinstance(value, AfterLoop):
        return MaybeBound(value.value, scalar(Op("greater", (Int(value.trips), Const(0, INT)), BOOL)))
    return MaybeBound(UNDEFINED, False) if value is ABSENT else MaybeBound(value, True)


def as_maybe_none(value: Any) -> MaybeNone:
    """A value, or None, as a `MaybeNone`."""
    if isinstance(value, MaybeNone):
        return value
    return MaybeNone(UNDEFINED, False) if value is None else MaybeNone(value, value is not UNDEFINED)


def is_unmergeable(value: Any) -> bool:
    """Whether a name has a value in Python that has no representation here, so reading the name is an error."""
    return isinstance(value, Unbound) and value is not ABSENT


PLACEHOLDER = scalar(Const(0, BOOL), weak=True)


def is_same(x: Any, y: Any) -> bool:
    """Whether two values are one number, or one array, that the program has made twice."""
    if is_number(x) and is_number(y):
        # The zeros of either sign are equal, and two numbers.
        return type(x) is type(y) and x == y and repr(x) == repr(y)
    if is_integer(x) and is_integer(y):
        return Lin.of(x) == Lin.of(y)
    return isinstance(x, Tensor) and isinstance(y, Tensor) and _is_same_view(x, y)


def _is_same_view(x: Tensor, y: Tensor) -> bool:
    """Whether two arrays are one view, made twice: of the same elements of one array, in one order."""
    if x.place is None or y.place is None or x.ndim != y.ndim:
        return False
    if (x.dtype, x.part, x.read_only, x.copy) != (y.dtype, y.part, y.read_only, y.copy):
        return False
    index = tuple(Lin.symbol(f"axis {axis}") for axis in range(x.ndim))
    return x.place(index) == y.place(index) and all(map(operator.eq, x.shape, y.shape))


def as_mergeable(b: Builder, name: str, value: Any) -> Tensor:
    if value is UNDEFINED:
        return PLACEHOLDER
    if b.versions.is_stale(value):
        # Python has the array as it is now; unrolled, the program may say which one it is.
        raise Rebound(
            stale(f"`{name}`", value.copy, b.where).what, b.where, "Copy the array where it is assigned: y = x.copy()."
        )
    if (is_number(value) and not is_member(value)) or isinstance(value, (Tensor, Lin)):
        return as_tensor(value)
    if isinstance(value, Text) and b.numbers_texts:
        return as_tensor(chosen_texts.number(b, value.value))
    what = f"{called(name)} is re-bound to {kind_of(value)} in a loop or branch that is decided only at run time"
    error = Rebound(what, b.where, NUMBERS)
    error.is_of_text = isinstance(value, Text) or is_member(value)
    raise error


def same_shape(b: Builder, name: str, tensors: list[Tensor]) -> Any:
    known = known_ones(tensors)
    if not has_one_shape(b, known):
        raise Rebound(f"{called(name)} changes its shape in a branch or loop", b.where, SAME_SHAPE)
    return known[0].shape


def known_ones(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor for tensor in tensors if tensor is not PLACEHOLDER]


def has_one_shape(b: Builder, tensors: list[Tensor]) -> bool:
    first, *rest = (tensor.shape for tensor in tensors)
    same = (len(shape) == len(first) and all(map(b.is_zero, map(operator.sub, shape, first))) for shape in rest)
    return all(same)


def common_type(tensors: list[Tensor]) -> tuple[np.dtype[Any], bool]:
    tensors = known_ones(tensors)
    # A boolean takes the precision of what it is combined with, as a number of Python does.
    weak = all(t.weak or (t.dtype.kind == "b" and not t.ndim) for t in tensors) and any(
        t.weak and t.dtype.kind != "b" for t in tensors
    )
    if weak or all(t.weak for t in tensors):
        return np.result_type(*(t.dtype for t in tensors)), True
    # A weak Python number takes the precision of a NumPy value, as in NumPy's promotion.
    zeros = {"b": False, "i": 0, "f": 0.0, "c": 0j}
    return np.result_type(*(zeros.get(t.dtype.kind, t.dtype) if t.weak else t.dtype for t in tensors)), False
