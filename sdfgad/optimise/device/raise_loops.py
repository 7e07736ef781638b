"""Loop raising (vectorisation, with loop distribution): a sequential loop whose trips are independent becomes boxes.

``for i: s += f(x[i])`` becomes one sum over i, and ``for i: for p: y[i, p] = …`` one box: a launch instead of one for
each trip. Where the number of summed points depends on the trip, as in a triangle, all trips sum as many, of which
those outside count as nothing. Where that of other points does, the statement becomes a nest of parallel loops.
Temporaries of a trip get an axis for the trips (array expansion), unless that would be larger than all other arrays.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.private import carries_no_value
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Expr, Int, Lin, Read, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    computes,
    reads_of,
    rewrite_statement,
    touch_counts,
    transform,
    written,
)
from sdfgad.optimise.device.guards import where_below
from sdfgad.optimise.device.temporaries import known_bytes, largest_bytes
from sdfgad.optimise.names import names_of
from sdfgad.schedule.kernels import Sum, longest_extent, point_loop

# A kernel of so many elements takes about as long as its launch.
ENOUGH = 1 << 13


def raise_loops(program: Program) -> Program:
    """The program with such loops as boxes, inner ones first."""
    raising = _Raising(program)
    body = transform(program.body, raising.raised)
    return replace(program, body=body, buffers=raising.buffers)


class _Raising:
    def __init__(self, program: Program) -> None:
        self.names, self.interface, self.buffers = names_of(program), program.interface, dict(program.buffers)
        self.users, self.bounds = touch_counts(program.body), set(program.bounds)
        self.largest = largest_bytes(program)

    def raised(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or not _is_simple(statement) or _fills_device(statement):
            return (statement,)
        if any(self.is_slot(statement.var, one.target) for one in computes(statement.body)):
            return (statement,)
        if are_independent(uses_of(statement), statement.var):
            return self.boxes(statement)
        expanded, buffers = self.expanded(statement)
        if not buffers or not are_independent(uses_of(expanded), expanded.var):
            return (statement,)
        found = self.boxes(expanded)
        if found == (expanded,):
            return (statement,)
        self.buffers |= {buffer.name: buffer for buffer in buffers}
        return found

    def is_slot(self, var: str, target: Access) -> bool:
        """Whether a counter selects the slot of a tape that may have too few, which the host checks in each trip."""
        axes = zip(target.index, self.buffers[target.buffer].shape, strict=True)
        return any(var in symbols_of(Int(form)) and extent.symbols & self.bounds for form, extent in axes)

    def boxes(self, loop: Loop) -> Block:
        """The statements of a loop, each of all trips, or in a loop of its own where that is not possible."""
        found = [_as_box(s, loop, self.names) or _as_nest(s, loop, self.names) for s in loop.body]
        if not any(found):
            return (loop,)
        return tuple(one or replace(loop, body=(s,)) for one, s in zip(found, loop.body, strict=True))

    def expanded(self, loop: Loop) -> tuple[Loop, list[Buffer]]:
        """A loop whose temporaries have an axis for its trips, and these temporaries."""
        if not loop.trips.is_const or loop.trips.const < 1:
            return loop, []
        inside = touch_counts(loop.body)
        found = [self.buffers[name] for name in sorted(written(loop.body)) if inside[name] == self.users[name]]
        found = [b for b in found if self.is_temporary(b, loop)]
        trip = Lin.symbol(loop.var) - loop.start
        names = {buffer.name for buffer in found}

        def at_trip(node: Expr) -> Expr | None:
            if not isinstance(node, Read) or node.buffer not in names:
                return None
            return Read(node.buffer, (trip, *node.index), node.dtype)

        def moved(statement: Statement) -> Compute:
            assert isinstance(statement, Compute)
            one, target = rewrite_statement(statement, replace_node=at_trip), statement.target
            return (
                replace(one, target=Access(target.buffer, (trip, *one.target.index))) if target.buffer in names else one
            )

        buffers = [replace(b, shape=(loop.trips, *b.shape)) for b in found]
        return replace(loop, body=tuple(map(moved, loop.body))), buffers

    def is_temporary(self, buffer: Buffer, loop: Loop) -> bool:
        """Whether no trip reads what another one has written, and all trips' values are no larger than other arrays."""
        is_small = 0 < known_bytes(buffer) * loop.trips.const <= self.largest
        return is_small and buffer.name not in self.interface and carries_no_value(loop.body, buffer)


def _fills_device(loop: Loop) -> bool:
    """Whether a trip has points enough for all threads: then its temporaries had better be a trip's, in registers."""
    sizes = (Sum(s).elements for s in loop.body if isinstance(s, Compute))
    return any(size is not None and size >= ENOUGH for size in sizes)


def _is_simple(loop: Loop) -> bool:
    """Whether a loop has only computations, and a number of trips that does not depend on arrays."""
    return not loop.is_open and not reads_of(loop) and all(isinstance(s, Compute) for s in loop.body)


def _as_box(statement: Statement, loop: Loop, names: Names) -> Compute | None:
    """A statement of all trips; None if its box is none."""
    assert isinstance(statement, Compute)
    guarded = _guarded(statement, loop)
    if guarded is None or (statement.accumulate in ("maximum", "minimum") and statement.fresh):
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
