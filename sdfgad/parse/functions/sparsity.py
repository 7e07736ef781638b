"""Sparsity patterns that programs ask for: computed while parsing, of integer arrays that are known then.

Arrays that come from arguments become constants of the program, which later calls compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.followed import KINDS, MOST_ELEMENTS
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import function
from sdfgad.parse.sparse_patterns import PATTERNS, part_of
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Tensor, as_tensor

Array = np.ndarray[Any, Any]


def _register(pattern: Callable[..., Any]) -> None:
    def handler(b: Builder, *arguments: Any) -> Any:
        made = b.python(pattern, *(_known(b, argument) for argument in arguments))
        return tuple(b.constant_array(part) if isinstance(part, np.ndarray) else part for part in made)

    function(pattern)(handler)


for _pattern in PATTERNS:
    _register(_pattern)


def _known(b: Builder, value: Any) -> Any:
    if not isinstance(value, Tensor) or not value.ndim:
        return b.constant(value)
    # SciPy converts indices that are floats.
    found = known_array(b, value, KINDS + "f")
    if found is None:
        what = f"the rows and columns of a sparse matrix are known only at run time, or are more than {MOST_ELEMENTS:,}"
        raise b.unsupported(what, "Compute them outside of the function, and pass them as integer arrays.")
    return found.astype(np.int64)


@function(part_of)
def _part_of(b: Builder, key: Any, shape: Any) -> tuple[Any, ...]:
    parts = key if isinstance(key, tuple) else (key, slice(None))
    if len(parts) != 2:
        raise b.unsupported(
            "a sparse matrix is indexed by more than two indices; SciPy raises here, too", "Write A[i, j]."
        )
    parts = tuple(stacked(b, part) if isinstance(part, (list, tuple)) else part for part in parts)
    ranks = [0 if isinstance(part, slice) else as_tensor(part).ndim for part in parts]
    if ranks == [1, 1]:
        return (*_points(b, parts, shape), -1)
    if max(ranks) > 1 and not _are_crossed(b, parts):
        todo = (
            "Write A[np.ix_(i, j)] for all of these rows and columns, or A[i.ravel(), j.ravel()] for single elements."
        )
        raise b.unsupported("a sparse matrix is indexed by arrays of two axes", todo)
    rows, columns = (_numbers(b, part, b.constant(extent)) for part, extent in zip(parts, shape, strict=True))
    single = sum(not isinstance(part, slice) and as_tensor(part).ndim == 0 for part in parts)
    return b.constant_array(rows), b.constant_array(columns), single


def _points(b: Builder, parts: Any, shape: Any) -> tuple[Tensor, ...]:
    """The rows and columns of single elements."""
    if any(as_tensor(part).dtype.kind == "b" for part in parts):
        raise b.unsupported(
            "a sparse matrix is indexed by two masks", "Write A[mask][:, other], or np.flatnonzero(mask)."
        )
    numbers = [_numbers(b, part, b.constant(extent)) for part, extent in zip(parts, shape, strict=True)]
    places = b.python(np.broadcast_arrays, *numbers)
    return tuple(b.constant_array(np.ascontiguousarray(one)) for one in places)


def _are_crossed(b: Builder, parts: Any) -> bool:
    """Whether an index names all places in some rows and some columns: those of ``np.ix_``."""
    if any(isinstance(part, slice) or as_tensor(part).ndim != 2 for part in parts):
        return False
    rows, columns = (as_tensor(part).shape for part in parts)
    return b.is_zero(rows[1] - 1) and b.is_zero(columns[0] - 1)


def _numbers(b: Builder, part: Any, extent: int) -> Array:
    """The rows or columns that a part of an index names."""
    if isinstance(part, slice):
        bounds = [None if bound is None else b.constant(bound) for bound in (part.start, part.stop, part.step)]
        return np.arange(extent)[slice(*bounds)]
    if isinstance(part, Tensor) and part.dtype.kind == "b" and (mask := known_array(b, part)) is not None:
        return np.flatnonzero(mask)
    if isinstance(part, Tensor) and part.dtype.kind == "b":
        raise b.unsupported(
            "a sparse matrix is indexed by a mask",
            "Compute i = np.flatnonzero(mask) outside of the function, and write A[i].",
        )
    numbers = np.atleast_1d(_known(b, part)).ravel()
    if numbers.size and not -extent <= numbers.min() <= numbers.max() < extent:
        raise b.unsupported(
            f"an index is out of range for an axis of {extent}",
            "Use an index that is less than the length; SciPy raises here, too.",
        )
    return numbers % max(extent, 1)
