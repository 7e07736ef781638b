"""Lowering of systems of equations, inverses and Cholesky factors to LU and Cholesky of a device.

A row-major matrix is the transpose of the column-major one at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdfgad.ir.expr import Const, Expr, cast
from sdfgad.ir.program import Statement, Whole
from sdfgad.optimise.device.call_steps import INT32, CallSteps, Index, at, choose, compared, real

SAME, TRANSPOSED, ADJOINT = range(3)


def factors(steps: CallSteps, a: Whole, n: int) -> tuple[tuple[Whole, Whole, Whole], list[Statement]]:
    """The factors of matrices, with exchanged rows and what failed, and the statements that compute them."""
    columns, lu = steps.matrices("columns", n, n), steps.matrices("lu", n, n)
    pivots, failed = steps.matrices("pivots", n, dtype=INT32), steps.matrices("info", dtype=INT32)
    run = steps.run("lu_columns", (columns,), (lu, pivots, failed), steps.call.sizes[0], n)
    return (lu, pivots, failed), [steps.turned(columns, a), run]


def lower_solve(steps: CallSteps) -> Iterator[Statement]:
    (a, b), x, (batch, n, m) = steps.call.inputs, steps.call.outputs[0], steps.call.sizes
    (lu, pivots, failed), found = factors(steps, a, n)
    yield from found
    yield from solution(steps, (lu, pivots), b, x, (batch, n, m, SAME))
    yield steps.any_failed(failed)


def solution(
    steps: CallSteps, lu: tuple[Whole, Whole], b: Whole, x: Whole, sizes: tuple[int, int, int, int]
) -> Iterator[Statement]:
    """The solutions for row-major right sides: a single column is one as it is."""
    _, n, m, _ = sizes
    if m == 1 and b.dtype == x.dtype == steps.wide:
        yield steps.run("lu_solve_columns", (*lu, b), (x,), *sizes)
        return
    right, columns = steps.matrices("right", m, n), steps.matrices("solution", m, n)
    yield steps.turned(right, b)
    yield steps.run("lu_solve_columns", (*lu, right), (columns,), *sizes)
    yield steps.turned(x, columns)


def lower_inverse(steps: CallSteps) -> Iterator[Statement]:
    """The inverse of the transpose, which column-major is the inverse row-major."""
    (a,), (_, n) = steps.call.inputs, steps.call.sizes
    (lu, pivots, failed), found = factors(steps, a, n)
    yield from found
    yield from _inverse(steps, lu, pivots)
    yield steps.any_failed(failed)


def lower_inverse_factored(steps: CallSteps) -> Iterator[Statement]:
    yield from _inverse(steps, *steps.call.inputs)


def _inverse(steps: CallSteps, lu: Whole, pivots: Whole) -> Iterator[Statement]:
    out, (*batch, n) = steps.call.outputs[0], steps.call.sizes
    is_wide = out.dtype == steps.wide
    one, inverse = steps.matrices("one", n, n), out if is_wide else steps.matrices("inverse", n, n)
    numbers = Const(1, steps.wide), Const(0, steps.wide)
    yield steps.fill(one, lambda i: choose(compared("equal", i[-2], i[-1]), *numbers))
    yield steps.run("lu_solve_columns", (lu, pivots, one), (inverse,), *(batch or (1,)), n, n, TRANSPOSED)
    if not is_wide:
        yield steps.fill(out, lambda i: cast(at(inverse, i), out.dtype))


def lower_regular(steps: CallSteps) -> Iterator[Statement]:
    (_, _, failed), found = factors(steps, steps.call.inputs[0], steps.call.sizes[1])
    yield from found
    yield steps.any_failed(failed)


def lower_factor(steps: CallSteps) -> Iterator[Statement]:
    (a,), (lu, pivots, _), (n,) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    columns, failed = steps.matrices("columns", n, n), steps.matrices("info", dtype=INT32)
    yield steps.turned(columns, a)
    yield steps.run("lu_columns", (columns,), (lu, pivots, failed), 1, n)
    yield steps.any_failed(failed)


def lower_lu(steps: CallSteps) -> Iterator[Statement]:
    (a,), (out, pivots, _), (n,) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    columns, lu = steps.matrices("columns", n, n), steps.matrices("lu", n, n)
    failed = steps.matrices("info", dtype=INT32)
    yield steps.turned(columns, a)
    yield steps.run("lu_columns", (columns,), (lu, pivots, failed), 1, n)
    yield steps.turned(out, lu)
    yield steps.any_failed(failed)


def lower_solve_factored(steps: CallSteps) -> Iterator[Statement]:
    (lu, pivots, b), (x,), (n, m, is_adjoint) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    yield from solution(steps, (lu, pivots), b, x, (1, n, m, ADJOINT if is_adjoint else SAME))


def lower_cholesky(steps: CallSteps) -> Iterator[Statement]:
    """Of the lower triangle, which column-major is the upper one of the conjugate: its factor is L row-major."""
    (a,), (out, *_), (batch, n) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    lower, factor = steps.matrices("lower", n, n), steps.matrices("factor", n, n)
    failed = steps.matrices("info", dtype=INT32)
    zero = Const(0, steps.wide)

    def triangle(i: Index) -> Expr:
        value = cast(at(a, i), steps.wide)
        value = choose(compared("equal", i[-2], i[-1]), real(value), value) if value.dtype.kind == "c" else value
        return choose(compared("less_equal", i[-1], i[-2]), value, zero)

    yield steps.fill(lower, triangle)
    yield steps.run("cholesky_columns", (lower,), (factor, failed), batch, n)
    yield steps.fill(
        out, lambda i: choose(compared("less_equal", i[-1], i[-2]), cast(at(factor, i), out.dtype), Const(0, out.dtype))
    )
    yield steps.any_failed(failed)
