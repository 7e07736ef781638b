"""Kinds of arguments: what the parser knows of an array or a number that a program is passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ArrayArgument:
    """An array or floating scalar argument.

    Attributes:
        is_scalar: whether it is a number rather than an array, and so cannot be updated in place.
        weak: whether it is a Python float, which takes no part in NumPy's dtype promotion.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_scalar: bool = False
    weak: bool = False
