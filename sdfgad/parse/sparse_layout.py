"""Sparse matrices of `scipy.sparse` as containers: the arrays that hold their entries, and what else they are."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

# The arrays of each format that is understood.
ARRAYS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
    "bsr": ("data", "indices", "indptr"),
}


class Layout:
    """What of a sparse matrix is part of a program: each has a subclass of its own.

    Attributes:
        original: SciPy's class.
        format: of the entries.
        shape: rows and columns.
        is_array: whether it is a sparse array, and not a sparse matrix, whose ``*`` is the product.
    """

    original: Any
    format: str
    shape: tuple[int, int]
    is_array: bool


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy's."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))


def is_understood(value: Any) -> bool:
    """Whether a value is a sparse matrix with two axes in a format that has arrays of its entries."""
    return is_sparse(value) and value.format in ARRAYS and len(value.shape) == 2


def layout_of(value: Any) -> type[Layout] | None:
    """What of a sparse matrix is part of the program; None for anything else."""
    if not is_understood(value):
        return None
    original: Any = type(value)
    return layout_for(original, value.format, tuple(map(int, value.shape)))


@lru_cache(maxsize=1024)
def layout_for(cls: type, name: str, shape: tuple[int, int]) -> type[Layout]:
    """The layout of sparse matrices of one of SciPy's classes, format and shape."""
    is_array = not issubclass(cls, sys.modules["scipy.sparse"].spmatrix)
    return type(cls.__name__, (Layout,), {"original": cls, "format": name, "shape": shape, "is_array": is_array})


def arrays_of(value: Any) -> dict[Hashable, Any]:
    """The arrays of a sparse matrix by name."""
    return {name: getattr(value, name) for name in ARRAYS[value.format]}


def rebuilt(layout: type[Layout], arrays: dict[Any, Any]) -> Any:
    """A sparse matrix from its arrays; None where there is no data, as in a gradient by integers."""
    data, *places = arrays.values()
    if data is None:
        return None
    parts = (data, tuple(places)) if layout.format == "coo" else (data, *places)
    return layout.original(parts, shape=layout.shape)
