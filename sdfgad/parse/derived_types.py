"""Subclasses of NumPy's arrays and Python's numbers that may compute otherwise: masked arrays, units, matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
OTHERS = ("neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "bool", "float")
ARITHMETIC = frozenset(f"__{name}__" for name in (*BINARY, *(f"r{name}" for name in BINARY), *OTHERS))


def computes_otherwise(value: Any) -> bool:
    """Whether an array or number may compute otherwise than those of the base of its class.

    Those of subclasses of arrays do, unless they are known not to: any of their methods may be another.

    >>> [computes_otherwise(one) for one in (np.ma.array([1.0]), np.float64(2.0), True)]
    [True, False, False]
    """
    kind: Any = type(value)
    return _is_other(kind)


@lru_cache(maxsize=1 << 10)
def _is_other(kind: type[Any]) -> bool:
    if issubclass(kind, np.ndarray):
        return kind not in (np.ndarray, np.memmap)
    own = [one for one in kind.__mro__ if one.__module__ not in ("builtins", "enum", "numpy")]
    return issubclass(kind, (int, float, complex)) and any(not ARITHMETIC.isdisjoint(vars(one)) for one in own)


def has_nothing_masked(value: Any) -> bool:
    """Whether a value is a masked array, as readers of files give them, without a masked element."""
    return isinstance(value, np.ma.MaskedArray) and not np.any(value.mask)


def what_it_is(name: str, value: Any) -> str:
    return f"{name} is a {type(value).__name__}, which may compute otherwise than {_base(value)}"


def instead_of_it(name: str, value: Any) -> str:
    """What to pass instead of an array or number that may compute otherwise."""
    if isinstance(value, np.ma.MaskedArray) and not has_nothing_masked(value):
        return f"Pass its data, with other numbers for those that are masked: `{name}.filled(0.0)`, say, and its mask."
    if isinstance(value, np.matrix):
        return f"Pass np.asarray({name}), and write `@` for products of matrices."
    return f"Pass np.asarray({name})." if isinstance(value, np.ndarray) else f"Pass {_base(value)}({name})."


def _base(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "np.ndarray"
    return next(kind.__name__ for kind in (int, float, complex) if isinstance(value, kind))
