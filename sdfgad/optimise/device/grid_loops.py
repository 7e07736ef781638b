"""Grids of sequences (array privatisation): a block of threads for each trip of a loop whose trips are independent.

A batch of sequences, ``for s: for t: x = f(x, y[s, t])``, has a launch for each step of each trip otherwise. Each block
has its own copy of a trip's temporaries, and of what all trips add to; the latter are summed after the loop, in the
order of the blocks. Where trips are more than the blocks that run at the same time, or copies would be larger than all
other arrays, each block runs several trips one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sdfgad.dependence.dead_after import is_dead_after
from sdfgad.dependence.trip_copies import TripCopies, trip_copies
from sdfgad.ir.expr import Expr, Int, Lin, Op, Read, Rewriter, symbols_of
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
    blocks_of,
    computes,
    reads_of,
    rewrite_statement,
    touch_counts,
    transform,
    walk,
)
from sdfgad.optimise.device.contributions import with_contributions
from sdfgad.optimise.device.guards import BOOL
from sdfgad.optimise.device.memories import placed_buffers, private_numbers
from sdfgad.optimise.device.side import SECONDS, Side
from sdfgad.optimise.device.temporaries import cleared, known_bytes
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import RESIDENT, points
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.mean_work import Means, mean_size, means_in
from sdfgad.schedule.sequences import is_possible, shared_by_rows, threads_of_sequence

# The blocks around a statement, as `is_dead_after` has them.
Around = tuple[tuple[Statement | None, Block], ...]
# A product of matrices with so many terms is left to a library.
LARGE = 1 << 22
# Bytes of copies that are small whatever the program holds.
SMALL = 1 << 22


def grid_loops(program: Program) -> Program:
    """The program with such loops, outermost ones first."""
    grids = _Grids(program)
    for place, statement in enumerate(program.body):
        grids.outermost(statement, program.body[place + 1 :])
    return grids.program


@dataclass(frozen=True)
class _Grid:
    """A loop of blocks, with what is done before and after it."""

    loop: Loop
    before: Block
    after: Block
    buffers: Mapping[str, Buffer]

    @property
    def statements(self) -> Block:
        return (*self.before, self.loop, *self.after)


class _Grids:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, names_of(program)
        self.users, self.side = touch_counts(program.body), _side_of(program)
        # All copies of a loop together are no larger than what the program holds anyway, or small.
        self.most = max(SMALL, sum(map(known_bytes, program.buffers.values())))

    def outermost(self, statement: Statement, rest: Block) -> None:
        """Make grids of a statement, or in it, where it had not better be in one block, or on the host, as a whole."""
        program, side = self.program, self.side
        self.visit((statement,), None, {}, ((None, rest),))
        changed = self.program.body[: len(self.program.body) - len(rest)]
        if len(self.program.body) == len(program.body) and changed[-1] is not statement:
            is_grid = isinstance(changed[-1], Loop) and changed[-1].is_in_block
            if not is_grid and self.side.best(changed[-1], {}) >= side.best(statement, {}):
                self.program, self.side = program, side

    def visit(self, block: Block, owner: Statement | None, means: Means, outside: Around) -> None:
        """Make grids of the loops of a block, or of those in them."""
        for place, statement in enumerate(block):
            around = outside if owner is None else (*outside, (owner, block[place + 1 :]))
            if not isinstance(statement, Loop):
                for nested in blocks_of(statement):
                    self.visit(nested, statement, means, around)
                continue
            is_host = form_of(statement, self.side.buffers, self.side.private) is Form.HOST
            if is_host and not self.made(statement, means, around):
                self.visit(statement.body, statement, means_in(statement, means), around)

    def made(self, loop: Loop, means: Means, around: Around) -> bool:
        """Whether a loop has become a grid: it can, and the estimate says that it had better."""
        grid = self.grid(loop, means, around)
        if grid is None:
            return False
        program = self.with_grid(loop, grid)
        side = _side_of(program)
        if self.seconds(grid, side, means) >= self.side.best(loop, means):
            return False
        self.program, self.side = program, side
        return True

    def seconds(self, grid: _Grid, side: Side, means: Means) -> float:
        """Those of a grid; its first and last statements share a launch each."""
        around = sum(side.on_device(one, means) for one in (*grid.before, *grid.after))
        count = 1 + bool(grid.before) + bool(grid.after)
        return count * SECONDS.launch + around + side.in_grid(grid.loop, means)

    def with_grid(self, loop: Loop, grid: _Grid) -> Program:
        body = transform(self.program.body, lambda s: grid.statements if s is loop else (s,), loop.written)
        return replace(self.program, body=body, buffers={**self.program.buffers, **grid.buffers})

    def grid(self, loop: Loop, means: Means, around: Around) -> _Grid | None:
        """A loop as a grid, if no trip needs what another one has computed."""
        if not self.is_simple(loop, means_in(loop, means)):
            return None
        plain = with_contributions(loop)
        dead = {name for name in plain.written - self.program.interface if self.is_dead(name, around)}
        copies = trip_copies(plain, self.program.buffers, dead, shared_by_rows(plain))
        if copies is None:
            return None
        numbers = frozenset(n for n in copies.temporaries if self.program.buffers[n].is_single)
        own = frozenset(n for n in numbers if self.is_own(n, loop))
        # Numbers are variables of a block's threads, where all of these have the same.
        while (grid := self.divided(plain, replace(copies, temporaries=copies.temporaries - own))) is not None:
            kept = private_numbers(self.with_grid(loop, grid))
            if own <= kept:
                return grid
            own &= kept
        return None

    def is_own(self, name: str, loop: Loop) -> bool:
        """Whether nothing but a loop uses a buffer."""
        return touch_counts(loop.body)[name] == self.users[name]

    def is_dead(self, name: str, around: Around) -> bool:
        return is_dead_after(around, self.program.buffers[name])

    def is_simple(self, loop: Loop, means: Means) -> bool:
        """Whether the number of trips is known, and a block can run each of them."""
        is_known = loop.trips.is_const and loop.trips.const > 1 and not loop.is_open and not reads_of(loop)
        if not is_known or not is_possible(loop, self.program.buffers, self.program.bounds):
            return False
        return not any(self.is_large_product(one, means) for one in computes(loop.body))

    def is_large_product(self, statement: Compute, means: Means) -> bool:
        is_product = form_of(statement, self.program.buffers) is Form.PRODUCT
        return is_product and mean_size([extent for _, extent in statement.params], means) >= LARGE

    def divided(self, loop: Loop, copies: TripCopies) -> _Grid | None:
        """The loop with copies for each block."""
        sums = {name: _kept_axes(loop, name) for name in copies.sums}
        shapes = {name: self.program.buffers[name].shape for name in copies.temporaries}
        shapes |= {name: tuple(self.program.buffers[name].shape[axis] for axis in axes) for name, axes in sums.items()}
        sizes = [points(list(shape)) for shape in shapes.values()]
        if None in sizes:
            return None
        item = (self.program.buffers[name].dtype.itemsize for name in shapes)
        bytes_ = sum((size or 0) * one for size, one in zip(sizes, item, strict=True))
        count = _blocks(loop, self.most // max(bytes_, 1))
        return _Division(self.program, self.names, loop, count, sums, shapes).grid() if count > 1 else None


def _blocks(loop: Loop, most: int) -> int:
    """The number of blocks, all of which run at the same time, where each has as many trips but for the last one."""
    threads = threads_of_sequence(replace(loop, is_parallel=True, is_in_block=True))
    count = min(loop.trips.const, most, RESIDENT // threads)
    return -(-loop.trips.const // -(-loop.trips.const // count)) if count > 1 else count


def _kept_axes(loop: Loop, name: str) -> tuple[int, ...]:
    """The axes along which a loop adds to more than one place, or to one that data chooses."""
    inside = list(walk((loop,)))
    counters = {s.var for s in inside if isinstance(s, Loop)}
    counters |= {param for s in inside if isinstance(s, Compute) for param, _ in s.params}
    found = [one.target.index for one in computes(loop.body) if one.target.buffer == name]
    first = found[0]

    def is_fixed(axis: int) -> bool:
        form = first[axis]
        is_known = form.is_affine and counters.isdisjoint(symbols_of(Int(form)))
        return is_known and all(index[axis] == form for index in found)

    return tuple(axis for axis in range(len(first)) if not is_fixed(axis))


class _Division:
    """Divides the trips of one loop among blocks."""

    def __init__(
        self,
        program: Program,
        names: Names,
        loop: Loop,
        count: int,
        sums: Mapping[str, tuple[int, ...]],
        shapes: Mapping[str, tuple[Lin, ...]],
    ) -> None:
        self.program, self.names, self.loop, self.count, self.sums = program, names, loop, count, sums
        self.block = names.fresh("block")
        self.copies = {name: self.copy(name, shape) for name, shape in shapes.items()}

    def copy(self, name: str, shape: tuple[Lin, ...]) -> Buffer:
        """An array with an element, or an array, for each block."""
        own = self.names.fresh(f"{name}_parts" if name in self.sums else f"{name}_each")
        return replace(self.program.buffers[name], name=own, shape=(Lin(self.count), *shape))

    def grid(self) -> _Grid:
        where = self.loop.where
        loop = Loop.over(self.block, Lin(self.count), self.trips(), where, is_parallel=True)
        before = tuple(cleared(self.copies[name], where) for name in self.sums)
        after = tuple(self.total(name) for name in self.sums)
        buffers = {one.name: one for one in self.copies.values()}
        return _Grid(replace(loop, is_in_block=True), before, after, buffers)

    def trips(self) -> Block:
        """The trips of a block: one, or a loop of those that there are."""
        loop, block = self.loop, Lin.symbol(self.block)
        rounds = -(-loop.trips.const // self.count)
        if rounds == 1:
            return self.body(loop.start + block)
        counter = self.names.fresh(loop.var)
        trip = block.scaled(rounds) + Lin.symbol(counter)
        body = self.body(loop.start + trip)
        if rounds * self.count != loop.trips.const:
            is_trip = Op("less", (Int(trip), Int(loop.trips)), BOOL)
            body = (Branch(is_trip, body, (), (loop.trips - trip - 1,), loop.where),)
        return (Loop.over(counter, Lin(rounds), body, loop.where),)

    def body(self, trip: Lin) -> Block:
        """What is done in a trip, with the copies of its block."""
        rewriter = Rewriter({self.loop.var: trip}, self.of_block)
        return transform(self.loop.body, lambda s: (self.moved(rewrite_statement(s, rewriter=rewriter)),))

    def of_block(self, node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer not in self.copies:
            return None
        return Read(self.copies[node.buffer].name, (Lin.symbol(self.block), *node.index), node.dtype)

    def moved(self, statement: Statement) -> Statement:
        if not isinstance(statement, Compute) or statement.target.buffer not in self.copies:
            return statement
        name, index = statement.target.buffer, statement.target.index
        kept = tuple(index[axis] for axis in self.sums.get(name, range(len(index))))
        target = Access(self.copies[name].name, (Lin.symbol(self.block), *kept))
        return replace(statement, target=target)

    def total(self, name: str) -> Compute:
        """The sum of what the blocks have added up, in their order."""
        index = next(one.target.index for one in computes(self.loop.body) if one.target.buffer == name)
        axes, copy = self.sums[name], self.copies[name]
        own = {axis: self.names.fresh("p") for axis in axes}
        part = self.names.fresh("part")
        params = ((part, Lin(self.count)), *zip(own.values(), copy.shape[1:], strict=True))
        place = tuple(Lin.symbol(own[axis]) if axis in own else index[axis] for axis in range(len(index)))
        value = Read(copy.name, tuple(Lin.symbol(one) for one, _ in params), copy.dtype)
        return Compute(params, Access(name, place), value, "add", self.loop.where)


def _side_of(program: Program) -> Side:
    private = private_numbers(program)
    return Side(placed_buffers(program, private), private, program.bounds)
