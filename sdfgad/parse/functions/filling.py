"""Functions that fill arrays in place, and ``item``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import where
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.output import into, refuse, require_cast
from sdfgad.parse.functions.views import along_diagonal
from sdfgad.parse.indexing import getitem
from sdfgad.parse.integers import python_number
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor

# --- updates in place


@function(np.copyto)
def copyto(b: Builder, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    new = tensor_of(b, src)
    if isinstance(dst, Tensor):
        require_cast(b, new, dst.dtype, casting)
    into(b, dst, new if where is True else _chosen(b, where, new, dst))


@function(np.putmask)
def putmask(b: Builder, a: Any, mask: Any, values: Any) -> None:
    values = tensor_of(b, values)
    if values.ndim and values.shape != a.shape:
        raise b.unsupported(
            "np.putmask with fewer values than elements is not supported",
            "Write x[...] = np.where(mask, np.resize(values, x.shape), x).",
        )
    into(b, a, _chosen(b, mask, values, a))


@function(method="fill")
def fill(b: Builder, a: Tensor, value: Any) -> None:
    into(b, a, value)


@function(method="setflags")
def setflags(b: Builder, a: Tensor, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Protection of an array that the program makes against updates, ``a.setflags(write=False)``, from here on."""
    refuse(b, "setflags", align=align, uic=uic)
    name = str(a.buffer)
    if a.place is None or name in b.captured or b.buffers[name].where is None or b.loops or write:
        what = "`setflags` of an argument, of an array from outside, or in a loop, or with other flags than write=False"
        raise b.unsupported(f"{what}, is not supported", "Leave it out: sdfgad does not change arguments.")
    if write is not None:
        b.protected |= {name}


@function(np.fill_diagonal)
def fill_diagonal(b: Builder, a: Any, val: Any, wrap: bool = False) -> None:
    if wrap or a.ndim != 2:
        raise b.unsupported(
            "np.fill_diagonal with `wrap`, or of anything but a matrix, is not supported",
            "Assign to the diagonal by index: `a[np.arange(n), np.arange(n)] = value`.",
        )
    into(b, along_diagonal(b, a), val)


def _chosen(b: Builder, mask: Any, new: Any, old: Tensor) -> Tensor:
    return where(b, mask, tensor_of(b, new), old)


@function(method="item")
def item(b: Builder, a: Tensor, *index: Any) -> Any:
    """One element as a Python number."""
    entries = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if not entries and any(b.constant(extent) != 1 for extent in a.shape):
        raise b.unsupported(
            "only an array of one element is a number; NumPy raises here, too",
            "Choose one, x[0], or sum them up, np.sum(x).",
        )
    one = getitem(b, a, tuple(entries) if entries else (0,) * a.ndim)
    return python_number(b, one)
