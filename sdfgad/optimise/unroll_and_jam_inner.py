"""Unroll-and-jam of inner loops: a few trips of a loop within another one run together, where they share vectors.

``loop k: loop j: for f: s[j] += x[f] * A[j, f]; for f: A[j, f] -= s[j] * x[f]`` loads `x` in each trip of ``j``, and
waits for the sum before the next trip begins. Four trips at a time load it once, and compute four sums side by side.
The trips must be independent, except that they may add to the same elements.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.accesses import uses_of
from sdfgad.ir.expr import INT, Int, Lin, Op, symbols_in
from sdfgad.ir.program import Access, Block, Compute, Loop, Program, Statement, reads_of, rewrite_statement
from sdfgad.ir.sets import Domain
from sdfgad.optimise.dependence import Trips
from sdfgad.optimise.names import names_of
from sdfgad.optimise.sizes import known_bytes
from sdfgad.schedule.products import product_of

ROWS = 4
# Of shorter vectors, fewer trips or fewer shared vectors there is little to gain; more statements have no registers.
LEAST_LENGTH, LEAST_TRIPS, LEAST_SHARED = 64, 64, 1
MOST_STATEMENTS = 6
# Of arrays larger than the cache, in bytes, memory is quicker with one row after the other.
LARGE = 1 << 22


def unroll_and_jam_inner(program: Program) -> Program:
    """The program with such trips together; the remaining trips run as before."""
    jamming = _Jamming(program)
    return program.with_body(tuple(jamming.around(s, Domain()) for s in program.body))


class _Jamming:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, names_of(program)

    def around(self, statement: Statement, domain: Domain) -> Statement:
        """A statement with the loops in it jammed."""
        if not isinstance(statement, Loop) or statement.start != Lin(0) or not statement.trips.is_affine:
            return statement
        # Trips of parallel loops are for threads.
        if statement.is_open or statement.is_parallel:
            return statement
        inside = domain.with_range(statement.var, statement.trips)
        body = tuple(part for s in statement.body for part in self.jammed(self.around(s, inside), inside))
        return replace(statement, body=body)

    def jammed(self, statement: Statement, domain: Domain) -> Block:
        if not isinstance(statement, Loop) or not self.is_possible(statement, domain):
            return (statement,)
        loop = _forwards(statement)
        groups = Lin.symbol(Op("floor_divide", (Int(loop.trips), Int(ROWS)), INT))
        var = self.names.fresh(f"{loop.var}_rows")
        counter = Lin.symbol(var)
        copies = [_at(loop.body, {loop.var: counter.scaled(ROWS) + k}) for k in range(ROWS)]
        body = tuple(part for group in zip(*copies, strict=True) for part in _joined(group))
        guards = (counter, groups - counter - 1)
        first = groups.scaled(ROWS)
        together = replace(loop, var=var, trips=groups, body=body, guards=guards)
        own = Lin.symbol(loop.var)
        rest = replace(loop, start=first, trips=loop.trips - first, guards=(own - first, loop.trips - own - 1))
        return together, rest

    def is_possible(self, loop: Loop, domain: Domain) -> bool:
        if loop.is_open or loop.start != Lin(0) or not loop.trips.is_affine:
            return False
        if not all(_is_simple(s, loop.var) for s in loop.body) or len(loop.body) > MOST_STATEMENTS:
            return False
        # Of less than no trips, those that are left over would be some.
        if not domain.implies(loop.trips):
            return False
        if any(known_bytes(self.program.buffers[name]) > LARGE for name in loop.mentioned):
            return False
        vectors = [s for s in loop.body if _extent(s) is not None]
        if not vectors or any(isinstance(s, Compute) and product_of(s, self.program.buffers) for s in vectors):
            return False
        if sum(len(_shared(s, loop.var)) for s in vectors) < LEAST_SHARED:
            return False
        longest = [domain.maximum(extent) or 0 for s in vectors if (extent := _extent(s)) is not None]
        is_worth = (domain.maximum(loop.trips) or 0) >= LEAST_TRIPS and min(longest) >= LEAST_LENGTH
        return is_worth and _are_apart(Trips(loop, domain))


def _are_apart(trips: Trips) -> bool:
    """Whether the trips are independent: they touch different elements, or only read, or only add to, the same."""
    uses = [use for s in trips.loop.body for use in uses_of(s)]
    order = (trips.there - trips.here - 1,)
    return not any(trips.meet(a, b, order) for a in uses for b in uses)


def _extent(statement: Statement) -> Lin | None:
    """How many points the only axis of a statement has; None if it has none."""
    if isinstance(statement, Loop):
        return statement.trips
    return statement.params[0][1] if isinstance(statement, Compute) and statement.params else None


def _is_simple(statement: Statement, var: str) -> bool:
    """Whether it has at most one axis, the same in each trip: a statement, or a parallel loop of statements."""
    extent = _extent(statement)
    if extent is not None and (not extent.is_affine or var in extent.symbols):
        return False
    if isinstance(statement, Loop):
        is_vector = statement.is_parallel and statement.start == Lin(0) and not statement.is_open
        return is_vector and all(isinstance(s, Compute) and not s.params and _adds_or_sets(s) for s in statement.body)
    return isinstance(statement, Compute) and len(statement.params) < 2 and _adds_or_sets(statement)


def _adds_or_sets(statement: Compute) -> bool:
    return statement.accumulate in (None, "add") and not statement.fresh


def _shared(statement: Statement, var: str) -> set[Access]:
    """The elements of a vector statement that do not depend on the trip."""
    name = statement.var if isinstance(statement, Loop) else statement.params[0][0]  # type: ignore[union-attr]
    inside = statement.body if isinstance(statement, Loop) else (statement,)
    found = {Access(read.buffer, read.index) for s in inside for read in reads_of(s)}
    found |= {s.target for s in inside if isinstance(s, Compute)}
    return {access for access in found if name in symbols_in(access.index) and var not in symbols_in(access.index)}


def _forwards(loop: Loop) -> Loop:
    """A loop with its trips counted in the order in which they run."""
    if not loop.backward:
        return loop
    return replace(loop, body=_at(loop.body, {loop.var: loop.trips - 1 - Lin.symbol(loop.var)}), backward=False)


def _at(block: Block, symbols: dict[str, Lin]) -> Block:
    def each(statement: Statement) -> Statement:
        changed = rewrite_statement(statement, symbols)
        return replace(changed, body=tuple(map(each, changed.body))) if isinstance(changed, Loop) else changed

    return tuple(map(each, block))


def _joined(group: tuple[Statement, ...]) -> Block:
    """The same statement of several trips: side by side, if it has an axis."""
    first = group[0]
    if isinstance(first, Loop):
        return (replace(first, body=tuple(part for s in group if isinstance(s, Loop) for part in s.body)),)
    assert isinstance(first, Compute)
    if not first.params:
        return group
    ((name, extent),) = first.params
    counter = Lin.symbol(name)
    body = tuple(replace(s, params=()) for s in group if isinstance(s, Compute))
    guards = (counter, extent - counter - 1)
    return (Loop(name, extent, body, guards, where=first.where, is_parallel=True),)
