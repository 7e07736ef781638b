"""The dtypes of arrays and numbers that compiled programs take, and what to write instead of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedProgram

DTYPES = frozenset(
    (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    )
)
SUPPORTED = frozenset(np.dtype(name) for name in DTYPES)
# Formats of machine learning, which are no NumPy dtypes of kind "f": bfloat16, float8_e4m3 and their kin.
NARROW = ("bfloat", "float8", "float6", "float4")


def instead_of(dtype: np.dtype[Any], name: str = "x") -> str:
    """What to write instead of an array of a dtype that is not supported."""
    wide = _nearest(dtype)
    if wide is None:
        return f"Supported are {', '.join(sorted(DTYPES))}, in this machine's byte order."
    loss = " (it has fewer digits)" if dtype.itemsize > np.dtype(wide).itemsize else ""
    return f"Write `{name}.astype(np.{wide})`{loss}, and convert results back if you need to."


def _nearest(dtype: np.dtype[Any]) -> str | None:
    """The supported dtype into which another one is converted best."""
    if dtype.name in DTYPES:
        return dtype.name  # Of the other byte order.
    if dtype.kind == "c":
        return "complex128"
    if dtype.kind == "f" and dtype.itemsize > 8:
        return "float64"
    return "float32" if dtype.kind == "f" or dtype.name.startswith(NARROW) else None


def require_supported(dtype: np.dtype[Any]) -> None:
    """Check that a program may hold numbers of a dtype.

    Raises:
        UnsupportedProgram: it may not; half precision, for one, has no arithmetic in the compiled program.
    """
    if dtype not in SUPPORTED and dtype.name not in DTYPES:
        raise UnsupportedProgram(f"numbers of {dtype.name} are not supported", None, instead_of(dtype))


SINGLE = "float16", "float32", "complex64"


def has_singles(buffers: Iterable[Any]) -> bool:
    """Whether a buffer holds less than doubles, with which Python's floats compute otherwise than NumPy's."""
    return any(buffer.dtype.name in SINGLE for buffer in buffers)
