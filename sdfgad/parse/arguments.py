"""Kinds of arguments: what the parser knows of an array or a number that a program is passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Numbers:
    """An array of integers, and what is called if its elements are constants: it may raise to make them such."""

    array: np.ndarray[Any, Any]
    use: Callable[[], None]


@dataclass(frozen=True)
class ArrayArgument:
    """An array or floating scalar argument.

    Attributes:
        is_scalar: whether it is a number rather than an array, and so cannot be updated in place.
        weak: whether it is a Python float, which takes no part in NumPy's dtype promotion.
        numbers: those of an array of the program that calls this one, if they are or may become constants.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_scalar: bool = False
    weak: bool = False
    numbers: Numbers | None = field(default=None, compare=False, repr=False)
