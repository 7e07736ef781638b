"""Reproducible summation (integer accumulators): contributions to elements that data chooses are added as integers.

``h[k[i]] += x[i]`` becomes

    largest[k[i]] = max(largest[k[i]], |x[i]|)
    high[k[i]] += the first 31 bits of x[i], counted from those of largest[k[i]]
    low[k[i]] += the next 32 bits
    h += (high + low / 2**32) * the unit of high

Maxima and sums of integers do not depend on their order, so that each point is a thread, which uses atomics. What is
cut off of a contribution is below 2**-62 of the largest one to its element; a double has 2**-53. As Demmel and Nguyen,
"Parallel Reproducible Summation" (2015), with one bin for each element, which the maximum finds first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Const, Expr, Lin, Op, Read, cast
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Accumulate,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    Whole,
    reads_of,
    with_blocks,
)
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.device.temporaries import cleared, is_dense, largest_bytes
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import Sum, points
from sdfgad.schedule.kernels import Form, can_be_threads, form_of

BOOL, DOUBLE, LONG = (np.dtype(name) for name in ("bool", "float64", "int64"))
# |x| < 2**31 units; so many contributions have a sum below 2**62.
BITS, MOST_POINTS = 31, 1 << 31
# The spacing of doubles around x is 2**-52 of the power of two below x.
UNIT = 2.0 ** (53 - BITS)
LOW = 2.0**32


def exact_scatters(program: Program) -> Program:
    """The program with such statements, also those in loops of their own."""
    scatters = _Scatters(program)
    body = scatters.block(program.body)
    return replace(program, body=body, buffers=scatters.buffers)


@dataclass(frozen=True)
class _Nest:
    """A statement in parallel loops around nothing else, outermost first."""

    loops: tuple[Loop, ...]
    statement: Compute

    @property
    def extents(self) -> list[Lin]:
        return [*(loop.trips for loop in self.loops), *(extent for _, extent in self.statement.params)]

    @property
    def is_injective(self) -> bool:
        """Whether no two points meet in an element."""
        counters = [(loop.var, loop.trips) for loop in self.loops]
        whole = self.around(self.statement)
        is_apart = not isinstance(whole, Loop) or can_be_threads(whole, counters)
        return is_apart and Sum(self.statement).order.is_injective

    def around(self, statement: Compute) -> Statement:
        block: Block = (statement,)
        for loop in reversed(self.loops):
            block = (replace(loop, body=block),)
        return block[0]


class _Scatters:
    def __init__(self, program: Program) -> None:
        self.names: Names = names_of(program)
        self.buffers = dict(program.buffers)
        # How many sequential loops are around.
        self.depth = 0
        self.largest = largest_bytes(program)

    def block(self, block: Block) -> Block:
        return flat_map(block, self.each)

    def each(self, statement: Statement) -> Block:
        nest = _nest_of(statement)
        if nest is not None and self.is_scatter(nest) and self.is_worth(nest):
            return self.exact(nest)
        if not isinstance(statement, Loop):
            return (with_blocks(statement, self.block),)
        if statement.is_parallel:
            # Its trips run at the same time: nothing in it is cleared, or added up, by one of them for all.
            return (statement,)
        self.depth += 1
        inside = with_blocks(statement, self.block)
        self.depth -= 1
        return (inside,)

    def is_worth(self, nest: _Nest) -> bool:
        """Whether contributions are not far fewer than the elements that each trip of a loop around goes through."""
        elements = _size(self.buffers[nest.statement.target.buffer])
        return not self.depth or is_dense(elements, points(nest.extents) or 0)

    def is_scatter(self, nest: _Nest) -> bool:
        one, total = nest.statement, points(nest.extents)
        is_sum = one.accumulate == "add" and one.value.dtype.kind in "fc" and not (one.fresh and nest.loops)
        is_free = all(read.buffer != one.target.buffer for read in one.read)
        # Loops around contributions that meet where affine indices say so are those of `spread_scatters`.
        is_placed_by_data = bool(nest.loops) and not all(form.is_affine for form in one.target.index)
        is_host = form_of(one, self.buffers) is Form.HOST or is_placed_by_data
        return is_sum and is_free and is_host and not nest.is_injective and (total or 0) < MOST_POINTS

    def exact(self, nest: _Nest) -> Block:
        statement, before = nest.statement, list[Statement]()
        target = self.buffers[statement.target.buffer]
        if statement.fresh:
            before.append(cleared(target, statement.where))
            statement = replace(statement, fresh=False)
        if self.is_staged(nest):
            staged, statement = self.staged(statement)
            before.append(staged)
        nest = replace(nest, statement=statement)
        if target.dtype.kind != "c":
            steps, total, is_some = self.added(nest, target, cast(statement.value, DOUBLE))
            return (*before, *steps, self.total(target, statement, cast(total, target.dtype), is_some))
        parts = [self.added(nest, target, cast(Op(n, (statement.value,), _part(target)), DOUBLE)) for n in PARTS]
        steps = tuple(step for some, _, _ in parts for step in some)
        value = Op("complex", tuple(cast(total, _part(target)) for _, total, _ in parts), target.dtype)
        is_some = Op("logical_or", tuple(one for _, _, one in parts), BOOL)
        return (*before, *steps, self.total(target, statement, value, is_some))

    # --- the contributions

    def is_staged(self, nest: _Nest) -> bool:
        """Whether contributions are stored before they are read three times."""
        statement = nest.statement
        size = points([extent for name, extent in statement.params if name in Sum(statement).order.own])
        if nest.loops or size is None or size * statement.value.dtype.itemsize > self.largest:
            return False
        return not isinstance(statement.value, (Read, Const)) or len(Sum(statement).order.own) < len(statement.params)

    def staged(self, statement: Compute) -> tuple[Compute, Compute]:
        """The contributions to each place, and the statement that adds these."""
        own = tuple((n, e) for n, e in statement.params if n in Sum(statement).order.own)
        shape, dtype = tuple(extent for _, extent in own), statement.value.dtype
        buffer = self.buffer("contributions", shape, dtype)
        access = Access(buffer.name, tuple(Lin.symbol(name) for name, _ in own))
        is_sum = len(own) < len(statement.params)
        first = replace(statement, target=access, accumulate="add" if is_sum else None, fresh=is_sum)
        return first, replace(statement, params=own, value=access.read(dtype))

    def added(self, nest: _Nest, target: Buffer, value: Expr) -> tuple[Block, Expr, Expr]:
        """Statements that add real contributions, the sum for each element, and whether it is of any but zeros."""
        largest = self.buffer("largest", target.shape, DOUBLE)
        high, low = (self.buffer(name, target.shape, LONG) for name in ("high", "low"))
        place = nest.statement.target.index
        digits = _Digits(value, Read(largest.name, place, DOUBLE))
        added: list[tuple[Buffer, Accumulate, Expr]] = [
            (largest, "maximum", Op("absolute", (value,), DOUBLE)),
            (high, "add", digits.high),
            (low, "add", digits.low),
        ]
        steps: list[Statement] = [cleared(buffer, nest.statement.where) for buffer, _, _ in added]
        for buffer, kind, term in added:
            one = replace(nest.statement, target=Access(buffer.name, place), value=term, accumulate=kind)
            steps.append(nest.around(one))
        whole = Whole(target.name, target.shape, target.dtype).access.index
        read = [Read(buffer.name, whole, buffer.dtype) for buffer in (largest, high, low)]
        return tuple(steps), _total(*read), Op("not_equal", (read[0], _double(0.0)), BOOL)

    def total(self, target: Buffer, statement: Compute, value: Expr, is_some: Expr) -> Compute:
        """The sums where there are some: other elements may have no value yet."""
        whole = Whole(target.name, target.shape, target.dtype)
        value = Op("select", (is_some, value, Const(target.dtype.type(0).item(), target.dtype)), target.dtype)
        return replace(statement, params=whole.params, target=whole.access, value=value, fresh=False)

    def buffer(self, name: str, shape: tuple[Lin, ...], dtype: np.dtype[np.generic]) -> Buffer:
        found = Buffer(self.names.fresh(name), shape, dtype)
        self.buffers[found.name] = found
        return found


PARTS = ("real", "imag")


class _Digits:
    """The digits of a number, in units that follow from the largest one; of infinite ones, how many there are."""

    def __init__(self, value: Expr, largest: Expr) -> None:
        self.is_finite = _is_finite(largest)
        scaled = Op("divide", (value, _unit(largest)), DOUBLE)
        first = Op("rint", (scaled,), DOUBLE)
        rest = Op("multiply", (Op("subtract", (scaled, first), DOUBLE), _double(LOW)), DOUBLE)
        self.high = self.digits(first, Op("equal", (value, _double(math.inf)), BOOL))
        self.low = self.digits(Op("rint", (rest,), DOUBLE), Op("equal", (value, _double(-math.inf)), BOOL))

    def digits(self, number: Expr, is_counted: Expr) -> Expr:
        return Op("select", (self.is_finite, cast(number, LONG), cast(is_counted, LONG)), LONG)


def _total(largest: Expr, high: Expr, low: Expr) -> Expr:
    """The sum; where there are infinite contributions, or some that are not numbers, what these have as their sum."""
    fraction = Op("divide", (cast(low, DOUBLE), _double(LOW)), DOUBLE)
    number = Op("multiply", (Op("add", (cast(high, DOUBLE), fraction), DOUBLE), _unit(largest)), DOUBLE)
    has_plus, has_minus = (Op("greater", (count, Const(0, LONG)), BOOL) for count in (high, low))
    nan, inf = _double(math.nan), _double(math.inf)
    infinite = _select(has_plus, _select(has_minus, nan, inf), _double(-math.inf))
    infinite = _select(Op("isnan", (largest,), BOOL), nan, infinite)
    return _select(_is_finite(largest), number, infinite)


def _unit(largest: Expr) -> Expr:
    """What a high digit counts: a power of two."""
    return Op("multiply", (Op("spacing", (largest,), DOUBLE), _double(UNIT)), DOUBLE)


def _is_finite(largest: Expr) -> Expr:
    return Op("isfinite", (largest,), BOOL)


def _select(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Op("select", (condition, then, otherwise), DOUBLE)


def _double(value: float) -> Const:
    return Const(value, DOUBLE)


def _part(buffer: Buffer) -> np.dtype[np.generic]:
    """The dtype of the real part."""
    return np.empty(0, buffer.dtype).real.dtype


def _nest_of(statement: Statement) -> _Nest | None:
    loops = list[Loop]()
    while isinstance(statement, Loop) and len(statement.body) == 1 and _is_parallel(statement):
        loops.append(replace(statement, is_parallel=True, backward=False))
        (statement,) = statement.body
    return _Nest(tuple(loops), statement) if isinstance(statement, Compute) else None


def _is_parallel(loop: Loop) -> bool:
    """Whether trips meet in nothing but sums, if at all."""
    is_box = not loop.is_open and loop.start == Lin(0) and not reads_of(loop)
    return loop.is_parallel or (is_box and are_independent(uses_of(loop), loop.var))


def _size(buffer: Buffer) -> int:
    return points(list(buffer.shape)) or 0
