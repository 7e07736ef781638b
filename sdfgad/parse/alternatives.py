"""Suggestions for functions that are not supported: those of similar names that are, and the other ways out."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from sdfgad.parse.registry import FUNCTIONS

MOST = 3
LISTED = "docs/supported.md lists the functions."


def instead_of(function: Any) -> str:
    """What to write instead of calling a function.

    >>> import numpy as np
    >>> instead_of(np.get_printoptions)
    'Call it outside of the function, and pass what it returns as an argument; docs/supported.md lists the functions.'
    """
    name = getattr(function, "__name__", "")
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    if not isinstance(function, np.ufunc) and home not in ("numpy", "scipy", "math"):
        return "Write it in Python with NumPy, or call it outside of the function, and pass what it returns."
    known = {one.__name__ for one in FUNCTIONS if hasattr(one, "__name__")}
    near = get_close_matches(name, sorted(known - {name}), MOST, 0.75)
    first = f"Supported are {', '.join(near)}; or call" if near else "Call"
    return f"{first} it outside of the function, and pass what it returns as an argument; {LISTED}"
