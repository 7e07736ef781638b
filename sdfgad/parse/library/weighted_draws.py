"""Draws by weights that are data: inverse transform sampling, as NumPy does it."""

from __future__ import annotations

from typing import Any

import numpy as np


def places_by_weights(p: Any, uniform: Any, n: Any) -> Any:
    """The places of uniform numbers among the partial sums of probabilities of `n` things."""
    if p.shape != (n,):
        raise ValueError("a and p must have the same size")
    if np.min(p) < 0:
        raise ValueError("probabilities are not non-negative")
    if not np.abs(np.sum(p) - 1) <= max(np.sqrt(np.finfo(np.float64).eps), np.sqrt(np.finfo(p.dtype).eps)):
        raise ValueError("probabilities do not sum to 1")
    sums = np.cumsum(p.astype(np.float64))
    return np.searchsorted(sums / sums[-1], uniform, side="right")
