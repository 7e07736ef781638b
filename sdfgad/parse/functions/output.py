"""The arguments `out` and `order` of NumPy's functions, and options that are not supported."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.mixed_dtypes import require_holds
from sdfgad.parse.updating import updatable
from sdfgad.parse.values import Tensor, as_tensor


def into(b: Builder, out: Any, result: Any, casting: str = "unsafe") -> Any:
    """A result, written into the array `out` if one is given.

    Reductions convert to any dtype, as NumPy's do; ufuncs pass the rule that they cast by.
    """
    if out is None:
        return result
    (target,) = out if isinstance(out, tuple) else (out,)
    place = updatable(b, target, "`out` is not an array that can be updated", "Pass an array of the program.")
    require_holds(b, place, as_tensor(result))
    require_cast(b, as_tensor(result), place.dtype, casting)
    b.assign(place, result)
    return place


def refuse(b: Builder, function: str, **options: Any) -> None:
    """Refuse options that are not supported: those that are not None."""
    for name, value in options.items():
        if value is not None:
            raise b.unsupported(f"the option `{name}` of {function} is not supported", "Leave it out.")


def require_cast(b: Builder, value: Tensor, dtype: np.dtype[Any], casting: str) -> None:
    """Refuse a conversion that NumPy's rule `casting` forbids; a Python integer fits any dtype of numbers."""
    rules = ("no", "equiv", "safe", "same_kind", "unsafe")
    if casting not in rules:
        raise b.unsupported(f"the casting rule {casting!r} is not known", f"Use one of {', '.join(map(repr, rules))}.")
    is_python_integer = value.weak and value.dtype.kind == "i" and dtype.kind in "iufc"
    if not is_python_integer and not np.can_cast(value.dtype, dtype, casting):  # type: ignore[arg-type]
        what = f"{value.dtype} is not cast to {dtype} by the rule {casting!r}; NumPy raises here, too"
        raise b.unsupported(what, f"Convert it: x.astype(np.{np.dtype(dtype)}).")


def is_fortran(b: Builder, order: Any) -> bool:
    """Whether `order` is column-major.

    Raises:
        UnsupportedProgram: the order depends on how NumPy happens to store the array.
    """
    if order not in ("C", "F"):
        raise b.unsupported(f"the order {order!r} is not supported", "Use 'C' or 'F'.")
    return bool(order == "F")
