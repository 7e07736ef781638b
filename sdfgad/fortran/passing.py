"""Arguments as a compiled program takes them."""

from __future__ import annotations

import keyword
import operator
from typing import Any

import numpy as np

from sdfgad.fortran.scope import Variable

Array = np.ndarray[Any, Any]


def keyword_of(path: str) -> str:
    """How an argument is passed by name."""
    return f"{path}=..." if path.isidentifier() else f'**{{"{path}": ...}}, or an object under the name before `%`.'


def parameter(name: str) -> str:
    """A name as a parameter of a Python function."""
    return f"{name}_" if keyword.iskeyword(name) or name == "np" else name


def array_of(variable: Variable, value: Any) -> Array | None:
    """An array with its axes in reverse order; None where it is another one than is declared."""
    if not isinstance(value, np.ndarray) or value.ndim != variable.rank:
        return None
    kind = variable.kind
    fits = value.dtype.kind in "iu" if kind.base == "integer" else value.dtype == kind.dtype
    return value.T if fits else None


def number_of(variable: Variable, value: Any) -> Any:
    base = variable.kind.base
    if base == "integer":
        return operator.index(value)
    if base == "logical":
        return bool(value) if isinstance(value, (bool, np.bool_)) else None
    converted = variable.kind.dtype.type(value)
    # Of double precision NumPy's numbers and Python's are the same.
    return converted.item() if variable.kind.bytes == 8 else converted
