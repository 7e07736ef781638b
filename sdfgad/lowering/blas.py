"""Matrix products as calls of OpenBLAS, which comes as a wheel: no system library is needed.

A product is recognised by its form, ``C[m, n] += alpha * A[m, k] * B[k, n]``, whatever the layouts: transposes,
strides and offsets of the operands become arguments of the call, never copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdfgad.ir.expr import Const, Expr, Op, Read, symbols_of
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Access, Buffer, Compute

# Below this many multiplications a call costs more than it saves.
SMALLEST = 512


def environment_name() -> str:
    """The name under which DaCe knows the environment, which this makes known to it."""
    from sdfgad.lowering.openblas import OpenBLAS  # It imports DaCe, which a cached program does without.

    return str(OpenBLAS.full_class_path())  # type: ignore[attr-defined]  # DaCe's decorator adds it.


@dataclass(frozen=True)
class Operand:
    """A read or target as BLAS sees it: a buffer, an offset, and a stride in elements for each parameter."""

    access: Access
    offset: Lin
    strides: Mapping[str, int]


@dataclass(frozen=True)
class Product:
    """``c[m, n] += alpha * a[m, k] * b[k, n]``; `n` is None for a matrix and a vector."""

    m: str
    n: str | None
    k: str
    alpha: tuple[Expr, ...]
    a: Operand
    b: Operand
    c: Operand


def product_of(statement: Compute, buffers: Mapping[str, Buffer]) -> Product | None:
    """The product that a statement computes, if it is one that BLAS does."""
    if statement.accumulate != "add" or statement.value.dtype not in (np.float64, np.float32):
        return None
    params = [name for name, _ in statement.params]
    factors = _factors(statement.value)
    # Along an extent of 1 a layout has no leading dimension that BLAS accepts.
    has_vector = any(extent == Lin(1) for _, extent in statement.params)
    if factors is None or has_vector or _work(statement) < SMALLEST:
        return None
    arrays = [f for f in factors if isinstance(f, Read) and symbols_of(f) & set(params)]
    alpha = tuple(f for f in factors if f not in arrays)
    if len(arrays) != 2 or any(symbols_of(f) & set(params) for f in alpha):
        return None
    accesses = [*(Access(r.buffer, r.index) for r in arrays), statement.target]
    *operands, target = (_operand(access, params, buffers) for access in accesses)
    if any(math.prod(e.const for e in buffers[a.buffer].shape if e.is_const) <= 1 for a in accesses):
        # DaCe passes single elements by value, and BLAS wants their address.
        return None
    if target is None or any(o is None or o.access.buffer == target.access.buffer for o in operands):
        return None
    return _arranged(operands[0], operands[1], target, alpha, params)  # type: ignore[arg-type]


def _work(statement: Compute) -> int:
    work = 1
    for _, extent in statement.params:
        work *= extent.const if extent.is_const else SMALLEST
    return work


def _factors(value: Expr) -> list[Expr] | None:
    """The factors of a product; None if the value is no product of simple factors."""
    if isinstance(value, Op) and value.name == "multiply":
        parts = [_factors(arg) for arg in value.args]
        return None if None in parts else [factor for part in parts if part for factor in part]
    if isinstance(value, Op) and value.name == "negative":
        inner = _factors(value.args[0])
        return None if inner is None else [Const(-1, value.dtype), *inner]
    return [value] if isinstance(value, (Read, Const)) else None


def _operand(access: Access, params: list[str], buffers: Mapping[str, Buffer]) -> Operand | None:
    shape = buffers[access.buffer].shape
    flat, stride = Lin(0), 1
    for lin, extent in reversed(list(zip(access.index, shape, strict=True))):
        if not all(isinstance(atom, str) for atom, _ in lin.terms):
            return None
        flat = flat + lin.scaled(stride)
        if not extent.is_const:
            # A tape of run-time length: its outermost extent is never multiplied.
            stride = 0
            continue
        stride *= max(extent.const, 1)
    strides = {p: flat.coefficient(p) for p in params if flat.coefficient(p)}
    if any(sum(lin.coefficient(p) != 0 for p in params) > 1 for lin in access.index):
        # Two parameters in one axis: rows may overlap.
        return None
    return Operand(access, flat.substitute(dict.fromkeys(params, 0)), strides)


def _arranged(a: Operand, b: Operand, c: Operand, alpha: tuple[Expr, ...], params: list[str]) -> Product | None:
    """The product with its roles assigned, the target's rows contiguous."""
    summed = [p for p in params if p not in c.strides]
    if len(summed) != 1 or summed[0] not in a.strides or summed[0] not in b.strides:
        return None
    rows = [p for p in c.strides if p in a.strides and p not in b.strides]
    columns = [p for p in c.strides if p in b.strides and p not in a.strides]
    if len(rows) + len(columns) != len(c.strides) or len(rows) > 1 or len(columns) > 1:
        return None
    if not rows or (columns and c.strides[columns[0]] != 1):
        # The transposed product: its target's rows are contiguous.
        a, b, rows, columns = b, a, columns, rows
    product = Product(rows[0], columns[0] if columns else None, summed[0], alpha, a, b, c) if rows else None
    return product if product is not None and _is_callable(product) else None


def _is_callable(p: Product) -> bool:
    """Whether all layouts are ones that BLAS takes."""
    if min(p.a.strides.values()) != 1 or len(p.a.strides) != 2:
        return False
    if p.n is None:
        return p.b.strides[p.k] > 0 and p.c.strides[p.m] > 0
    return min(p.b.strides.values()) == 1 and p.c.strides[p.n] == 1 and p.c.strides[p.m] > 0


def call_text(p: Product, scalar: str, alpha: str, texts: Mapping[str, str], pointers: tuple[str, str, str]) -> str:
    """The call; `texts` gives the extents of m, n and k, `pointers` the operands' first elements."""
    letter = "d" if scalar == "double" else "s"
    a, b, c = pointers
    lead_a, flag_a = _layout(p.a, p.m, p.k)
    if p.n is None:
        # gemv takes the matrix as it is stored.
        rows, columns = (texts[p.m], texts[p.k]) if flag_a == "CblasNoTrans" else (texts[p.k], texts[p.m])
        return (
            f"scipy_cblas_{letter}gemv(CblasRowMajor, {flag_a}, {rows}, {columns}, {alpha}, {a}, {lead_a}, "
            f"{b}, {p.b.strides[p.k]}, 1, {c}, {p.c.strides[p.m]});"
        )
    lead_b, flag_b = _layout(p.b, p.k, p.n)
    return (
        f"scipy_cblas_{letter}gemm(CblasRowMajor, {flag_a}, {flag_b}, {texts[p.m]}, {texts[p.n]}, {texts[p.k]}, "
        f"{alpha}, {a}, {lead_a}, {b}, {lead_b}, 1, {c}, {p.c.strides[p.m]});"
    )


def _layout(operand: Operand, row: str, column: str) -> tuple[int, str]:
    """Leading dimension and transpose flag of a matrix whose element (row, column) has the operand's strides."""
    if operand.strides[column] == 1:
        return operand.strides[row], "CblasNoTrans"
    return operand.strides[column], "CblasTrans"


__all__ = ["Product", "call_text", "environment_name", "product_of"]
