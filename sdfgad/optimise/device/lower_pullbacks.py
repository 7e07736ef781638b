"""Lowering of the adjoints of systems of equations and of Cholesky factors: solutions and products of a device."""

from __future__ import annotations

from collections.abc import Iterator

from sdfgad.ir.expr import Const, Expr, Lin, Op, cast
from sdfgad.ir.program import Compute, Statement, Whole
from sdfgad.optimise.device.call_steps import CallSteps, Index, at, choose, compared, conjugate, real
from sdfgad.optimise.device.lower_solvers import ADJOINT, SAME, factors


def lower_solve_pullback(steps: CallSteps) -> Iterator[Statement]:
    """``b_bar = A^-H bar`` and ``a_bar = -(A^-1 (b b_bar^H))^H``, by one factorisation."""
    (a, b, bar), (a_bar, b_bar), (batch, n, m) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    (lu, pivots, _), found = factors(steps, a, n)
    yield from found
    right, left, solution = (steps.matrices(base, m, n) for base in ("right", "left", "solution"))
    yield steps.turned(right, bar)
    yield steps.run("lu_solve_columns", (lu, pivots, right), (solution,), batch, n, m, ADJOINT)
    yield steps.turned(b_bar, solution)
    yield steps.turned(left, b)
    product, inner = steps.matrices("product", n, n), steps.matrices("inner", n, n)
    yield _product(steps, product, solution, left, m)
    yield steps.run("lu_solve_columns", (lu, pivots, product), (inner,), batch, n, n, SAME)
    yield steps.fill(a_bar, lambda i: _negative(conjugate(cast(at(inner, i), a_bar.dtype))))


def lower_cholesky_pullback(steps: CallSteps) -> Iterator[Statement]:
    """The lower triangle of ``L^-H W L^-1``, with half of its diagonal: W is Hermitian, from that of ``L^H bar``."""
    (low, bar), (out,), (batch, n) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    factor, part, product, whole = (steps.matrices(base, n, n) for base in ("factor", "part", "product", "whole"))
    yield _lower(steps, factor, low)
    yield _lower(steps, part, bar)
    yield _product(steps, product, factor, part, n)

    def hermitian(i: Index) -> Expr:
        rows = (*i[:-2], i[-1], i[-2])
        above = choose(compared("less", i[-1], i[-2]), at(product, i), conjugate(at(product, rows)))
        return choose(compared("equal", i[-2], i[-1]), real(at(product, i)), above)

    yield steps.fill(whole, hermitian)
    # Row-major, L is the transpose of an upper triangle U. U^-1 of the conjugate of W is the adjoint of W L^-1.
    once, again, twice = (steps.matrices(base, n, n) for base in ("once", "again", "twice"))
    yield steps.run("upper_solve_columns", (factor, whole), (once,), batch, n, n, SAME)
    yield steps.turned(again, once, conjugate)
    yield steps.run("upper_solve_columns", (factor, again), (twice,), batch, n, n, SAME)
    half, zero = Const(0.5, steps.wide), Const(0, out.dtype)

    def triangle(i: Index) -> Expr:
        diagonal = cast(Op("multiply", (half, real(at(twice, i))), steps.wide), out.dtype)
        below = choose(compared("less", i[-1], i[-2]), cast(at(twice, i), out.dtype), zero)
        return choose(compared("equal", i[-2], i[-1]), diagonal, below)

    yield steps.fill(out, triangle)


def _product(steps: CallSteps, target: Whole, a: Whole, b: Whole, k: int) -> Compute:
    """``target = A^H B`` for stacks of matrices with k rows."""

    def value(index: Index) -> Expr:
        *stack, i, j, row = index
        factor = conjugate(at(a, (*stack, row, i)))
        return Op("multiply", (factor, at(b, (*stack, row, j))), steps.wide)

    return steps.total(target, (Lin(k),), value)


def _negative(value: Expr) -> Expr:
    return Op("negative", (value,), value.dtype)


def _lower(steps: CallSteps, target: Whole, source: Whole) -> Compute:
    """The lower triangle in another type."""
    zero = Const(0, target.dtype)
    return steps.fill(
        target, lambda i: choose(compared("less_equal", i[-1], i[-2]), cast(at(source, i), target.dtype), zero)
    )
