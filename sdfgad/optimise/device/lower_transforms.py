"""Lowering of Fourier transforms along an axis between others: the lines become neighbours in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Statement, Whole
from sdfgad.optimise.device.call_steps import CallSteps, at


def lower_transform(steps: CallSteps) -> Iterator[Statement]:
    """Transposition, the transform of contiguous lines, and transposition back."""
    call = steps.call
    outer, n, inner, *sign = call.sizes
    source, target = call.inputs[0], call.outputs[0]
    axis = _axis_of(source, outer, inner)
    if axis is None:
        yield call
        return
    lines, result = (steps.new("lines", _last(whole.shape, axis), whole.dtype) for whole in (source, target))
    yield steps.fill(lines, lambda i: at(source, (*i[:axis], i[-1], *i[axis:-1])))
    yield steps.run(call.name, (lines,), (result,), outer * inner, n, 1, *sign)
    yield steps.fill(target, lambda i: at(result, _last(i, axis)))


def _last(items: tuple[Lin, ...], axis: int) -> tuple[Lin, ...]:
    """The item of an axis after all others."""
    return (*items[:axis], *items[axis + 1 :], items[axis])


def _axis_of(whole: Whole, outer: int, inner: int) -> int | None:
    """The axis with so many lines before and after it."""
    extents = [extent.const for extent in whole.shape]
    axes = range(len(extents))
    return next((k for k in axes if (math.prod(extents[:k]), math.prod(extents[k + 1 :])) == (outer, inner)), None)
