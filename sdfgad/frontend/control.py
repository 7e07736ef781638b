"""Loops and branches: what runs, and what names hold afterwards.

A name that is re-bound in a loop and whose old value matters becomes storage that every trip reads and rewrites.
Which names those are, and their dtypes, is found by running the body until nothing changes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.errors import ArgumentError, Location, UnboundVariable
from sdfgad.frontend.builder import Builder, NeedsConstant
from sdfgad.frontend.functions.elementwise import elementwise, to_bool
from sdfgad.frontend.functions.python import int_
from sdfgad.frontend.indexing import getitem
from sdfgad.frontend.liveness import assigned_names, is_exposed, is_read_outside
from sdfgad.frontend.values import (
    AfterLoop,
    Tensor,
    Unbound,
    as_tensor,
    is_integer,
    is_number,
    is_static,
    scalar,
)
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Op, Read, symbols_of
from sdfgad.ir.linear import Lin, as_linear
from sdfgad.ir.program import walk

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame

UNROLL_LIMIT = 256


@dataclass(frozen=True)
class Return:
    """A return statement was reached."""

    value: Any
    where: Location | None


@dataclass(frozen=True)
class Range:
    """``range(start, stop, step)`` with bounds known at run time and a step known while parsing."""

    start: Lin
    stop: Lin
    step: int

    @staticmethod
    def of(b: Builder, arguments: list[Any]) -> Range:
        bounds = [_bound(b, value) for value in arguments]
        if len(bounds) == 1:
            bounds = [Lin(0), *bounds]
        step = b.constant(bounds[2]) if len(bounds) > 2 else 1
        if step == 0:
            raise b.unsupported("range() step must not be zero")
        return Range(bounds[0], bounds[1], step)

    @property
    def trips(self) -> Lin:
        """The number of trips; negative or zero for none."""
        span = self.stop - self.start if self.step > 0 else self.start - self.stop
        size = abs(self.step)
        if size == 1:
            return span
        if span.is_const:
            return Lin(-(-span.const // size))
        return as_linear(Op("floor_divide", (Int(span + size - 1), Const(size, INT)), INT))

    def index(self, trip: Lin) -> Lin:
        return self.start + trip.scaled(self.step)

    def guards(self, trip: Lin) -> tuple[Lin, ...]:
        """Forms that are >= 0 exactly for the trips that run."""
        inside = self.stop - self.index(trip) if self.step > 0 else self.index(trip) - self.stop
        return (trip, inside - 1)


def _bound(b: Builder, value: Any) -> Lin:
    if is_integer(value):
        return Lin.of(value if isinstance(value, Lin) else int(value))
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        return Lin.of(int_(b, value))
    raise b.unsupported(f"a range bound that is not an integer: {value!r}", "Convert it with int(...).")


# --- conditions


def both(b: Builder, x: Any, y: Any) -> Any:
    return _logical(b, "logical_and", x, y)


def either(b: Builder, x: Any, y: Any) -> Any:
    return _logical(b, "logical_or", x, y)


def _logical(b: Builder, name: str, x: Any, y: Any) -> Any:
    if is_static(x) and is_static(y):
        return (x and y) if name == "logical_and" else (x or y)
    left, right = as_tensor(x), as_tensor(y)
    if left.ndim or right.ndim:
        raise b.unsupported("the truth value of an array is ambiguous", "Use np.any, np.all, & or |.")
    return scalar(Op(name, (to_bool(left.at()), to_bool(right.at())), BOOL))


def decided(b: Builder, condition: Expr) -> Any:
    """True or False where a comparison of integers has one value here, else the comparison."""
    forms, negated = affine_forms(condition), affine_forms(condition, negate=True)
    if forms is not None and all(b.domain.implies(f) for f in forms):
        return True
    if negated is not None and all(b.domain.implies(f) for f in negated):
        return False
    return scalar(condition)


def affine_forms(condition: Expr, negate: bool = False) -> tuple[Lin, ...] | None:
    """Linear forms that are all >= 0 exactly where the condition (or its negation) holds, if there are any."""
    if not isinstance(condition, Op):
        return None
    if condition.name == ("logical_or" if negate else "logical_and"):
        parts = [affine_forms(arg, negate) for arg in condition.args]
        return None if any(p is None for p in parts) else tuple(f for p in parts if p for f in p)
    if len(condition.args) != 2 or any(arg.dtype != INT for arg in condition.args):
        return None
    x, y = (as_linear(arg) for arg in condition.args)
    name = _NEGATED.get(condition.name, "") if negate else condition.name
    table = {"less": (y - x - 1,), "less_equal": (y - x,), "greater": (x - y - 1,), "greater_equal": (x - y,)}
    return (x - y, y - x) if name == "equal" else table.get(name)


_NEGATED = {
    "less": "greater_equal",
    "less_equal": "greater",
    "greater": "less_equal",
    "greater_equal": "less",
    "not_equal": "equal",
}


def _is_integer_condition(condition: Expr) -> bool:
    """Whether a condition depends on loop counters and run-time integers alone."""
    from sdfgad.ir.expr import reads

    return not reads(condition)


def settled(frame: Frame, node: ast.Name, value: Any) -> Any:
    """The value of a name, once it is certain that it has one."""
    where = frame.source.where(node)
    if isinstance(value, AfterLoop):
        if not frame.b.holds(value.trips - 1):
            raise UnboundVariable(
                f"`{node.id}` is bound only inside a loop that may not run",
                where,
                "Assign it before the loop.",
            )
        frame.env[node.id] = value.value
        return settled(frame, node, value.value)
    if isinstance(value, Unbound):
        raise UnboundVariable(f"`{node.id}` may have no value here: {value.reason}", where, "Assign it before.")
    return value


# --- branches


def branch(frame: Frame, node: ast.If) -> Return | None:
    """An ``if``: decided while parsing where its condition is known, else both bodies are parsed."""
    test = frame.eval(node.test)
    if is_static(test):
        return frame.block(node.body if test else node.orelse)
    b = frame.b
    tensor = as_tensor(test)
    if tensor.ndim:
        raise frame.unsupported(node.test, "the truth value of an array is ambiguous")
    condition = to_bool(tensor.at())
    if not _is_integer_condition(condition):
        # Fixed before either body can change what it was made from.
        condition = b.materialise(scalar(condition), "taken").at()
    here, before = b.where, dict(frame.env)
    ends = []
    for body, negate in ((node.body, False), (node.orelse, True)):
        frame.env = dict(before)
        with b.block(*(affine_forms(condition, negate) or ())) as statements:
            if frame.block(body) is not None:
                raise frame.unsupported(node, "`return` inside a branch that is decided at run time is not supported")
        ends.append((frame.env, statements))
    b.where = here
    frame.env = _merge(b, before, ends)
    b.branch(condition, ends[0][1], ends[1][1], affine_forms(condition) or ())
    return None


def _merge(b: Builder, before: dict[str, Any], ends: list[tuple[dict[str, Any], Any]]) -> dict[str, Any]:
    (then, then_block), (orelse, else_block) = ends
    merged = dict(before)
    for name in {**then, **orelse}:
        x, y = (
            then.get(name, Unbound("one branch does not assign it")),
            orelse.get(name, Unbound("one branch does not assign it")),
        )
        if x is y or _same_static(x, y):
            merged[name] = x
        elif isinstance(x, (Unbound, AfterLoop)) or isinstance(y, (Unbound, AfterLoop)):
            merged[name] = Unbound("one branch does not assign it")
        else:
            merged[name] = _joined(b, name, [(x, then_block), (y, else_block)])
    return merged


def _joined(b: Builder, name: str, ends: list[tuple[Any, list[Any]]]) -> Tensor:
    """Storage that each branch fills with its own value of a name."""
    tensors = [_as_mergeable(b, name, value) for value, _ in ends]
    shape = _same_shape(b, name, tensors)
    dtype, weak = _common_type(tensors)
    result = b.new_view(name, shape, dtype, weak)
    for tensor, (_, block) in zip(tensors, ends, strict=True):
        b.blocks.append(block)
        b.assign(result, tensor)
        b.blocks.pop()
    return result


def _same_static(x: Any, y: Any) -> bool:
    if is_number(x) and is_number(y):
        return type(x) is type(y) and x == y
    return is_integer(x) and is_integer(y) and Lin.of(x) == Lin.of(y)


def _as_mergeable(b: Builder, name: str, value: Any) -> Tensor:
    if is_number(value) or isinstance(value, (Tensor, Lin)):
        return as_tensor(value)
    raise b.unsupported(f"`{name}` is re-bound to a {type(value).__name__} in a branch or loop")


def _same_shape(b: Builder, name: str, tensors: list[Tensor]) -> Any:
    first, *rest = tensors
    for other in rest:
        if len(other.shape) != len(first.shape) or not all(
            b.is_zero(x - y) for x, y in zip(first.shape, other.shape, strict=True)
        ):
            raise b.unsupported(f"`{name}` changes its shape in a branch or loop", "Use another name.")
    return first.shape


def _common_type(tensors: list[Tensor]) -> tuple[np.dtype[Any], bool]:
    return np.result_type(*(t.dtype for t in tensors)), all(t.weak for t in tensors)


# --- loops


def for_loop(frame: Frame, node: ast.For) -> Return | None:
    """A ``for`` over a range, an array's leading axis, or a sequence known while parsing (unrolled)."""
    if node.orelse:
        raise frame.unsupported(node, "`else` on a loop is not supported")
    iterable = frame.eval(node.iter)
    if isinstance(iterable, Range):
        return _counted(frame, node, iterable, lambda index: index)
    if isinstance(iterable, Tensor):
        rows = Range(Lin(0), iterable.shape[0], 1)
        return _counted(frame, node, rows, lambda index: getitem(frame.b, iterable, index))
    try:
        values = list(iterable)
    except TypeError:
        raise frame.unsupported(node.iter, f"a loop over a {type(iterable).__name__} is not supported") from None
    return _unrolled(frame, node, values)


def _unrolled(frame: Frame, node: ast.For, values: list[Any]) -> Return | None:
    for value in values:
        frame.bind(node.target, value)
        result = frame.block(node.body)
        if result is not None:
            return result
    return None


def _counted(frame: Frame, node: ast.For, span: Range, item: Callable[[Any], Any]) -> Return | None:
    b = frame.b
    trips = span.trips
    if b.domain.implies(-trips):
        return None
    if symbols_of(Int(trips)) <= set(b.integers) and not b.holds(trips):
        raise NeedsConstant(b.symbols_behind(trips), b.where)
    start = b.snapshot(), dict(frame.env)
    base = node.target.id if isinstance(node.target, ast.Name) else "k"
    carried: dict[str, Tensor] = {}
    while True:
        b.restore(start[0])
        frame.env = dict(start[1])
        var = b.fresh(base)
        try:
            again = _attempt(frame, node, span, item, var, carried)
        except NeedsConstant as need:
            if not (var in need.symbols and trips.is_const and trips.const <= UNROLL_LIMIT):
                raise
            b.restore(start[0])
            frame.env = dict(start[1])
            return _unrolled(frame, node, [item(_settle(span.index(Lin(k)))) for k in range(trips.const)])
        if not again:
            return None


def _settle(index: Lin) -> Any:
    return index.const if index.is_const else index


def _attempt(frame: Frame, node: ast.For, span: Range, item: Any, var: str, carried: dict[str, Tensor]) -> bool:
    """Parse the loop with the names in `carried` in storage; True if that turned out not to be enough."""
    b, here = frame.b, frame.b.where
    stores = {name: _start_carry(b, name, frame.env[name], like) for name, like in carried.items()}
    outside = {**frame.env, **stores}
    frame.env = dict(outside)
    trip = Lin.symbol(var)
    with b.block(*span.guards(trip)) as body:
        frame.loops.append(node)
        frame.bind(node.target, item(_settle(span.index(trip))))
        if frame.block(node.body) is not None:
            raise frame.unsupported(node, "`return` inside a loop that runs at run time is not supported")
        frame.loops.pop()
        b.where = here
        inside = frame.env
        if _missing(frame, node, outside, inside, carried):
            return True
        _refuse_lost_writes(b, stores, start_env=outside, body=body)
        _end_carry(b, stores, inside)
    b.loop(var, span.trips, span.guards(trip), body)
    frame.env = _after(outside, inside, stores, span, var)
    return False


def _start_carry(b: Builder, name: str, value: Any, like: Tensor) -> Tensor:
    store = b.new_view(name, like.shape, like.dtype, like.weak)
    b.assign(store, value)
    return store


def _missing(
    frame: Frame, node: ast.For, outside: dict[str, Any], inside: dict[str, Any], carried: dict[str, Tensor]
) -> bool:
    """Note the names that must be carried, or carried in a wider dtype, in `carried`."""
    b, found = frame.b, False
    for name in sorted(assigned_names(node)):
        old, new = outside.get(name), inside.get(name)
        if name not in outside or old is new or _same_static(old, new) or isinstance(old, (Unbound, AfterLoop)):
            continue
        if not _must_carry(frame, node, name):
            continue
        tensors = [_as_mergeable(b, name, old), _as_mergeable(b, name, new)]
        shape = _same_shape(b, name, tensors)
        dtype, weak = _common_type(tensors)
        if name in carried and (carried[name].dtype, carried[name].weak) == (dtype, weak):
            continue
        carried[name] = Tensor(shape, dtype, tensors[0].element, None, weak)
        found = True
    return found


def _must_carry(frame: Frame, node: ast.For, name: str) -> bool:
    return is_exposed(node.body, name) or is_read_outside(frame.source.node, node, frame.loops, name)


def _refuse_lost_writes(b: Builder, stores: dict[str, Tensor], start_env: dict[str, Any], body: list[Any]) -> None:
    """A carried array is a copy: writes into it in place would not reach the array it started from."""
    buffers = {t.place(tuple(Lin(0) for _ in t.shape)).buffer: n for n, t in stores.items() if t.ndim and t.place}
    for statement in walk(tuple(body)):
        target = getattr(statement, "target", None)
        if target is not None and target.buffer in buffers:
            raise b.unsupported(
                f"`{buffers[target.buffer]}` is both changed in place and re-bound in a loop",
                "Use one name for the array that changes in place and another for the new array.",
            )


def _end_carry(b: Builder, stores: dict[str, Tensor], inside: dict[str, Any]) -> None:
    """Write the values that a trip ends with into the storage of carried names, all as if at once."""
    changed = {n: as_tensor(inside[n]) for n, store in stores.items() if inside[n] is not store}
    if len(changed) > 1:
        names = {_buffer(store) for store in stores.values()}
        changed = {n: b.materialise(v) if _touches(v, names - {_buffer(stores[n])}) else v for n, v in changed.items()}
    for name, value in changed.items():
        b.assign(stores[name], value)


def _buffer(store: Tensor) -> str:
    assert store.place is not None
    return store.place(tuple(Lin(0) for _ in store.shape)).buffer


def _touches(value: Tensor, buffers: set[str]) -> bool:
    element = value.at(*(Lin(0) for _ in value.shape))
    return isinstance(element, Read) and element.buffer in buffers


def _after(
    outside: dict[str, Any], inside: dict[str, Any], stores: dict[str, Tensor], span: Range, var: str
) -> dict[str, Any]:
    """What names hold after a loop: the values of its last trip."""
    last = {var: span.trips - 1}
    result = dict(outside)
    for name, value in inside.items():
        if name in stores:
            result[name] = stores[name]
        elif name not in outside:
            result[name] = AfterLoop(_moved(value, last), span.trips)
        elif value is not outside[name] and not _same_static(value, outside[name]):
            result[name] = Unbound("it is re-bound in a loop")
    return result


def _moved(value: Any, last: dict[str, Lin]) -> Any:
    if isinstance(value, Tensor):
        return value.substituted(last)
    if isinstance(value, Lin):
        moved = value.substitute(last)
        return moved.const if moved.is_const else moved
    return value


# --- calls


def bind_parameters(
    frame: Frame, node: ast.Call, function: Any, positional: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """The local names of a helper at its start."""
    try:
        bound = inspect.signature(function).bind(*positional, **keywords)
    except TypeError as error:
        where = frame.source.where(node)
        raise ArgumentError(
            f"the call does not fit `{function.__name__}`: {error}", where, "Check the call."
        ) from error
    bound.apply_defaults()
    return dict(bound.arguments)


__all__ = ["elementwise"]
