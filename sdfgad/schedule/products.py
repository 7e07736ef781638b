"""Recognition of matrix products (GEMM): which statements are products that BLAS computes, with which operands.

A product is recognised by its form, ``C[m, n] += alpha * A[m, k] * B[k, n]``, whatever the layouts: transposes,
conjugates, strides and offsets of the operands become arguments of the call, never copies. Each of m, n and k may be
a group of parameters that are contiguous, as if collapsed into one; the other parameters become loops around the call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Lin, Op, Read, symbols_of
from sdfgad.ir.folding import folded
from sdfgad.ir.program import Access, Buffer, Compute, Loop, Params, Statement, computes
from sdfgad.schedule.target import cpu

FLOATING = tuple(map(np.dtype, ("float64", "float32", "complex128", "complex64")))


# Parameters that are contiguous in memory, as if collapsed into one, outermost first.
Group = tuple[str, ...]
Shape = tuple[Lin, ...]


@dataclass(frozen=True)
class Operand:
    """An operand of a product as BLAS sees it: a buffer, an offset, and a stride in elements for each parameter.

    Attributes:
        conjugate: whether the operand enters as its complex conjugate.
        is_separate: whether no axis is indexed by two parameters, so that rows do not overlap.
    """

    access: Access
    offset: Lin
    strides: Mapping[str, int]
    conjugate: bool
    is_separate: bool


@dataclass(frozen=True)
class Product:
    """``c[m, n] += alpha * a[m, k] * b[k, n]`` for each point of `batch`; `n` is empty for a matrix and a vector.

    If the product is `fresh`, the target is cleared first.
    """

    m: Group
    n: Group
    k: Group
    alpha: tuple[Expr, ...]
    a: Operand
    b: Operand
    c: Operand
    extents: Mapping[str, Lin]
    fresh: bool

    @property
    def batch(self) -> tuple[str, ...]:
        """The parameters of the loops around the call, those of the target first."""
        batch = [p for p in self.extents if p not in (*self.m, *self.n, *self.k)]
        return tuple(sorted(batch, key=lambda p: p not in self.c.strides))

    @property
    def work(self) -> int:
        """The multiplications of one call."""
        return math.prod(_points(self.extents[p]) for p in (*self.m, *self.n, *self.k))

    @property
    def is_callable(self) -> bool:
        """Whether BLAS supports the layouts of all operands, and the product is large enough for a call."""
        repeated = [p for p in self.batch if p not in self.c.strides]
        if self.fresh and not all(self.extents[p].is_const for p in repeated):
            return False
        if self.layout(self.a, self.m, self.k) is None:
            return False
        if not self.n:
            # BLAS has no flag that conjugates a vector.
            is_forward = self.b.strides[self.k[-1]] > 0 and self.c.strides[self.m[-1]] > 0
            return is_forward and not self.b.conjugate and self.work >= cpu().gemv_work
        flag = (self.layout(self.c, self.m, self.n) or (0, ""))[1]
        return flag == "NoTrans" and self.layout(self.b, self.k, self.n) is not None and self.work >= cpu().gemm_work

    @property
    def is_symmetric(self) -> bool:
        """Whether it is a large matrix times its own transpose, assigned."""

        def places(operand: Operand, group: Group) -> tuple[Any, ...]:
            strides = [operand.strides.get(p, 0) for p in (*group, *self.k, *self.batch)]
            return operand.access.buffer, operand.offset, operand.conjugate, strides, [self.extents[p] for p in group]

        is_cleared = self.fresh and all(p in self.c.strides for p in self.batch)
        is_square = is_cleared and bool(self.n) and places(self.a, self.m) == places(self.b, self.n)
        sizes = (math.prod(_points(self.extents[p]) for p in group) for group in (self.m, self.k))
        return is_square and not self.a.conjugate and min(sizes) >= cpu().syrk_size

    def layout(self, operand: Operand, row: Group, column: Group) -> tuple[int, str] | None:
        """The leading dimension and the BLAS flag of an operand as a matrix (row, column); None if it is not one."""
        for along, across, flag in ((column, row, "NoTrans"), (row, column, "Trans")):
            lead, extents = operand.strides[across[-1]], [self.extents[p] for p in along]
            is_known = all(extent.is_const for extent in extents)
            # If a length is unknown, no axis is indexed by two parameters, and rows do not overlap.
            is_long = lead >= math.prod(extent.const for extent in extents) if is_known else lead > 1
            if operand.strides[along[-1]] == 1 and is_long:
                return lead, f"Conj{flag}" if operand.conjugate else flag
        return None


def product_of(statement: Compute, buffers: Mapping[str, Buffer]) -> Product | None:
    """The matrix product that a statement computes; None if BLAS cannot compute it, or not faster."""
    if statement.accumulate != "add" or statement.value.dtype not in FLOATING:
        return None
    return _product_of(statement, tuple((name, buffers[name].shape) for name in sorted(statement.touched)))


def matrix_product_of(statement: Compute, buffers: Mapping[str, Buffer]) -> Product | None:
    """The same, if it is a product of two matrices: of a matrix and a vector it is None."""
    product = product_of(statement, buffers)
    return product if product is not None and product.n else None


@lru_cache(maxsize=10_000)
def _product_of(statement: Compute, known: tuple[tuple[str, Shape], ...]) -> Product | None:
    shapes = dict(known)
    factors = _factors(statement.value)
    extents = {name: extent for name, extent in statement.params if extent != Lin(1)}
    if factors is None or math.prod(map(_points, extents.values())) < cpu().gemm_work:
        return None
    arrays = [f for f in factors if not isinstance(f, Const) and symbols_of(f) & extents.keys()]
    alpha = tuple(f for f in factors if f not in arrays)
    target = statement.target.buffer
    if len(arrays) != 2 or any(_read(f).buffer == target for f in factors if not isinstance(f, Const)):
        return None
    a, b = (_operand(_access(f), isinstance(f, Op), statement.params, shapes) for f in arrays)
    c = _operand(statement.target, False, statement.params, shapes)
    return None if a is None or b is None or c is None else _best(a, b, c, alpha, extents, statement.fresh)


def has_small_products(statement: Statement, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a loop contains products, all of them too small for several threads: see `blas_threads.h`."""
    if not isinstance(statement, Loop):
        return False
    found = [product_of(one, buffers) for one in computes((statement,))]
    products = [product for product in found if product is not None]
    is_known = all(extent.is_const for product in products for extent in product.extents.values())
    return bool(products) and is_known and all(product.work <= cpu().blas_alone for product in products)


def _points(extent: Lin) -> int:
    return extent.const if extent.is_const else cpu().gemv_work


def _factors(value: Expr) -> list[Expr] | None:
    """The factors of a product; None if the value is no product of simple factors."""
    if isinstance(value, Op) and value.name == "multiply":
        parts = [_factors(arg) for arg in value.args]
        return None if None in parts else [factor for part in parts if part for factor in part]
    if isinstance(value, Op) and value.name == "negative":
        inner = _factors(value.args[0])
        return None if inner is None else [Const(-1, value.dtype), *inner]
    is_conjugate = isinstance(value, Op) and value.name == "conjugate" and isinstance(value.args[0], Read)
    return [value] if is_conjugate or isinstance(value, (Read, Const)) else None


def _read(factor: Expr) -> Read:
    read = factor.args[0] if isinstance(factor, Op) else factor
    assert isinstance(read, Read)
    return read


def _access(factor: Expr) -> Access:
    read = _read(factor)
    return Access(read.buffer, read.index)


def _operand(access: Access, conjugate: bool, params: Params, shapes: Mapping[str, Shape]) -> Operand | None:
    shape = shapes[access.buffer]
    if math.prod(e.const for e in shape if e.is_const) <= 1:
        # DaCe passes single elements by value, but BLAS takes addresses.
        return None
    flat, stride = Lin(0), 1
    for lin, extent in reversed(list(zip(access.index, shape, strict=True))):
        flat = flat + lin.scaled(stride)
        # A tape of run-time length: its outermost extent is never multiplied.
        stride = stride * max(extent.const, 1) if extent.is_const else 0
    flat = folded(flat, {p: (0, extent.const - 1) for p, extent in params if extent.is_const})
    names = {name for name, _ in params}
    is_separate = all(_is_simple(lin, names) for lin in access.index)
    if not flat.is_affine or not (is_separate or all(extent.is_const for _, extent in params)):
        return None
    strides = {p: flat.coefficient(p) for p, extent in params if flat.coefficient(p) and extent != Lin(1)}
    return Operand(access, flat.substitute(dict.fromkeys(names, 0)), strides, conjugate, is_separate)


def _is_simple(form: Lin, names: set[str]) -> bool:
    return form.is_affine and sum(atom in names for atom, _ in form.terms) <= 1


# --- which parameters are rows, columns and summed


def _best(
    a: Operand, b: Operand, c: Operand, alpha: tuple[Expr, ...], extents: Mapping[str, Lin], fresh: bool
) -> Product | None:
    """The assignment of parameters to rows, columns and sum for which one call does the most work."""
    rows, columns, summed, batch = (
        [p for p in extents if [p in o.strides for o in (a, b, c)] == having]
        for having in ([True, False, True], [False, True, True], [True, True, False], [True, True, True])
    )
    if len(rows) + len(columns) + len(summed) + len(batch) != len(extents) or (
        fresh and not _elements_are_distinct(c, extents)
    ):
        return None
    found = [
        Product(m, n, k, alpha, left, right, c, extents, fresh)
        for k in _groups(summed, a, b, extents)
        for row in _groups(rows, a, c, extents) or [()]
        for column in _groups(columns, b, c, extents) or [()]
        # The product, or the transposed product, whose rows may be contiguous.
        for m, n, left, right in ((row, column, a, b), (column, row, b, a))
        if m
    ]
    return max((p for p in found if p.is_callable), key=lambda p: p.work, default=None)


def _groups(params: list[str], x: Operand, y: Operand, extents: Mapping[str, Lin]) -> list[Group]:
    """For each parameter the longest group of which it is the innermost, contiguous in both operands."""
    return [_extended((p,), params, x, y, extents) for p in params]


def _extended(group: Group, params: list[str], x: Operand, y: Operand, extents: Mapping[str, Lin]) -> Group:
    inner, extent = group[0], extents[group[0]]
    for p in params:
        if extent.is_const and all(o.strides[p] == o.strides[inner] * extent.const for o in (x, y)):
            return _extended((p, *group), params, x, y, extents)
    return group


def _elements_are_distinct(c: Operand, extents: Mapping[str, Lin]) -> bool:
    """Whether the target's index is injective, so that each element is cleared exactly once."""
    if c.is_separate:
        return True
    order = sorted(c.strides, key=lambda p: c.strides[p])
    ends = [c.strides[p] * extents[p].const for p in order]
    return all(0 < end <= c.strides[p] for end, p in zip(ends, order[1:], strict=False))
