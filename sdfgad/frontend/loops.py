"""``for`` loops, and what names hold in them and afterwards.

A name that is re-bound in a loop and whose old value matters becomes storage that every trip reads and rewrites.
Which names those are, and their dtypes, is found by parsing the body until nothing changes. Where the first trip
updates an array in place that others refer to, and later trips arrays of the loop's own, the first trip is peeled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.errors import UpdateOfCopy
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.control import Return
from sdfgad.frontend.functions.python import int_
from sdfgad.frontend.indexing import getitem
from sdfgad.frontend.liveness import assigned_names, is_exposed, is_read_outside
from sdfgad.frontend.merging import as_mergeable, as_name, common_type, refers, same_shape, same_static, shared, stale
from sdfgad.frontend.values import AfterLoop, Tensor, Unbound, as_tensor, is_integer
from sdfgad.ir.expr import INT, Const, Int, Op, reads
from sdfgad.ir.linear import Lin, as_linear
from sdfgad.ir.specialise import NeedsConstant

if TYPE_CHECKING:
    from sdfgad.frontend.interpreter import Frame

UNROLL_LIMIT = 256

Env = dict[str, Any]
Item = Callable[[Any], Any]


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

    def index(self, trip: Lin) -> Any:
        index = self.start + trip.scaled(self.step)
        return index.const if index.is_const else index

    def guards(self, trip: Lin) -> tuple[Lin, ...]:
        """Forms that are >= 0 exactly for the trips that run."""
        index = self.start + trip.scaled(self.step)
        inside = self.stop - index if self.step > 0 else index - self.stop
        return (trip, inside - 1)


def _bound(b: Builder, value: Any) -> Lin:
    if is_integer(value):
        return Lin.of(value if isinstance(value, Lin) else int(value))
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        return Lin.of(int_(b, value))
    raise b.unsupported(f"a range bound that is not an integer: {value!r}", "Convert it with int(...).")


@dataclass(frozen=True)
class Carry:
    """How a name is carried from trip to trip; `sources`: arrays from before the loop that it may refer to."""

    shape: tuple[Lin, ...]
    dtype: np.dtype[Any]
    weak: bool
    sources: frozenset[str]


def for_loop(frame: Frame, node: ast.For) -> Return | None:
    """A ``for`` over a range, an array's leading axis, or a sequence known while parsing (unrolled)."""
    b = frame.b
    if node.orelse:
        raise frame.unsupported(node, "`else` on a loop is not supported")
    iterable = frame.eval(node.iter)
    if isinstance(iterable, Range):
        return _counted(frame, node, iterable, lambda index: index)
    if isinstance(iterable, Tensor):
        array = b.settle(iterable)
        return _counted(frame, node, Range(Lin(0), array.shape[0], 1), lambda index: getitem(b, array, index))
    try:
        values = list(iterable)
    except TypeError:
        raise frame.unsupported(node.iter, f"a loop over a {type(iterable).__name__} is not supported") from None
    return _unrolled(frame, node, values)


def _unrolled(frame: Frame, node: ast.For, values: list[Any]) -> Return | None:
    for value in values:
        frame.bind(node.target, value() if callable(value) else value)
        result = frame.block(node.body)
        if result is not None:
            return result
    return None


class _Peel(Exception):
    """The first trip must be parsed by itself."""

    def __init__(self, reason: UpdateOfCopy) -> None:
        self.reason = reason


def _peeled(frame: Frame, node: ast.For, span: Range, item: Item, reason: UpdateOfCopy) -> Return | None:
    """The first trip, where it is certain to run, and then the loop over the others."""
    b = frame.b
    if b.holds(-span.trips):
        return None
    if not b.holds(span.trips - 1):
        raise reason
    frame.bind(node.target, item(span.index(Lin(0))))
    result = frame.block(node.body)
    for name in assigned_names(node.target):
        if not is_read_outside(frame.source.node, node, frame.loops, name):
            frame.env.pop(name, None)
    if result is not None:
        return result
    try:
        return _counted(frame, node, Range(span.start + span.step, span.stop, span.step), item, may_peel=False)
    except UpdateOfCopy:
        raise reason from None


def _counted(frame: Frame, node: ast.For, span: Range, item: Item, may_peel: bool = True) -> Return | None:
    b, trips = frame.b, span.trips
    symbols = {atom for atom, _ in trips.terms}
    if symbols and symbols <= set(b.integers) and not b.holds(trips):
        # A tape must never have a negative length: other signs get a specialisation of their own.
        raise NeedsConstant(b.symbols_behind(trips), b.where)
    state, env = b.snapshot(), dict(frame.env)
    base = node.target.id if isinstance(node.target, ast.Name) else "k"
    carried: dict[str, Carry] = {}
    depth = len(frame.loops)
    while True:
        b.restore(state)
        frame.env = dict(env)
        var = b.fresh(base)
        try:
            if _attempt(frame, node, span, item, var, carried):
                return None
        except _Peel as peel:
            if not may_peel:
                raise peel.reason from None
            b.restore(state)
            frame.env = dict(env)
            del frame.loops[depth:]
            return _peeled(frame, node, span, item, peel.reason)
        except NeedsConstant as need:
            if not (var in need.symbols and trips.is_const and trips.const <= UNROLL_LIMIT):
                raise
            b.restore(state)
            frame.env = dict(env)
            del frame.loops[depth:]
            return _unrolled(frame, node, [lambda k=k: item(span.index(Lin(k))) for k in range(trips.const)])


def _attempt(frame: Frame, node: ast.For, span: Range, item: Item, var: str, carried: dict[str, Carry]) -> bool:
    """Parse the loop with the names in `carried` in storage; False if these turned out not to be all."""
    b, here, trip = frame.b, frame.b.where, Lin.symbol(var)
    old_buffers = frozenset(b.buffers)
    stores = {name: _start_carry(b, name, frame.env[name], carry) for name, carry in carried.items()}
    outside = frame.env | {name: _in_loop(b, stores[name], carried[name]) for name in stores}
    frame.env = dict(outside)
    with b.block(*span.guards(trip)) as body:
        b.loops.append((len(b.blocks), var, span.trips))
        frame.loops.append(node)
        frame.bind(node.target, item(span.index(trip)))
        if _body(frame, node, stores) is not None:
            raise frame.unsupported(node, "`return` inside a loop that runs at run time is not supported")
        frame.loops.pop()
        b.loops.pop()
        b.where = here
        missing = _missing(frame, node, outside, carried, old_buffers)
        if missing:
            carried |= missing
            return False
        _refuse_stale(frame, node, outside)
        _end_carry(b, stores, outside, frame.env)
    b.loop(var, span.trips, span.guards(trip), body)
    frame.env = _after(frame, outside, stores, carried, {var: span.trips - 1}, span.trips)
    return True


def _body(frame: Frame, node: ast.For, stores: dict[str, Tensor]) -> Return | None:
    try:
        return frame.block(node.body)
    except UpdateOfCopy as error:
        if error.buffer in {store.buffer for store in stores.values()}:
            raise _Peel(error) from error
        raise


def _start_carry(b: Builder, name: str, value: Any, carry: Carry) -> Tensor:
    store = b.new_view(name, carry.shape, carry.dtype, carry.weak)
    b.assign(store, value)
    return store


def _in_loop(b: Builder, store: Tensor, carry: Carry) -> Tensor:
    """A carried value within a trip: readable, but the end of the trip changes it."""
    if not store.ndim:
        return store.as_value(settled=False)
    return b.frozen(store, carry.sources) if carry.sources else store


def _missing(
    frame: Frame, node: ast.For, outside: Env, carried: dict[str, Carry], old_buffers: frozenset[str]
) -> dict[str, Carry]:
    """The names that must be carried, or be carried otherwise than they are."""
    b, inside, found = frame.b, frame.env, dict[str, Carry]()
    for name in sorted(assigned_names(node)):
        old, new = outside.get(name), inside.get(name)
        if name not in outside or old is new or same_static(old, new):
            continue
        if isinstance(old, (Unbound, AfterLoop)) or isinstance(new, (Unbound, AfterLoop)):
            continue
        if not (is_exposed(node.body, name) or is_read_outside(frame.source.node, node, frame.loops, name)):
            continue
        tensors = [as_mergeable(b, name, old), as_mergeable(b, name, new)]
        known = carried[name].sources if name in carried else frozenset()
        sources = known | (frozenset(shared(frame, name, outside) | shared(frame, name, inside)) & old_buffers)
        carry = Carry(same_shape(b, name, tensors), *common_type(tensors), sources)
        if carried.get(name) != carry:
            found[name] = carry
    return found


def _refers_any(value: Any, buffers: set[str]) -> bool:
    return any(refers(value, buffer) for buffer in buffers)


def _refuse_stale(frame: Frame, node: ast.For, outside: Env) -> None:
    """A copy from before the loop that the next trip reads must not have been overtaken in this one."""
    for name, value in outside.items():
        is_same = isinstance(value, Tensor) and frame.env.get(name) is value
        if is_same and frame.b.changed_since(value) and is_exposed(node.body, name):
            raise stale(name, frame.b.where)


def _end_carry(b: Builder, stores: dict[str, Tensor], outside: Env, inside: Env) -> None:
    """Write the values that a trip ends with into the storage of carried names, all as if at once."""
    changed = {n: as_tensor(inside[n]) for n in stores if inside[n] is not outside[n]}
    names = {str(stores[n].buffer) for n in changed}
    for name, value in changed.items():
        if _reads_any(value, names - {str(stores[name].buffer)}):
            changed[name] = b.stored(value)
    for name, value in changed.items():
        b.assign(stores[name], value)


def _reads_any(value: Tensor, buffers: set[str]) -> bool:
    return any(read.buffer in buffers for read in reads(value.at(*(Lin(0) for _ in value.shape))))


def _after(
    frame: Frame, outside: Env, stores: dict[str, Tensor], carried: dict[str, Carry], last: dict[str, Lin], trips: Lin
) -> Env:
    """What names hold after a loop: the values of its last trip."""
    result, inside = dict(outside), frame.env
    for name, value in inside.items():
        if name in stores:
            sources = (carried[name].sources & frame.known) | shared(frame, name, inside)
            result[name] = as_name(frame.b, stores[name], set(sources) - {str(stores[name].buffer)})
        elif name not in outside:
            lost = _refers_any(value, {str(store.buffer) for store in stores.values()})
            result[name] = Unbound("its array is re-bound in a loop") if lost else AfterLoop(_moved(value, last), trips)
        elif value is not outside[name] and not same_static(value, outside[name]):
            result[name] = Unbound("it is re-bound in a loop")
    return result


def _moved(value: Any, last: dict[str, Lin]) -> Any:
    """A value of the body as it is in the last trip."""
    if isinstance(value, Tensor):
        return value.substituted(last)
    if isinstance(value, AfterLoop):
        return AfterLoop(_moved(value.value, last), value.trips.substitute(last))
    if isinstance(value, (tuple, list)):
        return type(value)(_moved(v, last) for v in value)
    if isinstance(value, dict):
        return {key: _moved(v, last) for key, v in value.items()}
    if isinstance(value, Lin):
        moved = value.substitute(last)
        return moved.const if moved.is_const else moved
    return value
