"""Arguments as a compiled program takes them."""

from __future__ import annotations

import keyword
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdfgad.fortran.scope import Variable
from sdfgad.fortran.values import strong
from sdfgad.fortran.written import evaluated

Array = np.ndarray[Any, Any]


def keyword_of(path: str) -> str:
    """How an argument is passed by name."""
    return f"{path}=..." if path.isidentifier() else f'**{{"{path}": ...}}, or an object under the name before `%`.'


def parameter(name: str) -> str:
    """A name as a parameter of a Python function."""
    return f"{name}_" if keyword.iskeyword(name) or name == "np" else name


def _array(variable: Variable, value: Any) -> Array | None:
    """An array with its axes in reverse order; None where it is another one than is declared."""
    if not isinstance(value, np.ndarray) or value.ndim != variable.rank:
        return None
    kind = variable.kind
    fits = value.dtype.kind in "iu" if kind.base == "integer" else value.dtype == kind.dtype
    return value.T if fits else None


def _number(variable: Variable, value: Any) -> Any:
    base = variable.kind.base
    if base == "integer":
        return operator.index(value)
    if base == "logical":
        return bool(value) if isinstance(value, (bool, np.bool_)) else None
    converted = variable.kind.dtype.type(value)
    # Of double precision NumPy's numbers and Python's are the same.
    return converted.item() if variable.kind.bytes == 8 else converted


def converted_of(variable: Variable, value: Any) -> Any:
    """An argument as the compiled program takes it; None where it is of another kind than is declared."""
    try:
        return _array(variable, value) if variable.rank else _number(variable, value)
    except (TypeError, ValueError, OverflowError):
        return None


def initial_of(variable: Variable, extents: Sequence[str]) -> Any:
    """What a variable has at first: elements of an array of a derived type have the values of its components."""
    assert variable.initial is not None
    value: Any = evaluated(strong(variable.initial).text)
    if not variable.rank or np.ndim(value) == variable.rank:
        return value
    return np.broadcast_to(value, [evaluated(text) for text in extents]).copy()
