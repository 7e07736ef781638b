"""Compression of sparse Jacobians: columns that share no row are computed in one product with the Jacobian.

Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974), with the greedy colouring of the
columns' intersection graph in the order of their degrees (Coleman and Moré, 1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.api.products import Products
from sdfgad.errors import ArgumentError

Array = np.ndarray[Any, Any]


def coloured(rows: Array, columns: Array, shape: tuple[int, int]) -> Array:
    """The colour of each column: two columns that have an entry in the same row have different colours."""
    by_row: list[list[int]] = [[] for _ in range(shape[0])]
    by_column: list[list[int]] = [[] for _ in range(shape[1])]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        by_row[row].append(column)
        by_column[column].append(row)
    degrees = [sum(len(by_row[row]) for row in found) for found in by_column]
    colours = np.full(shape[1], -1)
    for column in sorted(range(shape[1]), key=lambda one: -degrees[one]):
        taken = {int(colours[other]) for row in by_column[column] for other in by_row[row]}
        colours[column] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
    return colours


def seeds(colours: Array) -> Array:
    """For each colour the sum of the unit vectors of its columns (colours, columns)."""
    return (colours[None, :] == np.arange(colours.max(initial=-1) + 1)[:, None]).astype(np.float64)


def entries(rows: Array, columns: Array, colours: Array, products: Array) -> Array:
    """The entries of a matrix from its products with the seeds (colours, rows)."""
    return products[colours[columns], rows]


def compressed(products: Products, sparsity: Any, mode: str | None, *args: Any) -> Any:
    """The Jacobian as a sparse matrix, by the fewer colours of rows and columns unless a mode is given."""
    from scipy.sparse import coo_matrix, csr_matrix

    pattern = coo_matrix(sparsity)
    x, value = products.argument(args), np.asarray(products.gradient.value(*args))
    shape = value.size, x.size
    if pattern.shape != shape:
        raise ArgumentError(
            f"the pattern has shape {pattern.shape}, the Jacobian {shape}",
            todo="Its rows are the elements of the output, its columns those of the argument.",
        )
    rows, columns = (axis[pattern.data != 0] for axis in (pattern.row, pattern.col))
    by_columns = coloured(rows, columns, shape) if mode != "reverse" else None
    by_rows = coloured(columns, rows, shape[::-1]) if mode != "forward" else None
    if by_rows is None or (by_columns is not None and by_columns.max(initial=0) <= by_rows.max(initial=0)):
        assert by_columns is not None
        found = products.columns(args, value, _with_probe(seeds(by_columns)))
        made = csr_matrix((entries(rows, columns, by_columns, found), (rows, columns)), shape=shape)
        return _probed(made, found[-1], made @ _probe(x.size))
    found = products.rows(args, value, _with_probe(seeds(by_rows)))
    made = csr_matrix((entries(columns, rows, by_rows, found), (rows, columns)), shape=shape)
    return _probed(made, found[-1], _probe(value.size) @ made)


def _probe(size: int) -> Array:
    return np.random.default_rng(0).uniform(0.5, 1.5, size)


def _with_probe(vectors: Array) -> Array:
    return np.concatenate([vectors, _probe(vectors.shape[1])[None]])


def _probed(made: Any, exact: Array, product: Array) -> Any:
    """A sparse Jacobian whose product with the probe is the exact one."""
    tolerance = 1e-3 if exact.dtype.itemsize < 8 else 1e-8
    # Rounding is relative to the sums of absolute values.
    scale = np.max(np.abs(made.data), initial=0.0) * np.sqrt(max(made.nnz / max(exact.size, 1), 1.0))
    if np.all(np.abs(product - exact) <= tolerance * np.maximum(np.abs(exact), scale), where=np.isfinite(exact)):
        return made
    raise ArgumentError(
        "the Jacobian has entries outside of the pattern that is passed as `sparsity`",
        todo="Pass one that has them all, or leave it out to get the dense Jacobian.",
    )
