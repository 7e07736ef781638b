"""Compression of sparse Jacobians: columns that share no row are computed in one product with the Jacobian.

Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974), with the greedy colouring of the
columns' intersection graph in the order of their degrees (Coleman and Moré, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.api.patterns import Patterns
from sdfgad.api.products import Products
from sdfgad.errors import ArgumentError, InvalidProgram, SdfgadError

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
    # The colours in each row, as the bits of a number.
    taken = [0] * shape[0]
    for column in sorted(range(shape[1]), key=lambda one: -degrees[one]):
        others = 0
        for row in by_column[column]:
            others |= taken[row]
        first = ~others & (others + 1)
        colours[column] = first.bit_length() - 1
        for row in by_column[column]:
            taken[row] |= first
    return colours


def seeds(colours: Array) -> Array:
    """For each colour the sum of the unit vectors of its columns (colours, columns)."""
    return (colours[None, :] == np.arange(colours.max(initial=-1) + 1)[:, None]).astype(np.float64)


@dataclass(frozen=True)
class Compression:
    """How the entries of a Jacobian of a known pattern are found from few products.

    Attributes:
        rows: of the pattern's entries; `columns` are theirs.
        colours: of the columns, or in the reverse mode of the rows.
    """

    shape: tuple[int, int]
    rows: Array
    columns: Array
    colours: Array
    is_forward: bool

    @staticmethod
    def of(pattern: Any, mode: str | None) -> Compression:
        """By the fewer colours of rows and columns unless a mode is given."""
        from scipy.sparse import coo_matrix

        pattern = coo_matrix(pattern)
        rows, columns = (axis[pattern.data != 0] for axis in (pattern.row, pattern.col))
        by_columns = coloured(rows, columns, pattern.shape) if mode != "reverse" else None
        by_rows = coloured(columns, rows, pattern.shape[::-1]) if mode != "forward" else None
        if by_rows is None or (by_columns is not None and by_columns.max(initial=0) <= by_rows.max(initial=0)):
            assert by_columns is not None
            return Compression(pattern.shape, rows, columns, by_columns, is_forward=True)
        return Compression(pattern.shape, rows, columns, by_rows, is_forward=False)

    def jacobian(self, products: Products, args: tuple[Any, ...], value: Array, failure: SdfgadError) -> Any:
        """The Jacobian as a sparse matrix.

        Raises: `failure`, where it has entries outside of the pattern.
        """
        from scipy.sparse import csr_matrix

        vectors = _with_probe(seeds(self.colours))
        found = (products.columns if self.is_forward else products.rows)(args, value, vectors)
        places = (self.columns, self.rows) if self.is_forward else (self.rows, self.columns)
        entries = found[self.colours[places[0]], places[1]]
        made = csr_matrix((entries, (self.rows, self.columns)), shape=self.shape)
        probe = _probe(self.colours.size)
        if not _are_close(made, found[-1], made @ probe if self.is_forward else probe @ made):
            raise failure
        return made


class SparseJacobian:
    """The Jacobian as a sparse matrix, as a function of the arguments.

    Args:
        sparsity: its pattern, or "auto" to find it from the program.
    """

    def __init__(self, products: Products, sparsity: Any, mode: str | None) -> None:
        if isinstance(sparsity, str) and sparsity != "auto":
            raise ArgumentError(f"sparsity={sparsity!r} is not known", todo='It is "auto" or a matrix.')
        self.products, self.mode = products, mode
        self.found = Patterns(products.gradient, self._compression)
        self.given = None if isinstance(sparsity, str) else self._compression(sparsity)

    def _compression(self, pattern: Any) -> Compression:
        return Compression.of(pattern, self.mode)

    def __call__(self, *args: Any) -> Any:
        x, value = self.products.argument(args), np.asarray(self.products.gradient.value(*args))
        if self.given is None:
            return self.found(args).jacobian(self.products, args, value, _incomplete())
        if self.given.shape != (value.size, x.size):
            raise ArgumentError(
                f"the pattern has shape {self.given.shape}, the Jacobian {(value.size, x.size)}",
                todo="Its rows are the elements of the output, its columns those of the argument.",
            )
        return self.given.jacobian(self.products, args, value, _outside())


def _outside() -> SdfgadError:
    return ArgumentError(
        "the Jacobian has entries outside of the pattern that is passed as `sparsity`",
        todo='Pass one that has them all or "auto", or leave it out to get the dense Jacobian.',
    )


def _incomplete() -> SdfgadError:
    return InvalidProgram(
        "the sparsity pattern that was found misses entries of the Jacobian",
        todo="Leave `sparsity` out to get the dense Jacobian, and report this.",
    )


def _probe(size: int) -> Array:
    return np.random.default_rng(0).uniform(0.5, 1.5, size)


def _with_probe(vectors: Array) -> Array:
    return np.concatenate([vectors, _probe(vectors.shape[1])[None]])


def _are_close(made: Any, exact: Array, product: Array) -> bool:
    """Whether the product of a sparse Jacobian with the probe is the exact one."""
    tolerance = 1e-3 if exact.dtype.itemsize < 8 else 1e-8
    # Rounding is relative to the sums of absolute values.
    scale = np.max(np.abs(made.data), initial=0.0) * np.sqrt(max(made.nnz / max(exact.size, 1), 1.0))
    is_close = np.abs(product - exact) <= tolerance * np.maximum(np.abs(exact), scale)
    return bool(np.all(is_close, where=np.isfinite(exact)))
