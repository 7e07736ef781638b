"""im2col: copies overlapping windows into the rows of a matrix, so that products with all of them are calls of BLAS.

In ``for n, i, j, p, q, c: t[n, i, j, c] = sum of x[n, i + p, j + q] * w[p, q, c]`` the windows of `x` are not the rows
of a matrix, and BLAS would take one window at a time. As many windows as fit into the first-level cache are copied
before they are multiplied, ``for n, i: for j, p, q: windows[j, p, q] = x[n, i + p, j + q]; for j, p, q, c: t[…] = sum
of windows[j, p, q] * w[p, q, c]``. In the adjoint, which adds to overlapping windows, the product is computed into such
a matrix first, which is then added to the array (col2im).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Const, Expr, Lin, rewrite, symbols_in
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
    rewrite_statement,
    substituted,
    transform,
)
from sdfgad.optimise.names import names_of
from sdfgad.schedule.products import Operand, Product, matrix_product_of
from sdfgad.schedule.target import cpu

# How many times as large a call must become.
GAIN = 2


def unfold(program: Program) -> Program:
    """The program with such windows copied."""
    unfolding = _Unfold(dict(program.buffers), names_of(program))
    body = transform(program.body, unfolding.statement)
    return replace(program, buffers=unfolding.buffers, body=body)


@dataclass(frozen=True)
class Windows:
    """A product with overlapping windows.

    Attributes:
        operand: what the windows are of: a factor, or the target.
        around: the parameters that become loops around the call, outermost first.
        places: the parameters that number the windows that are copied together.
        inside: the parameters within a window.
    """

    statement: Compute
    operand: Operand
    around: Params
    places: Params
    inside: Params

    @property
    def is_target(self) -> bool:
        return self.operand.access == self.statement.target

    @staticmethod
    def of(statement: Compute, buffers: Mapping[str, Buffer]) -> Windows | None:
        """The windows of a product; None unless a call for many windows is much larger than a call without the copy."""
        if not all(extent.is_const for _, extent in statement.params):
            return None
        statement = _without_ones(statement)
        product = matrix_product_of(statement, buffers)
        if product is None:
            return None
        overlapping = [o for o in (product.a, product.b, product.c) if not o.is_separate]
        if len(overlapping) != 1:
            return None
        found = _split(statement, product, overlapping[0])
        if found is None or (found.is_target and statement.fresh):
            return None
        return found if found.work(buffers) >= GAIN * product.work else None

    def work(self, buffers: Mapping[str, Buffer]) -> int:
        """The multiplications of a call for many windows."""
        name = "windows"
        product = matrix_product_of(self.product(name), {**buffers, name: self.buffer(name)})
        return product.work if product is not None else 0

    def buffer(self, name: str) -> Buffer:
        shape = tuple(extent for _, extent in (*self.places, *self.inside))
        return Buffer(name, shape, self.statement.value.dtype)

    def copy(self, name: str) -> Access:
        return Access(name, tuple(Lin.symbol(p) for p, _ in (*self.places, *self.inside)))

    def product(self, name: str) -> Compute:
        """The product within the loops around."""
        statement, dtype = self.statement, self.statement.value.dtype
        gone = dict(self.around)
        params = tuple((p, extent) for p, extent in statement.params if p not in gone)
        if self.is_target:
            return replace(statement, params=params, target=self.copy(name), fresh=True)
        new: dict[Expr, Expr] = {self.operand.access.read(dtype): self.copy(name).read(dtype)}
        value = rewrite(statement.value, replace=new.get)
        return replace(statement, params=params, value=value, fresh=statement.fresh and not self.is_summed_around)

    @property
    def is_summed_around(self) -> bool:
        """Whether several trips of the loops around add to the same elements."""
        return not {p for p, _ in self.around} <= symbols_in(self.statement.target.index)

    def moved(self, name: str) -> Compute:
        """The copy of one element between the windows and the matrix, or the addition to the windows."""
        dtype, copy, where = self.statement.value.dtype, self.copy(name), self.statement.where
        if self.is_target:
            return Compute((), self.statement.target, copy.read(dtype), "add", where=where)
        return Compute((), copy, self.operand.access.read(dtype), where=where)


def _split(statement: Compute, product: Product, operand: Operand) -> Windows | None:
    """The windows of an operand: the parameters within one, and those that number them, which are the larger group."""
    others = [o for o in (product.a, product.b, product.c) if o is not operand]
    groups: dict[tuple[bool, ...], list[tuple[str, Lin]]] = {}
    for name, extent in statement.params:
        if name in operand.strides:
            groups.setdefault(tuple(name in o.strides for o in others), []).append((name, extent))
    batch, sides = groups.pop((True, True), []), sorted(groups.values(), key=_points)
    if len(sides) != 2:
        return None
    inside, places = ([*sorted(side, key=lambda p: -operand.strides[p[0]])] for side in sides)
    size = _points(inside) * statement.value.dtype.itemsize
    first = next((k for k in range(len(places)) if _points(places[k:]) * size <= cpu().local_bytes), len(places))
    around = (*batch, *places[:first])
    return Windows(statement, operand, around, tuple(places[first:]), tuple(inside)) if places[first:] else None


def _without_ones(statement: Compute) -> Compute:
    """The statement without parameters that have one value: no operand has a stride for them."""
    ones = {name: 0 for name, extent in statement.params if extent == Lin(1)}
    params = tuple((name, extent) for name, extent in statement.params if name not in ones)
    return rewrite_statement(replace(statement, params=params), ones) if ones else statement


def _points(params: Sequence[tuple[str, Lin]]) -> int:
    return math.prod(extent.const for _, extent in params)


class _Unfold:
    def __init__(self, buffers: dict[str, Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute):
            return (statement,)
        windows = Windows.of(statement, self.buffers)
        return (statement,) if windows is None else self.unfolded(windows)

    def unfolded(self, windows: Windows) -> Block:
        statement = windows.statement
        name = self.names.fresh("windows")
        self.buffers[name] = windows.buffer(name)
        copies = self.loops((*windows.places, *windows.inside), (windows.moved(name),))
        product = windows.product(name)
        body = (product, *copies) if windows.is_target else (*copies, product)
        clear: Block = ()
        if statement.fresh and not product.fresh:
            zero = Const(0, statement.value.dtype)
            clear = (Compute(own_params(statement), statement.target, zero, where=statement.where),)
        return (*clear, *self.loops(windows.around, body))

    def loops(self, params: Params, block: Block) -> Block:
        """A block in parallel loops instead of over parameters."""
        for name, extent in reversed(params):
            var = self.names.fresh(name)
            body = substituted(block, {name: Lin.symbol(var)})
            block = (Loop.over(var, extent, body, is_parallel=True),)
        return block
