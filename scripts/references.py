"""What a compiled gradient is compared with, at sizes at which JAX would have to be compiled anew.

The value is compared with NumPy's, and the gradients with those of the interpreter of the tests, which knows neither
passes nor a compiler. Where they differ by more than usual, the bound is what changes if the arguments are off by a
rounding or two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npbench_suite import Entry
from scripts.checking import DOUBLE, SINGLE, error_of_rounding, rounded, run_numpy
from scripts.fuzzing.interpreter import interpreted

# The interpreter is slow: it takes a second for so many elements.
MOST_ELEMENTS = 20_000
# The error of an ill-conditioned program may be so many times what changes with roundings of the arguments.
ROUNDINGS = 100.0


def limit_of(args: Sequence[Any]) -> float:
    """The error that other orders of sums explain."""
    is_single = any(np.asarray(value).dtype in (np.float32, np.complex64) for value in args)
    return (SINGLE if is_single else DOUBLE).value


def wrong_value(entry: Entry, args: tuple[Any, ...], found: Any) -> str:
    """What is wrong with a value; empty if nothing is."""
    expected = run_numpy(entry, args)[1]
    error = distance(found, expected)
    if error <= limit_of(args) or error <= ROUNDINGS * error_of_rounding(entry, args, expected):
        return ""
    return f"the value differs from NumPy's by {error:.1e}"


def wrong_gradient(entry: Entry, args: tuple[Any, ...], cotangent: Any, found: Mapping[str, Any]) -> str:
    """What is wrong with gradients by name; empty if nothing is.

    Raises:
        TooLong: the interpreter would take long.
    """
    expected = _interpreted(entry, args, cotangent)
    error = _largest(found, expected)
    if error <= limit_of(args):
        return ""
    moved = _interpreted(entry, rounded(entry, args), cotangent)
    if error <= ROUNDINGS * _largest(moved, expected):
        return ""
    return f"the gradient differs from the interpreter's by {error:.1e}"


def _interpreted(entry: Entry, args: tuple[Any, ...], cotangent: Any) -> dict[str, Any]:
    return interpreted(entry.program, args, entry.output, entry.arrays, cotangent, MOST_ELEMENTS)[1]


def _largest(found: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
    return max(distance(gradient, expected.get(name, np.zeros_like(gradient))) for name, gradient in found.items())


def distance(found: Any, expected: Any) -> float:
    """The largest difference, relative where numbers are large; infinity where only one of them is finite."""
    x, y = np.asarray(found), np.asarray(expected)
    if x.shape != y.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        error = np.abs(x - y) / np.maximum(1.0, np.abs(x) + np.abs(y))
    error = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, error)
    return float(np.max(np.nan_to_num(error, nan=np.inf), initial=0.0))
