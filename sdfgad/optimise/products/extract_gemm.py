"""Loop distribution for matrix products (GEMM): products leave sequential loops; BLAS does those of all trips at once.

``for i: for p, q: t[p] = sum of x[q, i] * x[q, i + p]; …`` reads only what the loop does not change: ``T[i, i + p]``
can be computed before the loop. ``for i: …; for p, q: y[q, i + p] += t[p] * x[q, i]``, where the loop otherwise only
adds to `y`, can be computed after the loop, if each trip saves its `t` in ``T[i, i + p]``. A triangle of such points is
cut into rectangles, each of them one matrix product, and short rows (`cuts`). Only the terms of the program enter its
sums, so that an infinity or a NaN elsewhere in an array spreads to no result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdfgad.dependence.aliasing import selects
from sdfgad.dependence.intervals import interval
from sdfgad.dependence.uses import Use, own_params, uses_of
from sdfgad.ir.expr import Const, Expr, Lin, Read, reads, rewrite, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    computes,
    reindexed,
    written,
)
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.names import names_of
from sdfgad.optimise.products.cuts import Cuts
from sdfgad.optimise.products.trips import Trips, views
from sdfgad.optimise.sizes import known_bytes, largest
from sdfgad.optimise.sums.terms import as_sum, is_counted
from sdfgad.schedule.products import matrix_product_of, product_of
from sdfgad.schedule.target import cpu

# What is kept of a trip must be used at least so many times.
REUSE = 8
# The multiplications that a launch on a device is worth: what a large one computes in some microseconds.
LAUNCHED = 1 << 24
Path = tuple[int, ...]


def extract_gemm(program: Program) -> Program:
    """The program with such products before or after the loops."""
    lifting = _Lift(dict(program.buffers), names_of(program), 0 if program.device == "cpu" else LAUNCHED)
    body = flat_map(program.body, lifting.statement)
    return replace(program, buffers=lifting.buffers, body=body)


@dataclass(frozen=True)
class _Out:
    """A loop without one of its products, and the statements that compute it before or after the loop.

    Attributes:
        moved: the product, if it is still one statement.
        is_product: whether BLAS does it as a product of matrices.
    """

    before: Block
    loop: Loop
    after: Block
    moved: Compute | None
    is_product: bool

    @property
    def block(self) -> Block:
        return (*self.before, *_unless_empty(self.loop), *self.after)


class _Lift:
    def __init__(self, buffers: dict[str, Buffer], names: Names, cut_work: int) -> None:
        self.buffers, self.names, self.cut_work = buffers, names, cut_work
        self.copies: set[str] = set()
        self.limit = largest(buffers)

    def statement(self, statement: Statement) -> Block:
        """A statement of the program's body, with the products that leave it before and after it."""
        before, after = list[Statement](), list[Statement]()
        while isinstance(statement, Loop):
            out = next(filter(None, (self.out(statement, path) for path in self.candidates(statement))), None)
            if out is None:
                break
            before += out.before
            after += out.after
            statement = out.loop
        return (*before, *(_unless_empty(statement) if before or after else (statement,)), *after)

    # --- which

    def candidates(self, loop: Loop) -> Iterator[Path]:
        """The paths to large products that are not yet matrix products, in loops with known numbers of trips."""
        if not is_counted(loop):
            return
        for path, bound in _paths(loop, {loop.var: loop.trips}):
            statement = _at(loop, path)
            assert isinstance(statement, Compute)
            spans = [interval(extent, bound) for _, extent in statement.params]
            counts = [s[2] if s is not None and s[0] == Lin(0) else 0 for s in spans]
            work = math.prod((*counts, *(trips.const for trips in bound.values())))
            if (
                work >= cpu().lifted_work
                and as_sum(statement) is not None
                and matrix_product_of(statement, self.buffers) is None
            ):
                yield path

    def is_worth(self, block: Block) -> bool:
        """Whether a block has a matrix product of enough multiplications to be worth the arrays that are kept."""
        products = [matrix_product_of(statement, self.buffers) for statement in computes(block)]
        return any(product is not None and product.work >= cpu().call_work for product in products)

    # --- out of one loop after another

    def out(self, loop: Loop, path: Path) -> _Out | None:
        """Moves a product out of its loop, and out of as many loops around that as is useful."""
        best: _Out | None = None
        saved, kept = dict(self.buffers), self.buffers
        while path:
            inner, around = _around(loop, path)
            out = self.once(inner, path[-1], around)
            if out is None:
                break
            if len(path) == 1:
                best = out if out.is_product else best
                kept = dict(self.buffers) if out.is_product else kept
                break
            loop = _replaced(loop, path[:-1], out.block)
            if out.is_product:
                # As far as this it is good for something.
                best, kept = _Out((), loop, (), None, is_product=True), dict(self.buffers)
            if out.moved is None:
                break
            path = (*path[:-2], path[-2] + next(k for k, s in enumerate(out.block) if s is out.moved))
        self.buffers = saved if best is None else kept
        return best

    def once(self, loop: Loop, position: int, around: dict[str, Lin]) -> _Out | None:
        """Moves a product out of the loop right around it, preferably so that it becomes a product of matrices."""
        statement = loop.body[position]
        assert isinstance(statement, Compute)
        product = as_sum(statement)
        if product is None or not is_counted(loop):
            return None
        found: list[tuple[_Out, dict[str, Buffer]]] = []
        saved = dict(self.buffers)
        for trips in views(Trips(loop, position, product, around)):
            for way in (self.apart, self.behind, self.ahead, self.behind_with_copies):
                self.buffers = dict(saved)
                out = way(trips)
                if out is not None:
                    found.append((out, self.buffers))
                if out is not None and out.is_product:
                    return out
        self.buffers = saved
        useful = [(out, buffers) for out, buffers in found if out.moved is not None]
        if not useful:
            return None
        out, self.buffers = useful[0]
        return out

    # --- the ways

    def apart(self, trips: Trips) -> _Out | None:
        """The product after the loop: each trip assigns elements of its own, which the loop uses nowhere else."""
        product, target = trips.product, trips.product.target.buffer
        (write,) = (use for use in uses_of(product) if use.kind == "write") if product.fresh else (None,)
        if write is None or trips.rows is not None or not selects(write, trips.loop.var):
            return None
        changed = written(trips.loop.body)
        is_alone = all(use.buffer != target for use in self.others(trips))
        if not is_alone or any(read.buffer in changed for read in reads(product.value)):
            return None
        (moved,) = self.all_trips(trips, product)
        assert isinstance(moved, Compute)
        return _Out((), trips.with_inside(()), (moved,), moved, self.is_worth((moved,)))

    def behind(self, trips: Trips, copies: bool = False) -> _Out | None:
        """The product after the loop, which does nothing else to the target's buffer than to add to it."""
        product, target = trips.product, trips.product.target.buffer
        if product.fresh or any(u.buffer == target and u.kind != "add" for u in self.others(trips)):
            return None
        changed = [read for read in reads(product.value) if read.buffer in written(trips.loop.body)]
        if bool(changed) != copies or any(read.buffer == target for read in changed):
            return None
        kept: list[Compute] = []
        for read in changed:
            copy = self.copied(trips, read)
            if copy is None:
                return None
            kept.append(copy)
        swap: dict[Expr, Expr] = {read: copy.target.read(read.dtype) for read, copy in zip(changed, kept, strict=True)}
        moved = replace(product, value=rewrite(product.value, replace=swap.get))
        after = self.all_trips(trips, moved)
        single = after[0] if len(after) == 1 and trips.rows is None else None
        assert single is None or isinstance(single, Compute)
        new = tuple(copy for copy in kept if copy.target.buffer not in self.copies)
        self.copies |= {copy.target.buffer for copy in new}
        return _Out((), trips.with_inside(new), after, single, self.is_worth(after))

    def behind_with_copies(self, trips: Trips) -> _Out | None:
        """The same, where the loop changes some of the product's operands: each trip saves a copy of these."""
        return self.behind(trips, copies=True)

    def ahead(self, trips: Trips) -> _Out | None:
        """The product before the loop, which does not change its operands."""
        product, own = trips.product, own_params(trips.product)
        if {read.buffer for read in reads(product.value)} & written(trips.loop.body):
            return None
        if product.fresh and not all(_is_told(product, name) for name, _ in own):
            return None
        place = trips.place(own)
        kept = None if place is None else self.temporary(trips, *place, product.value.dtype)
        if kept is None:
            return None
        inside = replace(product, params=own, value=kept.read(product.value.dtype))
        if product.fresh:
            inside = replace(inside, accumulate=None, fresh=False)
        before = self.summed(trips, replace(product, target=kept, fresh=True))
        single = before[0] if len(before) == 1 and trips.rows is None else None
        assert single is None or isinstance(single, Compute)
        return _Out(before, trips.with_inside((inside,)), (), single, self.is_worth(before))

    def summed(self, trips: Trips, fresh: Compute) -> Block:
        """The product as one sum over all trips as well."""
        rows, own = trips.rows, dict(own_params(fresh))
        if rows is None:
            return self.all_trips(trips, fresh)
        if rows.param in own and self.is_within(trips, fresh):
            cuts = Cuts(rows, fresh, self.names, self.cut_work)
            product = product_of(cuts.whole(), self.buffers)
            # BLAS computes half of a symmetric product, and with less calls.
            return (cuts.whole(),) if product is not None and product.is_symmetric else cuts.hull()
        shape = self.buffers[fresh.target.buffer].shape
        params = tuple((self.names.fresh("p"), extent) for extent in shape)
        everything = Access(fresh.target.buffer, tuple(Lin.symbol(name) for name, _ in params))
        clear = Compute(params, everything, Const(0, fresh.value.dtype), where=fresh.where)
        return (clear, *self.all_trips(trips, replace(fresh, fresh=False)))

    def all_trips(self, trips: Trips, statement: Compute) -> Block:
        """Statements for the product in all trips."""
        if trips.rows is not None:
            return Cuts(trips.rows, statement, self.names, self.cut_work).exact()
        counter = self.names.fresh("row")
        params = ((counter, trips.loop.trips), *statement.params)
        return (reindexed(statement, params, {trips.loop.var: Lin.symbol(counter)}),)

    # --- what is kept of each trip

    def copied(self, trips: Trips, read: Read) -> Compute | None:
        """A statement that saves the elements which a trip reads; None if they are reused too little."""
        names = symbols_in(read.index)
        own = tuple((name, extent) for name, extent in trips.product.params if name in names)
        others = [extent for name, extent in trips.product.params if name not in names]
        spans = [interval(extent, trips.bound) for extent in others]
        if math.prod(s[2] for s in spans if s is not None) < REUSE or read.children:
            return None
        place = trips.place(own)
        if place is None:
            return None
        shape, index = place
        known = [copy for copy in self.copies_at(trips) if _is_same_copy(copy, own, read, index)]
        target = known[0].target if known else self.temporary(trips, shape, index, read.dtype)
        return None if target is None else Compute(own, Access(target.buffer, index), read, where=trips.product.where)

    def copies_at(self, trips: Trips) -> Iterator[Compute]:
        """The copies of operands, saved in each trip, that come right before a product."""
        for statement in reversed(trips.loop.body[: trips.position]):
            if not isinstance(statement, Compute) or statement.target.buffer not in self.copies:
                return
            yield trips.as_inside(statement)

    def temporary(
        self, trips: Trips, shape: tuple[Lin, ...], index: tuple[Lin, ...], dtype: np.dtype[Any]
    ) -> Access | None:
        """An element of a new array; None if the array would be too large."""
        name = self.names.fresh(f"{trips.product.target.buffer}_all")
        buffer = Buffer(name, shape, dtype)
        if known_bytes(buffer) > self.limit:
            return None
        self.buffers[name] = buffer
        return Access(name, index)

    # --- conditions

    def others(self, trips: Trips) -> list[Use]:
        """What the rest of the loop touches."""
        return [use for s in trips.with_inside(()).body for use in uses_of(s)]

    def is_within(self, trips: Trips, statement: Compute) -> bool:
        """Whether reads at all columns of all rows, also those beyond a row's ends, are in bounds."""
        rows = trips.rows
        assert rows is not None
        low, high = rows.ends
        column = Lin.symbol(rows.param) - Lin.symbol(rows.var).scaled(rows.shift) + low
        bound = {**trips.bound, **dict(statement.params), rows.param: Lin(high - low)}
        for read in reads(statement.value):
            for lin, extent in zip(read.index, self.buffers[read.buffer].shape, strict=True):
                span = interval(lin.substitute({rows.param: column}), bound)
                if span is None or span[0] != Lin(0) or not extent.is_const:
                    return False
                if span[1] < 0 or span[2] >= extent.const:
                    return False
        return True


def _unless_empty(statement: Statement) -> Block:
    return () if isinstance(statement, Loop) and not statement.body else (statement,)


def _is_same_copy(copy: Compute, params: Params, read: Read, index: tuple[Lin, ...]) -> bool:
    """Whether an existing copy saves the same elements in the same places."""
    if [extent for _, extent in copy.params] != [extent for _, extent in params]:
        return False
    names = {old: Lin.symbol(new) for (old, _), (new, _) in zip(copy.params, params, strict=True)}
    return rewrite(copy.value, names) is read and tuple(lin.substitute(names) for lin in copy.target.index) == index


def _is_told(statement: Compute, name: str) -> bool:
    """Whether some axis of the target is indexed by this parameter alone."""
    params = dict(statement.params).keys()
    return any(lin.symbols & params == {name} for lin in statement.target.index)


# --- places in a loop


def _paths(loop: Loop, bound: dict[str, Lin]) -> Iterator[tuple[Path, dict[str, Lin]]]:
    """The paths to all statements that only loops are around, with the trip counts of these."""
    for position, statement in enumerate(loop.body):
        if isinstance(statement, Compute):
            yield (position,), bound
        elif isinstance(statement, Loop) and is_counted(statement):
            for path, inner in _paths(statement, {**bound, statement.var: statement.trips}):
                yield (position, *path), inner


def _at(loop: Loop, path: Path) -> Statement:
    statement: Statement = loop
    for position in path:
        assert isinstance(statement, Loop)
        statement = statement.body[position]
    return statement


def _around(loop: Loop, path: Path) -> tuple[Loop, dict[str, Lin]]:
    """The loop right around a path's end, and the trip counts of the loops around that one."""
    around: dict[str, Lin] = {}
    for position in path[:-1]:
        around[loop.var] = loop.trips
        inner = loop.body[position]
        assert isinstance(inner, Loop)
        loop = inner
    return loop, around


def _replaced(loop: Loop, path: Path, block: Block) -> Loop:
    """A loop with the statement at a path replaced."""
    position, *rest = path
    inner = loop.body[position]
    if rest:
        assert isinstance(inner, Loop)
        block = (_replaced(inner, tuple(rest), block),)
    return replace(loop, body=(*loop.body[:position], *block, *loop.body[position + 1 :]))
