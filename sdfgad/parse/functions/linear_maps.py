"""Matrices of NumPy's functions that are linear in an array, by what they do to its elements one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function


def matrix_of(f: Any, n: Any, *others: Any) -> Any:
    """The matrix of ``f(x, *others)`` for vectors of length n."""


def product_of(f: Any, m: Any, n: Any) -> Any:
    """The array of ``f(x, y)`` for vectors of lengths m and n: its axes are those of the result, of x and of y."""


@function(matrix_of)
def _matrix_of(b: Builder, f: Callable[..., Any], n: int, *others: Any) -> Any:
    return b.constant_array(_stacked([f(unit, *others) for unit in np.eye(n)]))


@function(product_of)
def _product_of(b: Builder, f: Callable[..., Any], m: int, n: int) -> Any:
    pairs = [f(x, y) for x in np.eye(m) for y in np.eye(n)]
    return b.constant_array(np.reshape(_stacked(pairs, m + n - 1), (m + n - 1, m, n)))


def _stacked(results: Sequence[Any], length: int = 0) -> np.ndarray[Any, Any]:
    """The columns of a matrix; NumPy leaves out zeros at the end of some."""
    rows = max([length, *map(len, results)])
    return np.stack([np.pad(one, (0, rows - len(one))) for one in results], axis=1)
