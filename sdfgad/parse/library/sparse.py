"""Constructors of scipy.sparse: of entries, of others, and, by SciPy itself, of what is known while parsing."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.parse import sparse
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.facts import array_like, fixed_int, tensor_of
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import function, optional
from sdfgad.parse.sparse_formats import COO, Diagonals, Sparse
from sdfgad.parse.sparse_layout import ARRAYS, layout_for
from sdfgad.parse.sparse_packed import BSR, DIA
from sdfgad.parse.sparse_patterns import known_places, largest_place, triangle_places
from sdfgad.parse.values import Record, is_static

WRITE = "Write csr_array((data, indices, indptr), shape) or coo_array((data, (i, j)), shape) with arrays, and a shape."
LENGTHS = (
    "Give data and indices the same length, and indptr one element more than there are rows (csr) or columns (csc)."
)


DENSE = (
    "Find i, j = np.nonzero(pattern) outside of the function, and write coo_matrix((A[i, j], (i, j)), A.shape); "
    "or make the sparse matrix outside."
)


def of_lines(kind: Any, is_array: Any, arg1: Any, shape: Any) -> Any:
    """A matrix in compressed rows or columns of the arrays of this format: only in programs."""
    raise NotImplementedError


@function(of_lines)
def _of_lines(b: Builder, kind: str, is_array: bool, arg1: Any, shape: Any) -> Record:
    parts = list(arg1) if isinstance(arg1, (tuple, list)) else []
    name = f"{kind}_{'array' if is_array else 'matrix'}"
    if not parts:
        raise b.unsupported(f"{name} of a dense array, whose zeros are data, is not supported", DENSE)
    if len(parts) != 3 or shape is None:
        raise b.unsupported(f"{name} without a shape is not supported", WRITE)
    data, *places = [tensor_of(b, b.settle(part)) for part in parts]
    rows, columns = b.known(shape)
    if any(part.ndim != 1 for part in (data, *places)) or any(place.dtype.kind not in "iu" for place in places):
        raise b.unsupported(f"{name} takes vectors: data, and integer arrays of where they are", WRITE)
    end = places[1].shape[0] - (rows if kind == "csr" else columns) - 1
    if places[0].shape != data.shape or end != Lin(0):
        raise b.unsupported(f"{name} of arrays whose lengths do not fit", LENGTHS)
    layout = layout_for(getattr(sys.modules["scipy.sparse"], name), kind, (rows, columns))
    return sparse.tracked(b, sparse.made(layout, dict(zip(ARRAYS[kind], (data, *places), strict=True))))


def is_pattern(x: Any) -> Any:
    """Whether a value is a matrix of integers or booleans that are known while parsing: only in programs."""
    raise NotImplementedError


@function(is_pattern)
def _is_pattern(b: Builder, x: Any) -> bool:
    if isinstance(x, (Record, tuple)) or (isinstance(x, list) and not is_static(x)):
        return False
    tensor = tensor_of(b, b.settle(x))
    return tensor.ndim == 2 and known_array(b, tensor) is not None


def _matrix(kind: Any, is_array: Any, arg1: Any, shape: Any, dtype: Any, copy: Any) -> Any:
    """A matrix of another one, of entries with their rows and columns, or of the arrays of its format."""
    if isinstance(arg1, Sparse) and arg1.is_stored and arg1.format == kind:
        # As in SciPy, it shares the data.
        made = arg1._with_data(arg1.data)
        made.is_array = is_array
    elif isinstance(arg1, Sparse):
        coo = arg1._entries()
        made = COO(coo.data, coo.shape, is_array, coo.row, coo.col).asformat(kind)
    elif isinstance(arg1, (tuple, list)) and len(arg1) == 2 and isinstance(arg1[1], (tuple, list)):
        made = _of_entries(is_array, arg1[0], arg1[1], shape).asformat(kind)
    elif is_pattern(arg1):
        dense = array_like(arg1)
        row, col = known_places(dense)
        made = COO(dense[row, col], dense.shape, is_array, row, col).asformat(kind)
    else:
        made = of_lines(kind, is_array, arg1, shape)
    made = made.copy() if copy else made
    return made if dtype is None else made.astype(dtype)


def _of_entries(is_array: Any, data: Any, places: Any, shape: Any) -> Any:
    data, row, col = np.ravel(array_like(data)), np.ravel(array_like(places[0])), np.ravel(array_like(places[1]))
    if data.shape != row.shape or data.shape != col.shape:
        raise ValueError("the entries of a sparse matrix, their rows and their columns differ in number")
    if shape is None:
        shape = (largest_place(row)[0], largest_place(col)[0])
    return COO(data, shape, is_array, row, col)


def _constructor(name: str) -> Any:
    return optional("scipy.sparse", name, is_definition=True)


@_constructor("csr_array")
def csr_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("csr", True, arg1, shape, dtype, copy)


@_constructor("csr_matrix")
def csr_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("csr", False, arg1, shape, dtype, copy)


@_constructor("csc_array")
def csc_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("csc", True, arg1, shape, dtype, copy)


@_constructor("csc_matrix")
def csc_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("csc", False, arg1, shape, dtype, copy)


@_constructor("coo_array")
def coo_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("coo", True, arg1, shape, dtype, copy)


@_constructor("coo_matrix")
def coo_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return _matrix("coo", False, arg1, shape, dtype, copy)


# --- blocks, and diagonals as rows of a matrix


def _blocks(is_array: Any, arg1: Any, shape: Any) -> Any:
    if not isinstance(arg1, (tuple, list)) or len(arg1) != 3 or shape is None:
        raise NotImplementedError(
            "blocks are only taken as bsr_array((data, indices, indptr), shape=shape), with data of shape (k, r, c)"
        )
    return BSR(array_like(arg1[0]), shape, is_array, array_like(arg1[1]), array_like(arg1[2]))


@_constructor("bsr_array")
def bsr_array(arg1: Any, shape: Any = None) -> Any:
    return _blocks(True, arg1, shape)


@_constructor("bsr_matrix")
def bsr_matrix(arg1: Any, shape: Any = None) -> Any:
    return _blocks(False, arg1, shape)


def _rows_of_diagonals(is_array: Any, arg1: Any, shape: Any) -> Any:
    if isinstance(arg1, Sparse):
        return Diagonals(arg1.tocsr())
    if not isinstance(arg1, (tuple, list)) or len(arg1) != 2 or shape is None:
        raise NotImplementedError("diagonals are only taken as dia_array((data, offsets), shape=shape), or by diags")
    return DIA(np.atleast_2d(array_like(arg1[0])), shape, is_array, np.atleast_1d(array_like(arg1[1])))


@_constructor("dia_array")
def dia_array(arg1: Any, shape: Any = None) -> Any:
    return _rows_of_diagonals(True, arg1, shape)


@_constructor("dia_matrix")
def dia_matrix(arg1: Any, shape: Any = None) -> Any:
    return _rows_of_diagonals(False, arg1, shape)


@_constructor("spdiags")
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    if m is None:
        m, n = np.shape(data)[-1], np.shape(data)[-1]
    made = _rows_of_diagonals(False, (data, diags), m if n is None else (m, n))
    return made if format is None or format == "dia" else made.asformat(format)


# --- diagonals


@_constructor("diags")
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    return _diagonals(diagonals, offsets, shape, format, dtype, False)


@_constructor("diags_array")
def diags_array(diagonals: Any, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    return _diagonals(diagonals, offsets, shape, format, dtype, True)


def _diagonals(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any, is_array: Any) -> Any:
    """Compressed rows with the diagonals that are given, of which one with one element is filled with it."""
    if np.ndim(offsets) == 0:
        offsets = (offsets,)
        diagonals = (diagonals,) if np.ndim(diagonals) == 1 and np.ndim(diagonals[0]) == 0 else diagonals
    values = [np.atleast_1d(array_like(one)) for one in diagonals]
    if shape is None:
        n = values[0].size + abs(offsets[0])
        shape = (n, n)
    data, row, col = [], [], []
    for value, k in zip(values, offsets, strict=True):
        count = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if value.size < count and value.size != 1:
            raise ValueError("a diagonal is shorter than the matrix's there")
        data.append(np.broadcast_to(value, (count,)) if value.size == 1 else value[:count])
        row.append(np.arange(count) + max(-k, 0))
        col.append(np.arange(count) + max(k, 0))
    made = COO(np.concatenate(data), shape, is_array, np.concatenate(row), np.concatenate(col)).tocsr()
    made = made if dtype is None else made.astype(dtype)
    return Diagonals(made) if format is None or format == "dia" else made.asformat(format)


def _of_numbers(name: str, b: Builder, *positional: Any, **keywords: Any) -> Record:
    """A sparse matrix that SciPy makes while the program is parsed."""

    def known(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)([known(part) for part in value])
        return b.constant(value) if isinstance(value, Lin) else value

    positional, keywords = known(positional), {key: known(value) for key, value in keywords.items()}
    if not is_static((positional, keywords)):
        raise b.unsupported(f"scipy.sparse.{name} of numbers that are known only at run time is not supported", WRITE)
    return sparse.constant(b, b.python(getattr(sys.modules["scipy.sparse"], name), *positional, **keywords))


for _name in ("eye", "eye_array", "identity"):
    optional("scipy.sparse", _name)(partial(_of_numbers, _name))


@optional("scipy.sparse", "issparse")
def issparse(b: Builder, x: Any) -> bool:
    return isinstance(x, Record) and issubclass(x.cls, Sparse)


@optional("scipy.sparse", "lil_matrix", "lil_array", "dok_matrix", "dok_array", static=False)
def lil_matrix(b: Builder, *positional: Any, **keywords: Any) -> Any:
    """Refused: where its entries are changes as it is filled."""
    todo = "Collect rows, columns and values, and write coo_matrix((values, (rows, columns)), shape).tocsr()."
    raise b.unsupported("a sparse matrix is filled element by element, which is not supported", todo)


# --- parts, and of several matrices


def _part(A: Any, format: Any, k: Any, is_upper: Any) -> Any:
    coo = A._entries()
    numbers, _, _ = triangle_places(coo.row, coo.col, fixed_int(k), is_upper)
    made = COO(coo.data[numbers], coo.shape, coo.is_array, coo.row[numbers], coo.col[numbers])
    return made if format is None else made.asformat(format)


@_constructor("triu")
def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    return _part(A, format, k, True)


@_constructor("tril")
def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    return _part(A, format, k, False)


def _together(pieces: Any, shape: Any, format: Any, dtype: Any) -> Any:
    """One matrix of blocks, each with the row and the column at which it begins."""
    for block, _, _ in pieces:
        if not isinstance(block, Sparse):
            raise NotImplementedError(
                "a dense block among sparse ones is not supported: make it outside of the function, csr_array(block)"
            )
    parts = [(block._entries(), above, left) for block, above, left in pieces]
    data = np.concatenate([coo.data for coo, _, _ in parts])
    row = np.concatenate([coo.row + above for coo, above, _ in parts])
    col = np.concatenate([coo.col + left for coo, _, left in parts])
    made = COO(data, shape, any(coo.is_array for coo, _, _ in parts), row, col).asformat(format)
    return made if dtype is None else made.astype(dtype)


def _kept(blocks: Any, format: Any, usual: Any) -> Any:
    """The format of the result: the usual one, where all blocks have it."""
    return format if format is not None else usual if all(block.format == usual for block in blocks) else "coo"


@_constructor("vstack")
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    pieces, above = [], 0
    for block in blocks:
        pieces.append((block, above, 0))
        above += block.shape[0]
    return _together(pieces, (above, blocks[0].shape[1]), _kept(blocks, format, "csr"), dtype)


@_constructor("hstack")
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    pieces, left = [], 0
    for block in blocks:
        pieces.append((block, 0, left))
        left += block.shape[1]
    return _together(pieces, (blocks[0].shape[0], left), _kept(blocks, format, "csc"), dtype)


@_constructor("block_diag")
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    pieces, above, left = [], 0, 0
    for block in mats:
        pieces.append((block, above, left))
        above, left = above + block.shape[0], left + block.shape[1]
    return _together(pieces, (above, left), "coo" if format is None else format, dtype)


@_constructor("bmat")
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    heights = [max([0 if block is None else block.shape[0] for block in row]) for row in blocks]
    widths = [max([0 if row[j] is None else row[j].shape[1] for row in blocks]) for j in range(len(blocks[0]))]
    pieces, above = [], 0
    for row, height in zip(blocks, heights, strict=True):
        left = 0
        for block, width in zip(row, widths, strict=True):
            if block is not None:
                if block.shape != (height, width):
                    raise ValueError("the blocks of a sparse matrix do not fit in their shapes")
                pieces.append((block, above, left))
            left += width
        above += height
    return _together(pieces, (above, left), "coo" if format is None else format, dtype)


optional("scipy.sparse", "block_array", is_definition=True)(bmat)


@_constructor("kron")
def kron(A: Any, B: Any, format: Any = None) -> Any:
    if not isinstance(A, Sparse) or not isinstance(B, Sparse):
        raise NotImplementedError(
            "a sparse Kronecker product with a dense array is not supported: write np.kron(A.toarray(), B)"
        )
    first, second = A._entries(), B._entries()
    row = np.ravel(first.row[:, None] * second.shape[0] + second.row)
    col = np.ravel(first.col[:, None] * second.shape[1] + second.col)
    shape = (first.shape[0] * second.shape[0], first.shape[1] * second.shape[1])
    made = COO(np.ravel(first.data[:, None] * second.data), shape, first.is_array or second.is_array, row, col)
    return made.asformat("coo" if format is None else format)


@_constructor("kronsum")
def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """The Kronecker sum ``kron(I, A) + kron(B, I)``."""
    ours = kron(of_ones(B.shape[0], B.is_array), A)
    theirs = kron(B, of_ones(A.shape[0], A.is_array))
    return (ours + theirs).asformat("csr" if format is None else format)


def of_ones(n: Any, is_array: Any) -> Any:
    """An identity matrix."""
    return COO(np.ones(n), (n, n), is_array, np.arange(n), np.arange(n))
