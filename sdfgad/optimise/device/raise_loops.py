"""Loop raising (vectorisation, with loop distribution): a sequential loop whose trips are independent becomes boxes.

``for i: s += f(x[i])`` becomes one sum over i, and ``for i: for p: y[i, p] = …`` one box: a launch instead of one for
each trip. Where the number of summed points depends on the trip, as in a triangle, all trips sum as many, of which
those outside count as nothing. Where that of other points does, the statement becomes a nest of parallel loops.
Temporaries of a trip get an axis for the trips (array expansion), unless that would be larger than all other arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.private import carries_no_value
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Expr, Int, Lin, Read, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    computes,
    reads_of,
    rewrite_statement,
    substituted,
    touch_counts,
    with_blocks,
    written,
)
from sdfgad.optimise.device.elect import Elected, elected
from sdfgad.optimise.device.gather_windows import gathered
from sdfgad.optimise.device.guards import where_below
from sdfgad.optimise.device.predicate import Predication
from sdfgad.optimise.device.temporaries import is_dense, known_bytes, largest_bytes
from sdfgad.optimise.names import names_of
from sdfgad.schedule.bounds import Ranges, range_of
from sdfgad.schedule.device_sums import RESIDENT, Sum, points
from sdfgad.schedule.kernels import longest_extent, point_loop
from sdfgad.schedule.thread_independence import maximum_reductions

# Trips of so many elements fill a device.
ENOUGH = RESIDENT
# Bytes of a table that are small whatever the program holds.
SMALL = 1 << 22


def raise_loops(program: Program) -> Program:
    """The program with such loops as boxes, inner ones first."""
    raising = _Raising(program)
    body = raising.block(program.body, {})
    return replace(program, body=body, buffers=raising.buffers)


@dataclass(frozen=True)
class _Flat:
    """A loop of computations, what is done before and after it, and the temporaries of all that.

    Attributes:
        own: the temporaries that only the loop uses.
    """

    loop: Loop
    own: frozenset[str]
    before: Block = ()
    after: Block = ()
    buffers: tuple[Buffer, ...] = ()


class _Raising:
    def __init__(self, program: Program) -> None:
        self.names, self.interface, self.buffers = names_of(program), program.interface, dict(program.buffers)
        self.users, self.bounds = touch_counts(program.body), set(program.bounds)
        self.largest = largest_bytes(program)

    def block(self, block: Block, ranges: Ranges) -> Block:
        return tuple(part for statement in block for part in self.each(statement, ranges))

    def each(self, statement: Statement, ranges: Ranges) -> Block:
        if not isinstance(statement, Loop):
            return (with_blocks(statement, partial(self.block, ranges=ranges)),)
        if statement.trips == Lin(1) and not statement.is_open:
            return self.block(substituted(statement.body, {statement.var: statement.start}), ranges)
        own = self.own_of(statement)
        within = {**ranges, statement.var: range_of(statement)}
        loop = replace(statement, body=self.block(statement.body, within))
        return self.raised(loop, own, within)

    def own_of(self, loop: Loop) -> frozenset[str]:
        inside = touch_counts(loop.body)
        return frozenset(name for name in written(loop.body) - self.interface if inside[name] == self.users[name])

    def raised(self, loop: Loop, own: frozenset[str], ranges: Ranges) -> Block:
        if not _is_simple(loop) or _fills_device(loop):
            return (loop,)
        if any(self.is_slot(loop.var, one.target) for one in computes(loop.body)):
            return (loop,)
        for flat in self.forms(loop, own, ranges):
            if _are_independent(flat.loop):
                found = self.boxes(flat)
                self.buffers |= {buffer.name: buffer for buffer in flat.buffers} if found else {}
                return found or (loop,)
        return (loop,)

    def forms(self, loop: Loop, own: frozenset[str], ranges: Ranges) -> Iterator[_Flat]:
        """The loop in forms whose trips may be independent: those that need the least storage first."""
        predication = Predication(self.buffers, ranges, self.names)
        body = predication.flat(loop.body)
        if body is None:
            return
        conditions = tuple(predication.conditions)
        flat = _Flat(replace(loop, body=body), own | {one.name for one in conditions}, buffers=conditions)
        yield flat
        flat = self.expanded(flat)
        yield flat
        while (found := elected(flat.loop, self.known(flat), self.names)) and self.is_worth(found, len(ranges) > 1):
            after, buffers = (*found.after, *flat.after), (*flat.buffers, found.table)
            flat = _Flat(found.loop, flat.own, (*flat.before, *found.before), after, buffers)
            yield flat

    def known(self, flat: _Flat) -> dict[str, Buffer]:
        return self.buffers | {buffer.name: buffer for buffer in flat.buffers}

    def is_worth(self, found: Elected, is_repeated: bool) -> bool:
        """Whether trips are not far fewer than the elements that each trip of a loop around goes through."""
        elements, trips = points(list(found.table.shape)), points([found.loop.trips])
        is_small = known_bytes(found.table) <= max(self.largest, SMALL)
        return is_small and (not is_repeated or is_dense(elements or 0, trips or 0))

    def is_slot(self, var: str, target: Access) -> bool:
        """Whether a counter selects the slot of a tape that may have too few, which the host checks in each trip."""
        axes = zip(target.index, self.buffers[target.buffer].shape, strict=True)
        return any(var in symbols_of(Int(form)) and extent.symbols & self.bounds for form, extent in axes)

    def boxes(self, flat: _Flat) -> Block:
        """The statements of a loop, each of all trips, or in a loop of its own where that is not possible."""
        loop = flat.loop
        found = [self.of_all_trips(statement, loop) for statement in loop.body]
        # What was a branch stays one unless all of it becomes boxes.
        if (not any(found) and loop.body) or (flat.buffers and not all(found)):
            return ()
        each = (one or replace(loop, body=(s,)) for one, s in zip(found, loop.body, strict=True))
        return (*flat.before, *each, *flat.after)

    def of_all_trips(self, statement: Statement, loop: Loop) -> Statement | None:
        """What a statement of a trip becomes, the first that is possible."""
        forms = (form(statement, loop, self.names) for form in (_as_box, _as_nest, _as_window))
        return next((found for found in forms if found is not None), None)

    def expanded(self, flat: _Flat) -> _Flat:
        """A loop whose temporaries have an axis for its trips."""
        loop, buffers = flat.loop, self.known(flat)
        if not loop.trips.is_const or loop.trips.const < 1:
            return flat
        own = [buffers[name] for name in sorted(flat.own & written(loop.body))]
        found = {b.name: replace(b, shape=(loop.trips, *b.shape)) for b in own if self.is_temporary(b, loop)}
        trip = Lin.symbol(loop.var) - loop.start

        def at_trip(node: Expr) -> Expr | None:
            if not isinstance(node, Read) or node.buffer not in found:
                return None
            return Read(node.buffer, (trip, *node.index), node.dtype)

        def moved(statement: Statement) -> Compute:
            assert isinstance(statement, Compute)
            one = rewrite_statement(statement, replace_node=at_trip)
            target = Access(one.target.buffer, (trip, *one.target.index))
            return replace(one, target=target) if target.buffer in found else one

        others = tuple(buffer for buffer in flat.buffers if buffer.name not in found)
        return replace(flat, loop=replace(loop, body=tuple(map(moved, loop.body))), buffers=(*others, *found.values()))

    def is_temporary(self, buffer: Buffer, loop: Loop) -> bool:
        """Whether no trip reads what another one has written, and all trips' values are no larger than other arrays."""
        return 0 < known_bytes(buffer) * loop.trips.const <= self.largest and carries_no_value(loop.body, buffer)


def _fills_device(loop: Loop) -> bool:
    """Whether a trip has points enough for all threads: then its temporaries had better be a trip's, in registers."""
    sizes = (Sum(s).elements for s in computes(loop.body))
    return any(size is not None and size >= ENOUGH for size in sizes)


def _is_simple(loop: Loop) -> bool:
    """Whether a loop has only computations and branches, and a number of trips that does not depend on arrays."""
    return not loop.is_open and not reads_of(loop) and all(isinstance(s, Compute | Branch) for s in loop.body)


def _are_independent(loop: Loop) -> bool:
    """Whether trips may run in any order, apart from what they only take the maximum of."""
    free = maximum_reductions(loop)
    return are_independent((use for use in uses_of(loop) if use.buffer not in free), loop.var)


def _as_box(statement: Statement, loop: Loop, names: Names) -> Compute | None:
    """A statement of all trips; None if its box is none."""
    assert isinstance(statement, Compute)
    guarded = _guarded(statement, loop)
    if guarded is None:
        return None
    counter = names.fresh(loop.var)
    moved = rewrite_statement(guarded, {loop.var: loop.start + Lin.symbol(counter)})
    return replace(moved, params=((counter, loop.trips), *moved.params))


def _as_nest(statement: Statement, loop: Loop, names: Names) -> Loop | None:
    """A statement of all trips as parallel loops around each element of its target; None if it has other parameters."""
    assert isinstance(statement, Compute)
    box = Sum(statement)
    if not box.order.is_injective or statement.fresh or (box.summed and statement.accumulate is None):
        return None
    counter = names.fresh(loop.var)
    moved = rewrite_statement(statement, {loop.var: loop.start + Lin.symbol(counter)})
    extents = dict(moved.params)
    symbols = {name: Lin.symbol(names.fresh(name)) for name in box.own}
    rest = tuple((name, extents[name]) for name in box.summed)
    body: Block = (replace(rewrite_statement(replace(moved, params=()), symbols), params=rest),)
    for name in reversed(box.own):
        body = (Loop.over(str(symbols[name]), extents[name], body, statement.where, is_parallel=True),)
    nest = Loop.over(counter, loop.trips, body, statement.where, is_parallel=True)
    return nest if point_loop(nest, frozenset()) is not None else None


def _as_window(statement: Statement, loop: Loop, names: Names) -> Compute | None:
    """A statement of all trips as a sum over these for each element, which several of them add to."""
    assert isinstance(statement, Compute)
    if statement.accumulate != "add" or statement.fresh:
        return None
    counter = names.fresh(loop.var)
    moved = substituted((replace(statement, params=()),), {loop.var: loop.start + Lin.symbol(counter)})[0]
    assert isinstance(moved, Compute)
    extents = tuple((n, e.substitute({loop.var: loop.start + Lin.symbol(counter)})) for n, e in statement.params)
    return gathered(replace(moved, params=((counter, loop.trips), *extents)), (counter,), names)


def _guarded(statement: Compute, loop: Loop) -> Compute | None:
    """A statement whose extents do not depend on the trip: sums have as many terms as in the longest trip."""
    varying = {name: extent for name, extent in statement.params if loop.var in symbols_of(Int(extent))}
    if not varying:
        return statement
    own = {name for form in statement.target.index for name in form.symbols}
    # To what all trips add to, some may add nothing.
    is_sum = statement.accumulate == "add" and (own.isdisjoint(varying) or not (statement.fresh or loop.var in own))
    if not is_sum:
        return None
    longest = {name: longest_extent(extent, {loop.var: (loop.start, loop.trips)}) for name, extent in varying.items()}
    value = statement.value
    for name, extent in varying.items():
        value = where_below(Lin.symbol(name), extent, value, "add")
    if any(extent is None for extent in longest.values()):
        return None
    params = tuple((name, longest.get(name) or extent) for name, extent in statement.params)
    return replace(statement, params=params, value=value)
