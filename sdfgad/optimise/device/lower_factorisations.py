"""Lowering of eigenvalues, singular values and QR to the functions of a device, on column-major matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdfgad.ir.expr import Const, Expr, cast
from sdfgad.ir.program import Statement, Whole
from sdfgad.optimise.device.call_steps import INT32, CallSteps, Index, at, choose, compared

FLOAT = np.dtype(np.float64)


def lower_eigen(steps: CallSteps) -> Iterator[Statement]:
    (a,), (w, *others), (batch, n, is_upper) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    columns, vectors = steps.matrices("columns", n, n), steps.matrices("vectors", n, n)
    values, failed = steps.matrices("values", n, dtype=FLOAT), steps.matrices("info", dtype=INT32)
    yield steps.turned(columns, a)
    yield steps.run("hermitian_columns", (columns,), (values, vectors, failed), batch, n, is_upper)
    yield steps.fill(w, lambda i: cast(at(values, i), w.dtype))
    if steps.call.name == "symmetric_eigen":
        yield _back(steps, others[0], vectors)
    yield steps.any_failed_or_nan(failed, lambda i: at(values, i), n)


def lower_singular_values(steps: CallSteps) -> Iterator[Statement]:
    """Of a wide matrix through its transpose, as which column-major it is read: u and vh change places."""
    (a,), outputs, (batch, m, n) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    has_all, tall, k = int(steps.call.name == "all_singular_vectors"), max(m, n), min(m, n)
    u, s, vh = (None, outputs[0], None) if steps.call.name == "only_singular_values" else outputs[:3]
    columns, left = steps.matrices("columns", k, tall), steps.matrices("left", tall if has_all else k, tall)
    values, failed = steps.matrices("values", k, dtype=FLOAT), steps.matrices("info", dtype=INT32)
    right = steps.matrices("right", k, k)
    is_wide = m < n
    if not is_wide:
        yield steps.turned(columns, a)
    elif a.dtype == steps.wide:
        columns = a
    else:
        yield steps.fill(columns, lambda i: cast(at(a, i), steps.wide))
    yield steps.run("singular_columns", (columns,), (left, values, right, failed), batch, tall, k, has_all)
    yield steps.fill(s, lambda i: cast(at(values, i), s.dtype))
    for target, source in ((u, right if is_wide else left), (vh, left if is_wide else right)):
        if target is not None:
            yield _kept(steps, target, source) if is_wide else _back(steps, target, source)
    yield steps.any_failed_or_nan(failed, lambda i: at(values, i), k)


def _kept(steps: CallSteps, target: Whole, source: Whole) -> Statement:
    return steps.fill(target, lambda i: cast(at(source, i), target.dtype))


def _back(steps: CallSteps, target: Whole, source: Whole) -> Statement:
    """The transposes in the type of the target."""
    return steps.fill(target, lambda i: cast(at(source, (*i[:-2], i[-1], i[-2])), target.dtype))


def lower_orthogonal(steps: CallSteps) -> Iterator[Statement]:
    (a,), (q, r), (batch, m, n) = steps.call.inputs, steps.call.outputs, steps.call.sizes
    columns, reflectors = steps.matrices("columns", n, m), steps.matrices("reflectors", n, m)
    vectors = steps.matrices("vectors", min(m, n), m)
    yield steps.turned(columns, a)
    yield steps.run("qr_columns", (columns,), (vectors, reflectors), batch, m, n)
    yield _back(steps, q, vectors)
    zero = Const(0, r.dtype)

    def triangle(i: Index) -> Expr:
        value = cast(at(reflectors, (*i[:-2], i[-1], i[-2])), r.dtype)
        return choose(compared("less_equal", i[-2], i[-1]), value, zero)

    yield steps.fill(r, triangle)
