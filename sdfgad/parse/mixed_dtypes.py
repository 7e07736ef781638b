"""Dtypes that are known only at run time: a name stands for an array of integers or for one of floats.

Both are stored as what holds either, which computes the same; but NumPy cuts off what is written into integers, selects
by booleans, and wraps small integers around.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import Rebound
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor

Dtype = np.dtype[Any]
TODO = "Make it an array of one dtype from the start: np.zeros(n) or x.astype(float), say."


def require_alike(b: Builder, name: str, tensors: list[Tensor]) -> None:
    """Refuse arrays that do not compute the same when they are stored as one dtype.

    Raises:
        Rebound: some are booleans, or integers that wrap around elsewhere, and others are not.
    """
    dtypes = {tensor.dtype for tensor in tensors if tensor.ndim}
    integers = {dtype for dtype in dtypes if dtype.kind in "iu"}
    wraps = len(integers) > 1 and any(dtype.kind == "u" or dtype.itemsize < 4 for dtype in integers)
    if wraps or (len(dtypes) > 1 and any(dtype.kind == "b" for dtype in dtypes)):
        names = " or ".join(sorted(map(str, dtypes)))
        raise Rebound(f"`{name}` is an array of {names}, which is decided only at run time", b.where, TODO)


def lowest(b: Builder, tensors: list[Tensor]) -> Dtype | None:
    """The dtype of those arrays that can hold the least; None if there is but one."""
    dtypes = {b.mixed.get(str(tensor.buffer), tensor.dtype) for tensor in tensors if tensor.ndim}
    dtypes |= {tensor.dtype for tensor in tensors if tensor.ndim}
    found = min(dtypes, key=lambda dtype: "biufc".index(dtype.kind), default=None)
    return found if len({dtype.kind for dtype in dtypes}) > 1 else None


def mark(b: Builder, store: Tensor, dtype: Dtype | None) -> None:
    """Record the dtype that an array in this storage may have in Python."""
    if dtype is not None:
        b.mixed[str(store.buffer)] = dtype


def require_holds(b: Builder, x: Tensor, value: Tensor) -> None:
    """Refuse to write what an array would hold or cut off, depending on its dtype.

    Raises:
        Rebound: it would; in a loop the first trip may be peeled.
    """
    dtype = b.mixed.get(str(x.buffer))
    if dtype is not None and not np.can_cast(value.dtype, dtype, "same_kind"):
        what = (
            f"an array that may be one of {dtype} or of {x.dtype}, which is decided only at run time, is filled with "
            f"{value.dtype}: NumPy cuts that off in one of them"
        )
        raise Rebound(what, b.where, TODO)
