"""Tapes of stored residuals: one slot for each trip of the enclosing loops.

Where the trip counts of inner loops vary with outer counters (triangular nests), the tape is flat, and the position of
a slot is the number of slots before it, a polynomial in the counters: the tape has no unused slots. Where a trip count
depends on data, a counter of all trips so far is the position of the slot; the total is guessed from the last call, or
computed beforehand (`counting`). In a checkpointed loop the counter is that of a segment's trips.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import islpy as isl

from sdfgad.dependence.sets import Domain
from sdfgad.errors import UnsupportedProgram
from sdfgad.gradient.checkpoints import Checkpoint, axes_of
from sdfgad.gradient.counting import count_within, is_counted
from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, Read
from sdfgad.ir.names import Names
from sdfgad.ir.polynomial import Monomial, Polynomial
from sdfgad.ir.program import Access, Buffer, Compute, Loop, Statement, reindexed
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Residual
from sdfgad.reverse.save_points import Key

Axis = tuple[str, Lin]


@dataclass(frozen=True)
class Tape:
    """A tape's buffer, the statement that fills a slot, and the statement that restores the values from it."""

    buffer: Buffer
    store: Compute
    restore: Statement


@dataclass(frozen=True)
class Counter:
    """Counts the trips of a loop over the whole program, or over a segment of a checkpointed loop.

    Attributes:
        loop: the loop's own counter, which names it.
        buffer: an integer scalar, the number of trips so far.
        total: the run-time integer that is the total number of trips.
        count: the name of the count (`counting`) that the total comes from.
        segment: the run-time integer by which that is multiplied: how many trips a segment has; None: by one.
    """

    loop: str
    buffer: Buffer
    total: str
    count: str
    segment: str | None = None

    def slots(self, integers: Mapping[str, int], counts: Mapping[str, int]) -> int:
        """The total for given counts; `integers` has the lengths of segments."""
        return counts.get(self.count, 0) * (1 if self.segment is None else integers[self.segment])


def tapes_for(
    adjoint: Adjoint, checkpoints: Mapping[int, Checkpoint], names: Names
) -> tuple[dict[Key, Tape], tuple[Counter, ...]]:
    """The tapes of all residuals by their keys, and the counters that they need.

    Args:
        checkpoints: the checkpointed loops, by number: a tape has one segment's trips of such a loop.

    Raises:
        UnsupportedProgram: the size of a kept array is data.
    """
    counters: dict[str, Counter] = {}
    tapes = {key: _tape_for(r, adjoint, checkpoints, names, counters) for key, r in adjoint.residuals.items()}
    return tapes, tuple(counters.values())


def tape_shape(residual: Residual, adjoint: Adjoint) -> tuple[Lin, ...] | None:
    """The shape of a residual's tape; None where trips must be counted before it is known.

    Raises:
        NeedsConstant: it is known only for given values of run-time integers.
        UnsupportedProgram: the size of a kept array is data.
    """
    if any(is_counted(loop) for _, loop in residual.loops):
        return None
    return _layout(residual, adjoint, {})[0]


def box_shape(residual: Residual, adjoint: Adjoint) -> tuple[Lin, ...]:
    """The shape of what one trip of the loops around a residual keeps, at most.

    Raises:
        NeedsConstant: it is known only for given values of run-time integers.
        UnsupportedProgram: the size of a kept array is data.
    """
    domain, known = _domain(residual), set(adjoint.primal.integers)
    return tuple(
        extent if extent.is_affine and extent.symbols <= known else _largest(extent, adjoint, domain, residual)
        for _, extent in residual.params
    )


def _tape_for(
    residual: Residual,
    adjoint: Adjoint,
    checkpoints: Mapping[int, Checkpoint],
    names: Names,
    counters: dict[str, Counter],
) -> Tape:
    primal = adjoint.primal.buffers[residual.buffer]
    name = names.fresh(f"{residual.buffer}_tape")
    within = next((number for number, _ in reversed(residual.loops) if number in checkpoints), None)
    if _needs_counter(residual, within, adjoint.primal.integers):
        counter = _counter_for(residual, None if within is None else checkpoints[within], names, counters)
        shape, index = _counted_layout(residual, adjoint, counter)
    else:
        shape, index = _layout(residual, adjoint, checkpoints)
    buffer = Buffer(name, shape, primal.dtype, primal.source, residual.where)
    slot = Access(name, index)
    store = Compute(residual.params, slot, residual.access.read(primal.dtype), None, residual.where)
    restore = Compute(residual.params, residual.access, slot.read(primal.dtype), None, residual.where)
    return Tape(buffer, store, restore if residual.is_once else _in_turn(restore, names))


def _needs_counter(residual: Residual, within: int | None, integers: Collection[str]) -> bool:
    """Whether a tape has slots for as many trips as are counted, in the checkpointed loop `within`, or in all."""
    if not any(is_counted(loop) for _, loop in residual.loops):
        return False
    inside = [loop for number, loop in residual.loops if within is None or number > within]
    return not all(loop.trips.is_affine and loop.trips.symbols <= set(integers) for loop in inside)


def _in_turn(restore: Compute, names: Names) -> Statement:
    """A statement point by point: one over a box may write no element twice."""
    fresh = {name: names.fresh(name) for name, _ in restore.params}
    symbols = {old: Lin.symbol(new) for old, new in fresh.items()}
    result: Statement = reindexed(restore, (), symbols)
    for name, extent in reversed(restore.params):
        result = Loop.over(fresh[name], extent, (result,), restore.where)
    return result


def _layout(
    residual: Residual, adjoint: Adjoint, checkpoints: Mapping[int, Checkpoint]
) -> tuple[tuple[Lin, ...], tuple[Lin, ...]]:
    """The tape's shape, and the index of the slot for the present trips."""
    known = {*adjoint.primal.integers, *(checkpoint.segment for checkpoint in checkpoints.values())}
    axes = [*((loop.var, loop.trips) for _, loop in residual.loops), *residual.params]
    places = [*axes_of(residual.loops, checkpoints), *((Lin.symbol(name), extent) for name, extent in residual.params)]
    are_known = [extent.is_affine and extent.symbols <= known for _, extent in places]
    in_segments = any(number in checkpoints for number, _ in residual.loops)
    if not all(are_known) and not in_segments and _is_countable(residual, axes, adjoint.context):
        total, position = _count(axes)
        return (_linear(total),), (_linear(position),)
    domain = _domain(residual)
    is_exact = in_segments or all(are_known)
    shape = tuple(
        extent if is_known and is_exact else _largest(extent, adjoint, domain, residual)
        for (_, extent), is_known in zip(places, are_known, strict=True)
    )
    return shape, tuple(index for index, _ in places)


def _counter_for(residual: Residual, within: Checkpoint | None, names: Names, counters: dict[str, Counter]) -> Counter:
    """The counter of the innermost loop's trips, in a segment of the loop in `within`."""
    loop = residual.loops[-1][1]
    if loop.var not in counters:
        buffer, total = Buffer(names.fresh(f"{loop.var}_count"), (), INT), names.fresh(f"{loop.var}_total")
        if within is None:
            counters[loop.var] = Counter(loop.var, buffer, total, loop.var)
        else:
            count = count_within(loop, within.loop)
            counters[loop.var] = Counter(loop.var, buffer, total, count, within.segment)
    return counters[loop.var]


def _counted_layout(residual: Residual, adjoint: Adjoint, counter: Counter) -> tuple[tuple[Lin, ...], tuple[Lin, ...]]:
    """One axis for all trips of the innermost loop, and the box's own."""
    domain = _domain(residual)
    sizes = tuple(_largest(extent, adjoint, domain, residual) for _, extent in residual.params)
    position = Lin.symbol(Read(counter.buffer.name, (), INT))
    return (Lin.symbol(counter.total), *sizes), (position, *(Lin.symbol(name) for name, _ in residual.params))


def _is_countable(residual: Residual, axes: list[Axis], context: isl.Set) -> bool:
    """Whether all extents are linear and never negative, so that sums of them count slots."""
    if not all(extent.is_affine for _, extent in axes):
        return False
    domain = Domain()
    for _, loop in residual.loops:
        if not domain.implies(loop.trips, context):
            return False
        domain = domain.with_form(*loop.guards)
    return all(domain.implies(extent, context) for _, extent in residual.params)


def _domain(residual: Residual) -> Domain:
    domain = Domain()
    for _, loop in residual.loops:
        domain = domain.with_form(*loop.guards)
    return domain


def _largest(trips: Lin, adjoint: Adjoint, domain: Domain, residual: Residual) -> Lin:
    """The largest number of trips."""
    largest = domain.maximum(trips, adjoint.context)
    if largest is None and (named := set(adjoint.primal.integers) & trips.symbols):
        raise NeedsConstant(named, residual.where)
    if largest is None:
        raise UnsupportedProgram(
            "an array whose size is known only at run time must be kept for the gradient",
            residual.where,
            "Use an array of a fixed size: np.where(mask, x, 0.0) instead of x[mask].",
        )
    return Lin(max(largest, 0))


# --- counting slots


def _count(axes: list[Axis]) -> tuple[Polynomial, Polynomial]:
    """The number of slots, and the number of those before the present one, as polynomials."""
    size, position = Polynomial.constant(1), Polynomial.constant(0)
    for symbol, extent in reversed(axes):
        position = position + size.summed(symbol, Polynomial.symbol(symbol))
        size = size.summed(symbol, _polynomial(extent))
    return size, position


def _polynomial(form: Lin) -> Polynomial:
    polynomial = Polynomial.constant(form.const)
    for atom, coefficient in form.terms:
        polynomial = polynomial + Polynomial.constant(coefficient) * Polynomial.symbol(str(atom))
    return polynomial


def _linear(polynomial: Polynomial) -> Lin:
    """A polynomial with integer values as a form whose atoms are products of symbols."""
    form, divisor = Lin(0), polynomial.denominator
    for monomial, coefficient in polynomial.terms.items():
        form = form + _monomial(monomial).scaled(int(coefficient * divisor))
    if divisor == 1:
        return form
    return Lin.symbol(Op("floor_divide", (Int(form), Const(divisor, INT)), INT))


def _monomial(names: Monomial) -> Lin:
    if not names:
        return Lin(1)
    if len(names) == 1:
        return Lin.symbol(names[0])
    product: Expr = Int(Lin.symbol(names[0]))
    for name in names[1:]:
        product = Op("multiply", (product, Int(Lin.symbol(name))), INT)
    return Lin.symbol(product)
