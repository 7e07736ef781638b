"""Memory that arrays share."""

from __future__ import annotations

from typing import Any

import numpy as np

# How hard NumPy tries to find an element that both have.
MOST_WORK = 10_000


def may_overlap(x: Any, y: Any) -> bool:
    """Whether two arrays share an element, or may do so, as it is too hard to say."""
    try:
        return np.shares_memory(x, y, max_work=MOST_WORK)  # type: ignore[arg-type]  # The stub is too narrow.
    except np.exceptions.TooHardError:
        return True
