"""Sparse matrices of `scipy.sparse`, from outside the program: their arrays, whose values are read at each call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.builder import Builder
from sdfgad.parse.sparse_formats import COO, CSC, CSR, Diagonals, Sparse
from sdfgad.parse.sparse_layout import ARRAYS, Layout, layout_of
from sdfgad.parse.sparse_packed import BSR, DIA
from sdfgad.parse.values import Record

FORMATS: dict[str, type[Sparse]] = {"csr": CSR, "csc": CSC, "coo": COO, "dia": DIA, "bsr": BSR}


def captured(b: Builder, name: str, value: Any, lookup: Callable[[], Any]) -> Record:
    """A sparse matrix from outside the program.

    Raises:
        UnsupportedProgram: its format has no arrays of its entries, or it is a sparse array with other than two axes.
    """
    layout = layout_of(value)
    if layout is None:
        what = f"`{name}` is a {type(value).__name__} with {len(value.shape)} axes, which is not supported"
        raise b.unsupported(what, "Convert it before, by .tocsr().")

    def array(part: str) -> Any:
        return b.capture(f"{name}_{part}", getattr(value, part), lambda: getattr(lookup(), part))

    b.looked_up(value, "layout", layout, lambda: layout_of(lookup()))
    return made(layout, {part: array(part) for part in ARRAYS[layout.format]})


def made(layout: type[Layout], arrays: dict[Any, Any]) -> Record:
    """A sparse matrix of the program from its arrays."""
    fields = {"shape": layout.shape, "is_array": layout.is_array}
    return Record(FORMATS[layout.format], arrays | fields)


def constant(b: Builder, value: Any) -> Record:
    """A sparse matrix that SciPy has made while parsing."""
    if value.format == "dia" and len(value.shape) == 2:
        rows = constant(b, value.tocsr())
        fields = {name: rows.fields[name] for name in ("shape", "is_array")}
        return tracked(b, Record(Diagonals, fields | {"rows": rows}))
    layout = layout_of(value)
    if layout is None:
        raise b.unsupported(f"a {type(value).__name__} is made, which is not supported", 'Pass format="csr".')
    arrays = {part: b.constant_array(getattr(value, part)) for part in ARRAYS[layout.format]}
    return tracked(b, made(layout, arrays))


def tracked(b: Builder, record: Record) -> Record:
    """Record the block that makes a sparse matrix, whose attributes the program may change."""
    b.contents.add(record.fields, len(b.blocks))
    return record


def class_of(record: Record) -> type[Any]:
    """The class of an object as Python would have it: that of SciPy's, of a sparse matrix."""
    if not issubclass(record.cls, Sparse):
        return getattr(record.cls, "stands_for", record.cls)
    name = next((name for name, cls in (*FORMATS.items(), ("dia", Diagonals)) if cls is record.cls), None)
    if name is None:
        raise UnsupportedProgram(
            "the class of a sum of sparse matrices is not known", None, "Take the class of one of the matrices."
        )
    kind = "array" if record.fields["is_array"] else "matrix"
    found: type[Any] = getattr(sys.modules["scipy.sparse"], f"{name}_{kind}")
    return found
