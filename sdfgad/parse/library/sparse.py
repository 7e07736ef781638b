"""Constructors of scipy.sparse: of arrays of entries, and, by SciPy itself, of numbers that are known while parsing."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse import sparse
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.registry import optional
from sdfgad.parse.sparse_formats import Sparse
from sdfgad.parse.sparse_layout import ARRAYS, layout_for
from sdfgad.parse.values import Record, is_static

WRITE = "Write csr_array((data, indices, indptr), shape) or coo_array((data, (i, j)), shape), or make it before."


def _of_entries(name: str, b: Builder, arg1: Any, shape: Any = None, dtype: Any = None) -> Record:
    """A sparse matrix of its arrays, in the format that they are in."""
    kind = name[:3]
    parts = list(arg1) if isinstance(arg1, (tuple, list)) else []
    if kind == "coo" and len(parts) == 2 and isinstance(parts[1], (tuple, list)):
        parts = [parts[0], *parts[1]]
    if len(parts) != 3 or shape is None or dtype is not None:
        raise b.unsupported(f"{name} of other things than arrays of its format, or without a shape", WRITE)
    data, *places = [tensor_of(b, b.settle(part)) for part in parts]
    rows, columns = b.known(shape)
    if any(part.ndim != 1 for part in (data, *places)) or any(place.dtype.kind not in "iu" for place in places):
        raise b.unsupported(f"{name} of arrays that are not vectors, or of places that are no integers", WRITE)
    longest = places if kind == "coo" else [places[0]]
    ends = [] if kind == "coo" else [places[1].shape[0] - (rows if kind == "csr" else columns) - 1]
    if any(place.shape != data.shape for place in longest) or any(end != Lin(0) for end in ends):
        raise b.unsupported(f"{name} of arrays whose lengths do not fit", "Mend this line.")
    layout = layout_for(getattr(sys.modules["scipy.sparse"], name), kind, (rows, columns))
    record = sparse.made(layout, dict(zip(ARRAYS[kind], (data, *places), strict=True)))
    return sparse.tracked(b, record)


def _of_numbers(name: str, b: Builder, *positional: Any, **keywords: Any) -> Record:
    """A sparse matrix that SciPy makes while the program is parsed."""

    def known(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)([known(part) for part in value])
        return b.constant(value) if isinstance(value, Lin) else value

    positional, keywords = known(positional), {key: known(value) for key, value in keywords.items()}
    if not is_static((positional, keywords)):
        raise b.unsupported(f"scipy.sparse.{name} of numbers that are known only at run time", WRITE)
    return sparse.constant(b, b.python(getattr(sys.modules["scipy.sparse"], name), *positional, **keywords))


for _name in [f"{kind}_{cls}" for kind in ARRAYS for cls in ("array", "matrix")]:
    optional("scipy.sparse", _name)(partial(_of_entries, _name))
for _name in ("eye", "eye_array", "identity", "diags", "diags_array"):
    optional("scipy.sparse", _name)(partial(_of_numbers, _name))


@optional("scipy.sparse", "issparse")
def issparse(b: Builder, x: Any) -> bool:
    return isinstance(x, Record) and issubclass(x.cls, Sparse)


@optional("scipy.sparse.linalg", "spsolve", "splu", "factorized", "cg", "gmres", "bicgstab", "minres", "spilu")
def spsolve(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: its adjoint needs a sparse factorisation, which compiled code does not have."""
    todo = "Write scipy.linalg.solve_banded for a banded matrix, or np.linalg.solve(A.toarray(), b) for a small one."
    raise b.unsupported("a sparse system of equations is solved", todo)
