"""Integer arrays that must be known while parsing, because how many numbers there are depends on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Decides
from sdfgad.parse.followed import KINDS, MOST_ELEMENTS
from sdfgad.parse.partial_evaluation import found_by_running
from sdfgad.parse.values import Tensor, scalar

Array = np.ndarray[Any, Any]


def array_if_known(b: Builder, x: Tensor) -> Array | None:
    """The elements of an array of integers or booleans, if they are known without anything else becoming a constant."""
    found = b.constants.array(x, b.here, is_needed=False)
    if found is not None or b.loops or not all(extent.is_const for extent in x.shape):
        return found
    try:
        return found_by_running(b, x)
    except (NeedsConstant, Decides):
        return None


def known_array(b: Builder, x: Tensor, kinds: str = KINDS) -> Array | None:
    """The elements of an array of integers or booleans; None if they are not known.

    Args:
        kinds: those of the dtypes that it may have.

    Raises:
        Decides: it depends on inputs that may become constants.
    """
    if x.dtype.kind not in kinds:
        return None
    try:
        # The arguments that its lengths and its first element depend on become constants of the program, if they may.
        shape = [b.constant(extent) for extent in x.shape]
        if 0 in shape or math.prod(shape) > MOST_ELEMENTS:
            return np.zeros(shape, x.dtype) if 0 in shape else None
        found = b.constants.array(x, b.here)
        if found is None:
            found = found_by_running(b, x)
        if found is None:
            with b.as_data():
                b.constant(scalar(x.at(*(0 for _ in x.shape))))
            found = b.constants.array(x, b.here)
    except UnsupportedProgram:
        return None
    except NeedsConstant as need:
        # Of a loop that has ended no counter can become a constant any more.
        if need.symbols.isdisjoint({*b.integers, *(var for _, var, _ in b.loops)}):
            return None
        raise
    return None if found is None else found.astype(x.dtype)
