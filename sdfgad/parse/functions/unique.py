"""Distinct elements of integer arrays that are known while parsing: how many there are is part of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor, scalar

Array = np.ndarray[Any, Any]


@function(np.unique, static=True)
def unique(b: Builder, ar: Any, *positional: Any, **options: Any) -> Any:
    """``np.unique`` with all its options, by NumPy itself."""
    made = b.python(np.unique, _known(b, stacked(b, ar)), *positional, **options)
    return tuple(map(b.constant_array, made)) if isinstance(made, tuple) else b.constant_array(made)


def _known(b: Builder, x: Tensor) -> Array:
    found = b.constants.array(x, b.here) if x.dtype.kind == "i" else None
    is_some = all(extent.is_const and extent.const > 0 for extent in x.shape)
    if found is None and x.dtype.kind == "i" and is_some:
        # The arguments that its first element depends on become constants of the program, if they may.
        b.constant(scalar(x.at(*(0 for _ in x.shape))))
        found = b.constants.array(x, b.here)
    if found is None:
        what = "np.unique of numbers that are known only at run time: how many are distinct is data"
        raise b.unsupported(what, "Call it before, and pass what it returns.")
    return found.astype(x.dtype)
