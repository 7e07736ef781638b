"""Loop skewing: a few steps of a time loop run as a wavefront, row by row, while the rows are in the first-level cache.

``loop t: for p, q: B[p + 1, q] = f(A[p:p + 3, q]); for p, q: A[p + 1, q] = f(B[p:p + 3, q])`` goes through both arrays
twice in each step. A row of the second sweep can run as soon as the first sweep has computed the next row; and that row
of the first sweep can run again, for the next step, two rows later:

    loop waves: loop w: loop k < 4:
        if 0 <= w - 2*k < n:     for q: B[w - 2*k + 1, q] = …
        if 0 <= w - 2*k - 1 < n: for q: A[w - 2*k, q] = …

(In fact two rows of each sweep run side by side, as they read the same neighbours.) Row `p` of a sweep runs in wave
``p + shift + slope * k``; within a wave the order stays. The shifts and the slope are chosen so that all dependences
are kept: results are the same, bit by bit, except that sums into one element may be added in another order, as in other
passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sdfgad.analysis.private import is_privatisable
from sdfgad.ir.accesses import Use, commute, conflict, interval, uses_of
from sdfgad.ir.expr import BOOL, INT, Expr, Int, Lin, Op, reads
from sdfgad.ir.program import (
    Block,
    Branch,
    Compute,
    Loop,
    Program,
    Statement,
    rewrite_statement,
    transform,
)
from sdfgad.optimise.fuse import fuse
from sdfgad.optimise.names import names_of
from sdfgad.schedule.products import product_of
from sdfgad.schedule.vector_width import is_plain_arithmetic
from sdfgad.schedule.work import is_worth_threads

# Bytes that the rows at work may take: most of the first cache.
CACHE = 1 << 15
# Rows of fewer points cost more to begin than they gain.
LEAST_POINTS = 64
STEPS = (8, 4, 2, 1)
# So many rows of a wave run side by side: what one row reads of its neighbours the other ones read, too.
ROWS, MOST_READS = 2, 6
MOST_STATEMENTS = 128
# The span of an axis that is not known.
Span = tuple[Lin, int, int] | None


def skew(program: Program) -> Program:
    """The program with such loops skewed."""
    skewing = _Skewing(program)
    return program.with_body(transform(program.body, skewing.each))


@dataclass(frozen=True)
class _Axis:
    """One index of a use, as intervals over the statement's points.

    Attributes:
        all: the interval over all points of the statement.
        row: the same without the contribution of the row's number.
        is_row: whether the index grows with the row.
    """

    all: Span
    row: Span
    is_row: bool


@dataclass(frozen=True)
class _Sweep:
    """A statement as rows along its parameter `lead`; without one the whole statement is a single row."""

    statement: Compute
    lead: str | None

    @cached_property
    def rows(self) -> int:
        return dict(self.statement.params)[self.lead].const if self.lead else 1

    @cached_property
    def points(self) -> int:
        """The number of points of a row."""
        return math.prod(extent.const for name, extent in self.statement.params if name != self.lead)

    @cached_property
    def first(self) -> int:
        """The index of the first row, so that sweeps which begin further down are given a later wave."""
        target = self.statement.target.index[:-1]
        others = (use.index[:-1] for use, _ in self.uses)
        bound = dict(self.statement.params)
        spans = (interval(lin, bound) for index in (target, *others) for lin in index)
        return next((span[1] for span in spans if span is not None and span[0].is_const), 0)

    @cached_property
    def uses(self) -> tuple[tuple[Use, tuple[_Axis, ...]], ...]:
        found = dict.fromkeys(uses_of(self.statement))
        return tuple((use, tuple(self._axis(lin, dict(use.bound)) for lin in use.index)) for use in found)

    @property
    def is_light(self) -> bool:
        """Whether a few points fit into registers together, and no division or function dominates their time."""
        value = self.statement.value
        return is_plain_arithmetic(value) and len(reads(value)) <= MOST_READS

    @property
    def reach(self) -> list[tuple[int, int]]:
        """The first and the last row that each use touches in the row 0."""
        return [axis.row[1:] for _, axes in self.uses for axis in axes if axis.is_row and axis.row is not None]

    def _axis(self, lin: Lin, bound: dict[str, Lin]) -> _Axis:
        if self.lead is None:
            span = interval(lin, bound)
            return _Axis(span, span, False)
        weight = lin.coefficient(self.lead)
        rest = interval(lin - Lin.symbol(self.lead).scaled(weight), bound)
        return _Axis(interval(lin, bound), rest, weight == 1)


class _Skewing:
    def __init__(self, program: Program) -> None:
        self.program, self.buffers, self.names = program, program.buffers, names_of(program)
        self.kept = program.interface

    def each(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or not _is_plain(statement):
            return (statement,)
        loop = _forwards(statement)
        sweeps = [sweep for s in loop.body if (sweep := self.sweep(s)) is not None]
        if len(sweeps) < len(loop.body) or not self.is_large(sweeps):
            return (statement,)
        if self.is_shared(loop) or self.has_values_of_rows(loop, sweeps):
            return (statement,)
        shifts = _shifts(sweeps)
        slope = _slope(sweeps, shifts, loop.var)
        steps = self.steps(loop, sweeps, shifts, slope)
        return (self.waves(loop, sweeps, shifts, slope, steps),) if steps else (statement,)

    def sweep(self, statement: Statement) -> _Sweep | None:
        """A statement as rows, if dependences can be told row by row."""
        if not isinstance(statement, Compute) or not all(extent.is_const for _, extent in statement.params):
            return None
        if statement.fresh or statement.accumulate not in (None, "add") or product_of(statement, self.buffers):
            return None
        return _Sweep(statement, _lead(statement))

    def is_shared(self, loop: Loop) -> bool:
        """Whether single sweeps, or several after fusion, have enough work for threads."""
        return is_worth_threads(loop.body) and any(
            is_worth_threads((s,)) for s in fuse(self.program.with_body(loop.body)).body
        )

    def has_values_of_rows(self, loop: Loop, sweeps: list[_Sweep]) -> bool:
        """Whether a temporary goes from sweep to sweep at the same rows: fused, it would not need all its rows."""
        ends: dict[str, set[tuple[int, int]]] = {}
        for sweep in sweeps:
            for use, axes in sweep.uses:
                found = [axis.row[1:] for axis in axes if axis.is_row and axis.row is not None]
                ends.setdefault(use.buffer, set()).add(found[0] if found else (0, 1))
        same = [name for name, one in ends.items() if len(one) == 1 and all(low == high for low, high in one)]
        return any(name not in self.kept and is_privatisable(loop.body, name) for name in same)

    def row_bytes(self, sweeps: list[_Sweep]) -> dict[str, int]:
        """The bytes of a row of each array that rows move along."""
        found: dict[str, int] = {}
        for sweep in sweeps:
            for use, axes in sweep.uses:
                first = next((k for k, axis in enumerate(axes) if axis.is_row), None)
                if first is not None:
                    buffer = self.buffers[use.buffer]
                    size = math.prod(extent.const for extent in buffer.shape[first + 1 :]) * buffer.dtype.itemsize
                    found[use.buffer] = max(found.get(use.buffer, 0), size)
        return found

    def is_large(self, sweeps: list[_Sweep]) -> bool:
        """Whether there are sweeps over long rows of arrays that are together larger than the cache."""
        long = [sweep for sweep in sweeps if sweep.lead and sweep.points >= LEAST_POINTS]
        rows = max((sweep.rows for sweep in long), default=0)
        return len(long) > 1 and rows * sum(self.row_bytes(sweeps).values()) > CACHE

    def steps(self, loop: Loop, sweeps: list[_Sweep], shifts: list[int], slope: int) -> int:
        """How many steps to run together; 0 if one by one as before is best."""
        row, rows = sum(self.row_bytes(sweeps).values()), max(sweep.rows for sweep in sweeps)
        ends = [(low - s, high - s) for one, s in zip(sweeps, shifts, strict=True) for low, high in one.reach]
        height = max(high for _, high in ends) - min(low for low, _ in ends) + 1
        for steps in STEPS:
            at_work = height + slope * (steps - 1)
            is_short = loop.trips.is_const and loop.trips.const < steps
            if at_work * row <= CACHE and 2 * at_work <= rows and not is_short:
                return steps
        return 0

    # --- what comes of it

    def waves(self, loop: Loop, sweeps: list[_Sweep], shifts: list[int], slope: int, steps: int) -> Loop:
        wave, step, block = (self.names.fresh(name) for name in ("wave", f"{loop.var}_step", f"{loop.var}_waves"))
        trip = Lin.symbol(block).scaled(steps) + Lin.symbol(step) if steps > 1 else Lin.symbol(loop.var)
        first = Lin.symbol(wave).scaled(ROWS) - (Lin.symbol(step).scaled(slope) if steps > 1 else 0)
        groups = _groups(sweeps, shifts)
        body = tuple(s for shift, members in groups for s in _rows(members, first - shift, {loop.var: trip}))
        last = max(sweep.rows + shift for sweep, shift in zip(sweeps, shifts, strict=True))
        count = -(-(last + slope * (steps - 1)) // ROWS)
        if steps == 1:
            return replace(loop, body=(_loop(wave, Lin(count), body, loop),))
        rest = loop.trips - Lin.symbol(block).scaled(steps)
        together = Lin.symbol(Op("minimum", (Int(steps), Int(rest)), INT))
        waves = _loop(wave, Lin(count), (_loop(step, together, body, loop),), loop)
        blocks = Lin.symbol(Op("floor_divide", (Int(loop.trips + steps - 1), Int(steps)), INT))
        return _loop(block, blocks, (waves,), loop)


def _forwards(loop: Loop) -> Loop:
    """A loop over plain statements, with a backward loop's counter reversed."""
    if not loop.backward:
        return loop
    turned = {loop.var: loop.trips - 1 - Lin.symbol(loop.var)}
    return replace(loop, body=tuple(rewrite_statement(s, turned) for s in loop.body), backward=False)


def _loop(var: str, trips: Lin, body: Block, like: Loop) -> Loop:
    counter = Lin.symbol(var)
    return Loop(var, trips, body, (counter, trips - counter - 1), where=like.where)


def _rows(sweeps: list[_Sweep], row: Lin, symbols: dict[str, Lin]) -> Block:
    """Some rows of each of some sweeps, as far as there are such rows."""
    last = sweeps[0].rows - 1
    single = tuple(_if_inside(row + k, last, tuple(_row(one, row + k, symbols) for one in sweeps)) for k in range(ROWS))
    if last == 0:
        return (replace(single[0], orelse=single[1:]),)
    if ROWS == 1 or not all(one.is_light for one in sweeps):
        return single
    together = tuple(part for one in sweeps for part in _joined([_row(one, row + k, symbols) for k in range(ROWS)]))
    return (replace(_if_inside(row, last + 1 - ROWS, together), orelse=single),)


def _if_inside(row: Lin, last: int, body: Block) -> Branch:
    least = Op("less_equal", (Int(0), Int(row)), BOOL)
    condition: Expr = Op("logical_and", (least, Op("less_equal", (Int(row), Int(last)), BOOL)), BOOL)
    if last == 0:
        condition = Op("equal", (Int(row), Int(0)), BOOL)
    return Branch(condition, body, (), (row, last - row), body[0].where)


def _joined(rows: list[Compute]) -> Block:
    """Rows of one sweep side by side, if they are vectors."""
    first = rows[0]
    if len(first.params) != 1:
        return tuple(rows)
    ((name, extent),) = first.params
    counter = Lin.symbol(name)
    body = tuple(replace(row, params=()) for row in rows)
    return (Loop(name, extent, body, (counter, extent - counter - 1), where=first.where, is_parallel=True),)


def _row(sweep: _Sweep, row: Lin, symbols: dict[str, Lin]) -> Compute:
    params = tuple(item for item in sweep.statement.params if item[0] != sweep.lead)
    own = {sweep.lead: row} if sweep.lead else {}
    changed = rewrite_statement(replace(sweep.statement, params=params), symbols | own)
    assert isinstance(changed, Compute)
    return changed


def _groups(sweeps: list[_Sweep], shifts: list[int]) -> list[tuple[int, list[_Sweep]]]:
    """Sweeps over the same rows with the same shift, joined into groups where that keeps all dependences."""
    groups: list[tuple[int, list[_Sweep]]] = []
    for sweep, shift in zip(sweeps, shifts, strict=True):
        for other, members in reversed(groups):
            if other == shift and members[0].rows == sweep.rows:
                members.append(sweep)
                break
            if not all(commute(one.statement, sweep.statement) for one in members):
                groups.append((shift, [sweep]))
                break
        else:
            groups.append((shift, [sweep]))
    return groups


# --- when rows may run


def _shifts(sweeps: list[_Sweep]) -> list[int]:
    """For each sweep the number of waves by which it lags behind, so that all that a row depends on has run."""
    found: list[int] = []
    for k, sweep in enumerate(sweeps):
        before = zip(sweeps[:k], found, strict=True)
        least = [shift + far for one, shift in before for far in _distances(one, sweep, None)]
        shift = max([sweep.first, *least])
        # Together with others over the same rows, they share what they load.
        mates = {s for one, s in zip(sweeps[:k], found, strict=True) if _are_alike(one, sweep)}
        found.append(shift + 1 if shift + 1 in mates and shift not in mates else shift)
    return [shift - min(found) for shift in found]


def _are_alike(a: _Sweep, b: _Sweep) -> bool:
    """Whether statements change the same rows of the same array."""
    return a.statement.target.buffer == b.statement.target.buffer and (a.rows, a.first) == (b.rows, b.first)


def _slope(sweeps: list[_Sweep], shifts: list[int], var: str) -> int:
    """How many waves later each sweep runs the same row of the next step."""
    shifted = list(zip(sweeps, shifts, strict=True))
    pairs = [(one, s, other, r) for one, s in shifted for other, r in shifted]
    return max([0, *(s - r + far for one, s, other, r in pairs for far in _distances(one, other, var))])


def _distances(first: _Sweep, second: _Sweep, var: str | None) -> Iterator[int]:
    """For each two conflicting uses: by how much the first one's row can exceed the second one's.

    Args:
        var: the counter of the steps, if the second one is in a later step; None if they are in the same one.
    """
    for a, mine in first.uses:
        for b, theirs in second.uses:
            axes = list(zip(mine, theirs, strict=True)) if conflict(a, b) else None
            if axes is None or any(_are_apart(x.all, y.all, var) for x, y in axes):
                continue
            if first.lead is None and second.lead is None:
                yield 0
                continue
            far = [_difference(x, y, first, second, var) for x, y in axes]
            yield min([first.rows - 1, *(d for d in far if d is not None)])


def _are_apart(x: Span, y: Span, var: str | None) -> bool:
    """Whether two indices never coincide."""
    if x is None or y is None or x[0] != y[0]:
        return False
    step = x[0].coefficient(var) if var is not None else 0
    # Those of later steps are further on by this step at least, or further back.
    is_below = x[2] < y[1] + max(step, 0) and step >= 0
    is_above = y[2] + min(step, 0) < x[1] and step <= 0
    return is_below or is_above


def _difference(x: _Axis, y: _Axis, first: _Sweep, second: _Sweep, var: str | None) -> int | None:
    """The greatest difference of the rows at which two indices are equal; None if this axis does not limit it."""
    tells = (first.lead is None or x.is_row) and (second.lead is None or y.is_row)
    if not tells or x.row is None or y.row is None or x.row[0] != y.row[0]:
        return None
    if var is not None and x.row[0].coefficient(var):
        return None
    return y.row[2] - x.row[1]


def _is_plain(loop: Loop) -> bool:
    """Whether a loop is a sequence of statements, with a number of trips that is fixed before it runs."""
    is_counted = loop.start == Lin(0) and not loop.is_open and not loop.is_parallel
    return is_counted and loop.trips.is_affine and 1 < len(loop.body) <= MOST_STATEMENTS


def _lead(statement: Compute) -> str | None:
    """The parameter that goes from row to row of the target."""
    names = {name for name, _ in statement.params}
    for lin in statement.target.index[:-1]:
        mine = [atom for atom, _ in lin.terms if atom in names]
        if mine:
            (name, *others) = mine
            is_row = not others and lin.coefficient(name) == 1 and isinstance(name, str)
            return name if is_row else None
    return None
