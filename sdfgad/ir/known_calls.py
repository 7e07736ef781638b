"""Library functions of integers or booleans by NumPy, for what is known before the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _nonzero(mask: Array, size: int) -> tuple[Array, Array]:
    found = np.flatnonzero(mask)
    return np.pad(found, (0, size - found.size)), np.array(found.size)


# Given the inputs and then the sizes.
OF_INTEGERS: Mapping[str, Callable[..., tuple[Array, ...]]] = {
    "argsort": lambda a, *_: (np.argsort(a, kind="stable"),),
    "nonzero": _nonzero,
    "searchsorted": lambda a, v, _n, _m, right: (np.asarray(np.searchsorted(a, v, "right" if right else "left")),),
}
