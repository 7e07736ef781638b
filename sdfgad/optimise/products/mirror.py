"""Merging of mirrored products: two sums over the triangles above and below a diagonal become one matrix product.

``for i: for p, q: y[q, i + p] += t[p] * x[q, i]; y[q, i] += t[p] * x[q, i + p]``, the adjoint of what fills both
triangles of a symmetric matrix, is ``y[q, j] += k[i, j] * x[q, i]`` for all i and j, if each trip adds its `t` to both
``k[i, i + p]`` and ``k[i + p, i]``. If the triangles exclude the diagonal, it is zero in `k`, and the product is the
same only for finite `x`, as 0 * inf is NaN; for other `x` the products are summed row by row without the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Const, Expr, Lin, Op, Read, reads, rewrite, symbols_of
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    reindexed,
    transform,
    written,
)
from sdfgad.optimise.names import names_of, renamed
from sdfgad.optimise.sizes import known_bytes, largest
from sdfgad.optimise.sums.terms import as_sum, is_counted
from sdfgad.schedule.products import matrix_product_of
from sdfgad.schedule.target import cpu


def merge_mirrored(program: Program) -> Program:
    """The program with each such pair of products as one product after the loop."""
    merging = _Merging(dict(program.buffers), names_of(program))
    body = transform(program.body, merging.statement)
    return replace(program, body=body, buffers=merging.buffers)


@dataclass(frozen=True)
class _Triangle:
    """The points (i, j) of a statement in all trips ``i`` of a loop: ``j = p + shift * i + offset``.

    Attributes:
        size: the rows and columns of the square that it is half of.
        has_diagonal: whether the points with equal i and j belong to it.
    """

    var: str
    param: str
    shift: int
    offset: int
    size: int
    has_diagonal: bool

    def column(self, row: Lin) -> Lin:
        return Lin.symbol(self.param) + row.scaled(self.shift) + self.offset

    def at(self, row: Lin, column: Lin) -> dict[str, Lin]:
        """The values of the loop's counter and the parameter at a point (row, column)."""
        return {self.var: row, self.param: column - row.scaled(self.shift) - self.offset}


@dataclass(frozen=True)
class _Pair:
    """Two statements of a loop's body that together cover a square.

    Attributes:
        statements: the one whose target is indexed by the triangle's column, and the one whose is by its row.
        factors: what each of them multiplies with at a point of the triangle, with the names of the first one.
        square: the product for all trips.
    """

    loop: Loop
    statements: tuple[Compute, Compute]
    factors: tuple[Read, Read]
    triangle: _Triangle
    matrix: Buffer
    square: Compute


class _Merging:
    def __init__(self, buffers: dict[str, Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names
        self.limit = largest(buffers)

    def statement(self, statement: Statement) -> Block:
        """A statement; or a loop that fills matrices in place of its pairs of products, followed by the products."""
        if not isinstance(statement, Loop) or not is_counted(statement):
            return (statement,)
        pair = next(self.pairs(statement), None)
        if pair is None:
            return (statement,)
        self.buffers[pair.matrix.name] = pair.matrix
        return (self.clear(pair.matrix), *self.statement(_without(pair)), *self.product(pair))

    # --- which

    def pairs(self, loop: Loop) -> Iterator[_Pair]:
        rows = [s for s in loop.body if isinstance(s, Compute) and _has_growing_rows(loop, s)]
        sums = [s for s in rows if as_sum(s) is not None]
        for first, second in permutations(sums, 2):
            if first.target.buffer == second.target.buffer and self.is_movable(loop, first, second):
                pair = self.pair(loop, first, second)
                if pair is not None:
                    yield pair

    def is_movable(self, loop: Loop, first: Compute, second: Compute) -> bool:
        """Whether the rest of the loop only adds to the target, so that the pair can be added after it."""
        others = [use for s in loop.body if s is not first and s is not second for use in uses_of(s)]
        target = first.target.buffer
        return not (first.fresh or second.fresh) and all(u.buffer != target or u.kind == "add" for u in others)

    def pair(self, loop: Loop, first: Compute, second: Compute) -> _Pair | None:
        """Two statements as a pair, if they are one product of matrices that is large enough."""
        if [extent for _, extent in first.params] != [extent for _, extent in second.params]:
            return None
        alike = renamed(second, [name for name, _ in first.params])
        triangle = next(filter(None, (_triangle(loop, first, alike, name) for name, _ in first.params)), None)
        factors = None if triangle is None else _factors(loop, first, alike, triangle.param)
        if triangle is None or factors is None:
            return None
        size = Lin(triangle.size)
        matrix = Buffer(self.names.fresh(f"{first.target.buffer}_all"), (size, size), factors[0].dtype)
        row, column = self.names.fresh("row"), self.names.fresh("column")
        points = (Lin.symbol(row), Lin.symbol(column))
        element = Access(matrix.name, points)
        params = ((row, size), (column, size), *((n, e) for n, e in first.params if n != triangle.param))
        square = _at(first, triangle.at(*points), factors[0], element, params)
        mirrored = _at(alike, triangle.at(*reversed(points)), factors[1], element, params)
        pair = _Pair(loop, (first, second), factors, triangle, matrix, square)
        return pair if square == mirrored and self.is_worth(square, matrix) else None

    def is_worth(self, square: Compute, matrix: Buffer) -> bool:
        product = matrix_product_of(square, {**self.buffers, matrix.name: matrix})
        return product is not None and product.work >= cpu().matrix_work and known_bytes(matrix) <= self.limit

    # --- what is done instead

    def clear(self, matrix: Buffer) -> Compute:
        params = tuple((self.names.fresh("p"), extent) for extent in matrix.shape)
        everything = Access(matrix.name, tuple(Lin.symbol(name) for name, _ in params))
        return Compute(params, everything, Const(0, matrix.dtype))

    def product(self, pair: _Pair) -> Block:
        """The product of the whole square; without its diagonal where 0 * inf there would be NaN."""
        if pair.triangle.has_diagonal:
            return (pair.square,)
        (other,) = (read for read in reads(pair.square.value) if read.buffer != pair.matrix.name)
        sum_ = Buffer(self.names.fresh("sum"), (), other.dtype)
        self.buffers[sum_.name] = sum_
        names = symbols_of(other)
        params = tuple((name, extent) for name, extent in pair.square.params if name in names)
        zero = Const(0, other.dtype)
        test = Compute(params, Access(sum_.name), Op("multiply", (other, zero), other.dtype), "add", fresh=True)
        is_finite = Op("equal", (Access(sum_.name).read(other.dtype), zero), np.dtype(bool))
        return (test, Branch(is_finite, (pair.square,), (self.by_rows(pair),), where=pair.loop.where))

    def by_rows(self, pair: _Pair) -> Loop:
        """The product of the square without its diagonal, row by row."""
        (row, size), (column, _), *others = pair.square.params
        counter = self.names.fresh("row")
        at = Lin.symbol(counter)
        sides = ((Lin.symbol(column), at), (Lin.symbol(column) + at + 1, size - at - 1))
        body = tuple(
            reindexed(pair.square, ((column, length), *others), {row: at, column: place}) for place, length in sides
        )
        return Loop.over(counter, size, body, pair.loop.where)


def _has_growing_rows(loop: Loop, statement: Compute) -> bool:
    """Whether rows grow or shrink by one point each trip, along some parameter, as those of a triangle do."""
    return any(extent.coefficient(loop.var) in (1, -1) for _, extent in statement.params)


def _at(statement: Compute, symbols: dict[str, Lin], factor: Read, element: Access, params: Params) -> Compute:
    """A statement that adds, with an element of the matrix as a factor."""
    summed = as_sum(statement)
    assert summed is not None
    swap: dict[Expr, Expr] = {factor: element.read(factor.dtype)}
    return reindexed(replace(summed, value=rewrite(summed.value, replace=swap.get), where=None), params, symbols)


def _triangle(loop: Loop, first: Compute, second: Compute, param: str) -> _Triangle | None:
    """The triangle of two statements, whose targets are indexed by its column and by its row, respectively."""
    extent = dict(first.params)[param]
    slope, trips = extent.coefficient(loop.var), loop.trips.const
    rest = extent - Lin.symbol(loop.var).scaled(slope)
    for column, row in zip(first.target.index, second.target.index, strict=True):
        offset = column - Lin.symbol(param) - row
        shift = offset.coefficient(loop.var) + 1
        place = offset - Lin.symbol(loop.var).scaled(shift - 1)
        is_told = column.coefficient(param) == 1 and row.coefficient(param) == 0 and row.coefficient(loop.var) == 1
        if not is_told or not place.is_const or not rest.is_const:
            continue
        shape = (shift, slope, place.const)
        if shape in ((1, -1, 0), (1, -1, 1)):
            size = rest.const + place.const
            has_diagonal = place == Lin(0)
            is_all = trips == size or (trips == size - 1 and not has_diagonal)
        elif shape == (0, 1, 0):
            size, has_diagonal, is_all = trips, rest == Lin(1), rest.const in (0, 1)
        else:
            continue
        if is_all and size > 1:
            return _Triangle(loop.var, param, shift, place.const, size, has_diagonal)
    return None


def _factors(loop: Loop, first: Compute, second: Compute, param: str) -> tuple[Read, Read] | None:
    """In each statement the factor that only depends on the triangle's point; the loop must not change the other."""
    others = {name for name, _ in first.params} - {param}
    found: list[Read] = []
    for statement in (first, second):
        summed = as_sum(statement)
        assert summed is not None
        of_point = [r for r in reads(summed.value) if param in symbols_of(r) and not symbols_of(r) & others]
        rest = [r for r in reads(summed.value) if r not in of_point]
        if len(of_point) != 1 or len(rest) != 1 or rest[0].buffer in written(loop.body):
            return None
        found += of_point
    return (found[0], found[1])


def _without(pair: _Pair) -> Loop:
    """The loop with the pair replaced by statements that fill the matrix."""
    row, (first, second) = Lin.symbol(pair.loop.var), pair.statements
    place = (row, pair.triangle.column(row))

    def kept(factor: Read, at: tuple[Lin, ...]) -> Compute:
        params = tuple((name, extent) for name, extent in first.params if name == pair.triangle.param)
        return Compute(params, Access(pair.matrix.name, at), factor, "add", where=first.where)

    instead = {id(first): kept(pair.factors[0], place), id(second): kept(pair.factors[1], place[::-1])}
    return replace(pair.loop, body=tuple(instead.get(id(statement), statement) for statement in pair.loop.body))
