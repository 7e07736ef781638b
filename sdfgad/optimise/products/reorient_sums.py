"""Loop interchange and reordering of reductions: sums in sequential loops are turned so that they run along memory.

``loop j: t = 0; for p < i: t += x[p] * A[p, j]; y[j] = t`` goes down a column of `A`. Computed for all `j` before the
loop, ``for p: for j: t[j] += x[p] * A[p, j]`` goes along rows. In the same way a sum that the loop does not read can be
computed after the loop. Where trips depend on earlier ones, as in the solution of a triangular system, each
contribution moves to another trip: the gather ``loop j: for p < j: t += x[p] * A[p, j]; x[j] = f(t)`` becomes the
scatter ``loop j: x[j] = f(t[j]); for q > j: t[q] += x[j] * A[j, q]``, or the other way round. Each sum keeps its terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sdfgad.dependence.intervals import span_of
from sdfgad.dependence.order import Trips
from sdfgad.dependence.private import is_privatisable
from sdfgad.dependence.sets import Domain
from sdfgad.dependence.uses import own_params, uses_of
from sdfgad.ir.expr import Expr, Lin, reads
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
    reads_of,
    reindexed,
    rewrite_statement,
    walk,
)
from sdfgad.optimise.accumulation.first_assign import is_clear
from sdfgad.optimise.loops.nest import in_two
from sdfgad.optimise.names import names_of
from sdfgad.schedule.products import product_of

# With fewer trips, or fewer points in one, the arrays over trips do not pay; with more they take too much memory.
LEAST, MOST = 64, 1 << 20
# Loops of more statements are left alone.
MOST_STATEMENTS = 16


def reorient_sums(program: Program) -> Program:
    """The program with such sums along memory."""
    turning = _Turning(program)
    body = turning.block(program.body, Domain())
    return replace(program, buffers=turning.buffers, body=body)


@dataclass(frozen=True)
class _Moved:
    """A loop without some of its sums, and the statements before and after it that compute these."""

    before: Block
    loop: Loop
    after: Block


class _Turning:
    def __init__(self, program: Program) -> None:
        self.buffers, self.names = dict(program.buffers), names_of(program)
        self.users = Counter(name for s in walk(program.body) for name in s.touched)
        self.kept = program.interface

    def block(self, block: Block, domain: Domain) -> Block:
        return tuple(part for statement in block for part in self.statement(statement, domain))

    def statement(self, statement: Statement, domain: Domain) -> Block:
        # What threads share must not be written to by several trips, and what a branch knows is not used.
        if isinstance(statement, Branch) or not isinstance(statement, Loop) or statement.is_parallel:
            return (statement,)
        if _is_turnable(statement):
            return self.turned(statement, domain)
        is_counted = statement.start == Lin(0) and not statement.is_open and statement.trips.is_affine
        inside = domain.with_range(statement.var, statement.trips) if is_counted else None
        if inside is None:
            return (statement,)
        return (replace(statement, body=self.block(statement.body, inside)),)

    def turned(self, loop: Loop, domain: Domain) -> Block:
        """A loop with all its sums reoriented that can be."""
        was, is_changed = loop, False
        before: Block = ()
        after: Block = ()
        loop = replace(loop, body=tuple(part for s in loop.body for part in _in_parts(s)))
        self.users += Counter(name for s in loop.body for name in s.touched)
        self.users -= Counter(name for s in was.body for name in s.touched)
        while (moved := next(self.moves(loop, domain), None)) is not None:
            before, loop, after = (*before, *moved.before), moved.loop, (*moved.after, *after)
            is_changed = True
        return (*before, *self.spread(Trips(loop, domain)), *after) if is_changed else (was,)

    # --- one sum

    def moves(self, loop: Loop, domain: Domain) -> Iterator[_Moved]:
        """The loop without one of its sums, for each that can be reoriented."""
        for position, statement in enumerate(loop.body):
            assert isinstance(statement, Compute)
            points = _points(statement, domain.with_range(loop.var, loop.trips))
            if points < LEAST or product_of(statement, self.buffers) is not None:
                continue
            trips = domain.maximum(loop.trips)
            if trips is None or not LEAST <= trips <= MOST:
                return
            buffers = dict(self.buffers)
            found = self.moved(loop, position, domain, trips)
            if found is None:
                self.buffers = buffers
            else:
                yield found

    def moved(self, loop: Loop, position: int, domain: Domain, trips: int) -> _Moved | None:
        """A loop without the sum at a position; scalars that the sum depends on become arrays over the trips."""
        was = loop.body[position]
        assert isinstance(was, Compute)
        for name in sorted(was.touched):
            if self.is_own(loop, name):
                loop = self.widened(loop, name, trips)
        clear = self.clear_of(loop, position)
        if clear is not None:
            at = loop.body.index(clear)
            loop = replace(loop, body=(*loop.body[:at], *loop.body[at + 1 :]))
            position -= 1
        case = _Case(Trips(loop, domain), position, self.names)
        found = case.outside() or case.inside()
        if found is None or _across(found[0]) >= _across(was):
            return None
        cleared = () if clear is None else (self.spread_one(clear, loop),)
        _, moved = found
        return replace(moved, before=(*cleared, *moved.before))

    def is_own(self, loop: Loop, name: str) -> bool:
        """Whether a scalar is private to a trip: assigned before it is read there, and used nowhere else."""
        if self.buffers[name].shape or name in self.kept or not any(_writes(s, name) for s in loop.body):
            return False
        return sum(name in s.touched for s in loop.body) == self.users[name] and is_privatisable(loop.body, name)

    def widened(self, loop: Loop, name: str, trips: int) -> Loop:
        """The loop with a scalar expanded to an array over the trips."""
        new = self.names.fresh(f"{name}_each")
        self.buffers[new] = Buffer(new, (Lin(trips),), self.buffers[name].dtype)
        self.users[new] = self.users[name]
        index = (Lin.symbol(loop.var),)
        return replace(loop, body=tuple(_with_index(s, name, Access(new, index)) for s in loop.body))

    def clear_of(self, loop: Loop, position: int) -> Compute | None:
        """The statement that starts the sum at a position with a constant, in an element private to the trip."""
        target = loop.body[position].target  # type: ignore[union-attr]
        users = [s for s in loop.body if target.buffer in s.touched]
        first = users[0]
        if target.index != (Lin.symbol(loop.var),) or len(users) != self.users[target.buffer]:
            return None
        uses = {use.index for s in users for use in uses_of(s) if use.buffer == target.buffer}
        # All that is done to the element is done in its trip, by this loop.
        is_own = uses == {target.index} and target.buffer not in self.kept
        return first if is_own and isinstance(first, Compute) and is_clear(first) else None

    # --- what is left

    def spread(self, trips: Trips) -> Block:
        """The loop distributed over its statements, if dependences and all statements allow that; else the loop."""
        body, result = trips.loop.body, list[Statement]()
        for position, statement in enumerate(body):
            rest = Trips(replace(trips.loop, body=body[position:]), trips.around)
            assert isinstance(statement, Compute)
            if statement.params or not _can_lead(rest):
                return (trips.loop,)
            result.append(self.spread_one(statement, trips.loop))
        return tuple(result)

    def spread_one(self, statement: Compute, loop: Loop) -> Compute:
        name = self.names.fresh(loop.var)
        return reindexed(statement, ((name, loop.trips),), {loop.var: Lin.symbol(name)})


def _can_lead(trips: Trips) -> bool:
    """Whether loop distribution is legal for the first statement: it may run in all trips before the others do."""
    first, *others = trips.loop.body
    here, there = trips.here, trips.there
    order = (trips.later(here, there),)
    if any(trips.meet(a, b, order) for s in others for a in uses_of(first) for b in uses_of(s)):
        return False
    is_sum = isinstance(first, Compute) and first.accumulate is not None
    reads_itself = is_sum and any(read.buffer == first.target.buffer for read in reads(first.value))  # type: ignore[union-attr]
    return not reads_itself and not any(trips.meet(a, b, order) for a in uses_of(first) for b in uses_of(first))


@dataclass(frozen=True)
class _Case:
    """A sum over one parameter in a loop, and the ways to reorder its contributions.

    A contribution moves out of the loop, or to the trip whose number is the parameter's value.
    """

    trips: Trips
    position: int
    names: Names

    @property
    def sum(self) -> Compute:
        found = self.trips.loop.body[self.position]
        assert isinstance(found, Compute)
        return found

    @property
    def points(self) -> Domain:
        ((name, extent),) = self.sum.params
        return self.trips.domain.with_range(name, extent)

    def is_free(self, is_later: bool, until: Lin | None = None) -> bool:
        """Whether contributions can run later or earlier: outside of all trips, or next to the trip `until`."""
        trips, here, there = self.trips, self.trips.here, self.trips.there
        beyond = trips.later(there, here) if is_later else trips.later(here, there)
        order = [beyond]
        if until is not None:
            order.append(trips.later(until, there) if is_later else trips.later(there, until))
        same = (here - there, there - here)
        for position, statement in enumerate(trips.loop.body):
            if position == self.position:
                continue
            is_passed = position > self.position if is_later else position < self.position
            for mine in uses_of(self.sum):
                for other in uses_of(statement):
                    if trips.meet(mine, other, order) or (is_passed and trips.meet(mine, other, same)):
                        return False
        return True

    # --- out of the loop

    def outside(self) -> tuple[Compute, _Moved] | None:
        """The sums of all trips, before or after the loop."""
        nest = self.nest()
        if nest is None:
            return None
        inner = nest.body[0]
        assert isinstance(inner, Compute)
        loop = self.without()
        if self.is_free(is_later=False):
            return inner, _Moved((nest,), loop, ())
        return (inner, _Moved((), loop, (nest,))) if self.is_free(is_later=True) else None

    def without(self, first: Block = (), last: Block = ()) -> Loop:
        loop, k = self.trips.loop, self.position
        return replace(loop, body=(*first, *loop.body[:k], *loop.body[k + 1 :], *last))

    def nest(self) -> Loop | None:
        """All contributions, as a loop over the parameter around the trips."""
        ((name, extent),), loop = self.sum.params, self.trips.loop
        longest = self.longest(extent)
        if longest is None:
            return None
        new, trip, inner = (self.names.fresh(base) for base in (name, loop.var, loop.var))
        outer, at = Lin.symbol(new), Lin.symbol(trip)
        domain = self.trips.around.with_range(new, longest)
        forms = (at, loop.trips - at - 1, extent.substitute({loop.var: at}) - outer - 1)
        span = span_of(trip, forms, domain)
        if span is None:
            return None
        body = reindexed(self.sum, ((inner, span[1]),), {name: outer, loop.var: span[0] + Lin.symbol(inner)})
        return Loop.over(new, longest, (body,), self.sum.where, is_parallel=True)

    def longest(self, extent: Lin) -> Lin | None:
        """The largest number of points of a trip."""
        loop, slope = self.trips.loop, extent.coefficient(self.trips.loop.var)
        ends = (loop.trips - 1, loop.trips) if slope > 0 else (Lin(0),)
        found = (extent.substitute({loop.var: end}) for end in ends)
        return next((form for form in found if self.trips.around.implies(form)), None)

    # --- into other trips

    def inside(self) -> tuple[Compute, _Moved] | None:
        """Each contribution in the trip whose number is the value of the parameter."""
        found = (self.into(trip) for trip in dict.fromkeys(self.others()))
        return next(filter(None, found), None)

    def others(self) -> Iterator[Lin]:
        """The trips that may use what a contribution adds to, or compute what it reads."""
        ((name, _),), var = self.sum.params, self.trips.loop.var
        others = [use for s in self.trips.loop.body if s is not self.sum for use in uses_of(s)]
        for mine in uses_of(self.sum):
            for other in (o for o in others if o.buffer == mine.buffer and o.is_affine and mine.is_affine):
                for x, y in zip(mine.index, other.index, strict=True):
                    rest = y - Lin.symbol(var)
                    is_trip = y.coefficient(var) == 1 and not {atom for atom, _ in rest.terms} & other.names
                    if x.coefficient(name) == 1 and is_trip:
                        yield x - rest

    def into(self, trip: Lin) -> tuple[Compute, _Moved] | None:
        trips, points = self.trips, self.points
        if not points.implies(trip) or not points.implies(trips.loop.trips - trip - 1):
            return None
        is_later = points.implies(trips.later(trip, trips.here))
        if not is_later and not points.implies(trips.later(trips.here, trip)):
            return None
        turned = self.in_trip(trip)
        if turned is None or not self.is_free(is_later, trip):
            return None
        loop = self.without(first=(turned,)) if is_later else self.without(last=(turned,))
        return turned, _Moved((), loop, ())

    def in_trip(self, trip: Lin) -> Compute | None:
        """The contributions that move to a trip, as a sum over the trips that they come from."""
        ((name, extent),), loop = self.sum.params, self.trips.loop
        old, inner = self.names.fresh(loop.var), self.names.fresh(loop.var)
        at = {loop.var: Lin.symbol(old)}
        # The parameter's value, from the trip that is now around, and the one that was.
        value = self.trips.here - (trip - Lin.symbol(name)).substitute(at)
        past = Lin.symbol(old)
        forms = (past, loop.trips - past - 1, value, extent.substitute(at) - value - 1)
        span = span_of(old, forms, self.trips.domain)
        if span is None:
            return None
        was = span[0] + Lin.symbol(inner)
        return reindexed(self.sum, ((inner, span[1]),), {name: value.substitute({old: was}), loop.var: was})


# --- statements


def _is_turnable(loop: Loop) -> bool:
    """Whether a loop starts at 0, has a fixed number of trips, and consists of plain statements, not too many."""
    if loop.start != Lin(0) or loop.is_open or not loop.trips.is_affine or len(loop.body) > MOST_STATEMENTS:
        return False
    return all(isinstance(s, Compute) for s in loop.body)


def _in_parts(statement: Statement) -> Block:
    """A sum into one element, split into its clear and its contributions."""
    assert isinstance(statement, Compute)
    is_sum = statement.fresh and statement.accumulate == "add" and not own_params(statement)
    return in_two(statement) if is_sum else (statement,)


def _points(statement: Compute, domain: Domain) -> int:
    """The most points that a sum has in a trip; 0 if it is not a sum that can be reoriented."""
    is_sum = statement.accumulate == "add" and not statement.fresh and statement.value.dtype.kind in "fc"
    if not is_sum or len(statement.params) != 1 or not all(use.is_affine for use in uses_of(statement)):
        return 0
    if any(read.buffer == statement.target.buffer for read in reads(statement.value)):
        return 0
    # A walk down one column, and along rows with the loop's counter.
    return (domain.maximum(statement.params[0][1]) or 0) if _across(statement) else 0


def _across(statement: Compute) -> int:
    """How many reads of a sum stride across memory, at a new cache line for each point."""
    ((name, _),) = statement.params
    indices = {(use.buffer, use.index) for use in uses_of(statement)}
    return sum(any(lin.coefficient(name) for lin in index) and not _is_along(index, name) for _, index in indices)


def _is_along(index: tuple[Lin, ...], name: str) -> bool:
    return abs(index[-1].coefficient(name)) == 1 and not any(lin.coefficient(name) for lin in index[:-1])


def _writes(statement: Statement, name: str) -> bool:
    return isinstance(statement, Compute) and statement.target.buffer == name


def _with_index(statement: Statement, name: str, new: Access) -> Statement:
    """A statement with an element of an array in place of a scalar."""
    assert isinstance(statement, Compute)
    # Indices and extents may read it, too.
    swap: dict[Expr, Expr] = {read: new.read(read.dtype) for read in reads_of(statement) if read.buffer == name}
    changed = rewrite_statement(statement, replace_node=swap.get)
    return replace(changed, target=new) if statement.target.buffer == name else changed
