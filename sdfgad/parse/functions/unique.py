"""Sets of numbers: how many distinct ones there are is part of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]


def is_known_set(x: Any) -> Any:
    """Whether all elements of an array of integers are known while parsing."""


def known_unique(x: Any, *positional: Any, **options: Any) -> Any:
    """``np.unique`` of such an array with all its options, by NumPy itself."""
    return np.unique(x, *positional, **options)


@function(is_known_set)
def _is_known_set(b: Builder, x: Any) -> bool:
    return known_array(b, stacked(b, x)) is not None


@function(known_unique)
def _known_unique(b: Builder, x: Any, *positional: Any, **options: Any) -> Any:
    made = b.python(np.unique, _known(b, stacked(b, x)), *positional, **options)
    return tuple(map(b.constant_array, made)) if isinstance(made, tuple) else b.constant_array(made)


def known_sets(operation: Any, ar1: Any, ar2: Any, *positional: Any) -> Any:
    """A NumPy function of two such arrays, ``np.union1d``, say, by NumPy itself."""
    return operation(ar1, ar2, *positional)


@function(known_sets)
def _known_sets(b: Builder, operation: Any, ar1: Any, ar2: Any, *positional: Any) -> Any:
    made = b.python(operation, *(_known(b, stacked(b, ar)) for ar in (ar1, ar2)), *positional)
    return tuple(map(b.constant_array, made)) if isinstance(made, tuple) else b.constant_array(made)


def _known(b: Builder, x: Tensor) -> Array:
    found = known_array(b, x)
    if found is None:
        what = "how many of these numbers are distinct is known only at run time"
        raise b.unsupported(what, "Call it outside of the function, and pass what it returns as an argument.")
    return found
