"""Iteration space of a product over all trips of a loop: a box, or rows along one parameter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sdfgad.dependence.intervals import interval
from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import Compute, Loop, Params, rewrite_statement
from sdfgad.optimise.products.rows import Rows


@dataclass(frozen=True)
class Trips:
    """A loop, a product in it written as a sum, and the trip counts of the loops around.

    Attributes:
        rows: the points as rows, if the extent or place of a parameter of the product moves with the trips.
        is_mirrored: whether trips are counted from the last one in `product` and in all that is made from it.
    """

    loop: Loop
    position: int
    product: Compute
    around: dict[str, Lin]
    rows: Rows | None = None
    is_mirrored: bool = False

    @property
    def bound(self) -> dict[str, Lin]:
        return {**self.around, self.loop.var: self.loop.trips}

    def place(self, params: Params) -> tuple[tuple[Lin, ...], tuple[Lin, ...]] | None:
        """The shape of an array with an element for each trip and point of a box, and the index of that element."""
        axes = [self.axis(name, extent) for name, extent in params]
        known = [axis for axis in axes if axis is not None]
        if len(known) < len(axes):
            return None
        shape = (self.loop.trips, *(Lin(size) for _, size in known))
        return shape, (Lin.symbol(self.loop.var), *(index for index, _ in known))

    def axis(self, name: str, extent: Lin) -> tuple[Lin, int] | None:
        """The index and the size of the axis along which the values of a parameter are stored."""
        if self.rows is not None and name == self.rows.param:
            low, high = self.rows.ends
            return self.rows.column, high - low
        span = interval(extent, self.bound)
        return (Lin.symbol(name), span[2]) if span is not None and span[0] == Lin(0) else None

    def with_inside(self, inside: tuple[Compute, ...]) -> Loop:
        body = self.loop.body
        made = map(self.as_inside, inside)
        return replace(self.loop, body=(*body[: self.position], *made, *body[self.position + 1 :]))

    def as_inside(self, statement: Compute) -> Compute:
        """The inverse of mirroring: a statement in the loop's own count of trips."""
        return _mirrored(statement, self.loop) if self.is_mirrored else statement


def views(trips: Trips) -> Iterator[Trips]:
    """The iteration space of a product over all trips, in all ways: as box or rows, trips counted from either end."""
    product, loop = trips.product, trips.loop
    indices = [product.target.index, *(read.index for read in reads(product.value))]
    lins = [lin for index in indices for lin in index]
    yield from (replace(trips, rows=rows) for rows in _shapes(product, loop))
    if any(lin.coefficient(loop.var) < 0 for lin in lins):
        product = _mirrored(product, loop)
        for rows in _shapes(product, loop):
            yield replace(trips, product=product, rows=rows, is_mirrored=True)


def _mirrored(statement: Compute, loop: Loop) -> Compute:
    return rewrite_statement(statement, {loop.var: loop.trips - 1 - Lin.symbol(loop.var)})


def _shapes(product: Compute, loop: Loop) -> Iterator[Rows | None]:
    """The iteration space of a product over all trips: None for a box, or rows along a parameter."""
    moving = [name for name, extent in product.params if extent.coefficient(loop.var)]
    if not moving:
        yield None
    for name, extent in product.params:
        rest = extent - Lin.symbol(loop.var).scaled(extent.coefficient(loop.var))
        if set(moving) - {name} or not rest.is_const:
            continue
        slope = extent.coefficient(loop.var)
        for shift in dict.fromkeys((*_shifts(product, name, loop.var), 0)):
            rows = Rows(loop.var, loop.trips.const, name, rest.const, slope, shift)
            if (slope or shift) and rows.is_possible:
                yield rows


def _shifts(product: Compute, name: str, var: str) -> Iterator[int]:
    indices = [product.target.index, *(read.index for read in reads(product.value))]
    for index in indices:
        for lin in index:
            if lin.coefficient(name) and lin.coefficient(var) % lin.coefficient(name) == 0:
                yield lin.coefficient(var) // lin.coefficient(name)
