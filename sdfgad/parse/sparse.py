"""Sparse matrices of `scipy.sparse`, from outside the program: their arrays, whose values are read at each call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from sdfgad.parse.builder import Builder
from sdfgad.parse.sparse_formats import COO, CSC, CSR, Sparse
from sdfgad.parse.values import Record

FORMATS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO}
# The arrays of each format.
ARRAYS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy's."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))


def captured(b: Builder, name: str, value: Any, lookup: Callable[[], Any]) -> Any:
    """A value from outside the program: a sparse matrix as one of the parser's, anything else as it is."""
    if not is_sparse(value):
        return value
    require_format(b, name, value)

    def array(part: str) -> Any:
        return b.capture(f"{name}_{part}", getattr(value, part), lambda: getattr(lookup(), part))

    b.looked_up(value, "kind", kind(value), lambda: kind(lookup()))
    return Record(FORMATS[value.format], {part: array(part) for part in ARRAYS[value.format]} | facts(value))


def facts(value: Any) -> dict[str, Any]:
    """What else than its arrays makes a sparse matrix what it is."""
    return {"shape": tuple(map(int, value.shape)), "is_array": not is_matrix(value)}


def is_matrix(value: Any) -> bool:
    """Whether it is a sparse matrix, whose ``*`` is the product, and no sparse array."""
    return isinstance(value, sys.modules["scipy.sparse"].spmatrix)


def kind(value: Any) -> Any:
    """What of a sparse matrix is part of the program, besides its arrays."""
    return (value.format, tuple(value.shape), is_matrix(value)) if is_sparse(value) else None


def require_format(b: Builder, name: str, value: Any) -> None:
    """Refuse formats that keep their entries in Python's containers, and arrays of other than two axes."""
    if value.format not in FORMATS:
        what = f"`{name}` is a sparse matrix in the format {value.format!r}, which has no arrays of its entries"
        raise b.unsupported(what, "Convert it before, by .tocsr().")
    if len(value.shape) != 2:
        raise b.unsupported(f"`{name}` is a sparse array with {len(value.shape)} axis", "Use one with two.")
