"""Discrete convolutions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.functions.assembly import common_dtype
from sdfgad.parse.functions.creation import filled
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.shape import flip
from sdfgad.parse.functions.views import part
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor


@function(np.convolve)
def convolve(b: Builder, a: Any, v: Any, mode: str = "full") -> Tensor:
    x, y = _vectors(b, a, v)
    return _cut(b, _full(b, x, y), x, y, mode)


@function(np.correlate)
def correlate(b: Builder, a: Any, v: Any, mode: str = "valid") -> Tensor:
    x, y = _vectors(b, a, v)
    y = elementwise(b, "conjugate", y) if y.dtype.kind == "c" else y
    whole = _full(b, x, flip(b, y))
    if b.constant(x.shape[0]) >= b.constant(y.shape[0]):
        return _cut(b, whole, x, y, mode)
    return flip(b, _cut(b, flip(b, whole), x, y, mode))


def _vectors(b: Builder, a: Any, v: Any) -> tuple[Tensor, Tensor]:
    x, y = (t if t.ndim else t.reindexed((Lin(1),), lambda _: ()) for t in (tensor_of(b, a), tensor_of(b, v)))
    if x.ndim != 1 or y.ndim != 1 or not b.constant(x.shape[0]) or not b.constant(y.shape[0]):
        raise b.unsupported(
            "np.convolve and np.correlate take vectors that are not empty; NumPy raises here, too",
            "Pass two vectors; loop over the rows of a matrix.",
        )
    return tuple(t if t.is_stored else b.materialise(t) for t in (x, y))  # type: ignore[return-value]


def _full(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """The full convolution: ``result[i + j]`` is the sum of ``x[i] * y[j]``."""
    box = (Lin(b.constant(x.shape[0])), Lin(b.constant(y.shape[0])))
    dtype = common_dtype([x, y])
    total = filled(b, (box[0] + box[1] - 1,), 0, dtype)
    left, right = x.reindexed(box, lambda p: p[:1]), y.reindexed(box, lambda p: p[1:])
    b.compute(box, total, lambda p: (p[0] + p[1],), elementwise(b, "multiply", left, right), "add")
    return total


def _cut(b: Builder, whole: Tensor, x: Tensor, y: Tensor, mode: str) -> Tensor:
    """The part of a full convolution for a mode of np.convolve."""
    short, long = sorted((x.shape[0].const, y.shape[0].const))
    starts = {"full": (0, long + short - 1), "same": ((short - 1) // 2, long), "valid": (short - 1, long - short + 1)}
    if mode not in starts:
        raise b.unsupported(f"the mode {mode!r} of a convolution is not known", "Use 'full', 'same' or 'valid'.")
    start, length = starts[mode]
    return part(whole, 0, start, start + length)
