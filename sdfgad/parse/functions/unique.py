"""Sets of integers that are known while parsing: how many distinct ones there are is part of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]


@function(np.unique, static=True)
def unique(b: Builder, ar: Any, *positional: Any, **options: Any) -> Any:
    """``np.unique`` with all its options, by NumPy itself."""
    made = b.python(np.unique, _known(b, stacked(b, ar)), *positional, **options)
    return tuple(map(b.constant_array, made)) if isinstance(made, tuple) else b.constant_array(made)


def _of_two(original: Any) -> None:
    """Register a function of two arrays of integers."""

    def handler(b: Builder, ar1: Any, ar2: Any, *positional: Any, **options: Any) -> Any:
        arrays = [_known(b, stacked(b, ar)) for ar in (ar1, ar2)]
        made = b.python(original, *arrays, *positional, **options)
        return tuple(map(b.constant_array, made)) if isinstance(made, tuple) else b.constant_array(made)

    function(original, static=True)(handler)


for _original in (np.setdiff1d, np.intersect1d, np.union1d, np.setxor1d):
    _of_two(_original)


def _known(b: Builder, x: Tensor) -> Array:
    found = known_array(b, x)
    if found is None:
        what = "how many of these numbers are distinct is known only at run time"
        raise b.unsupported(what, "Call it outside of the function, and pass what it returns as an argument.")
    return found
