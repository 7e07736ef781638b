"""Sparse matrix times vector, in JAX, for timing.

Rows of different lengths have no statement-by-statement form, so the port adds up all entries at once; the expert
form also says that the rows are sorted and all indices in bounds.
"""

import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse


def row_of_each(A_row, entries):
    """The row of each entry; a constant where A_row is one."""
    if isinstance(A_row, np.ndarray):
        return np.repeat(np.arange(A_row.size - 1, dtype=np.int32), np.diff(A_row))
    rows = jnp.arange(A_row.size - 1, dtype=jnp.int32)
    return jnp.repeat(rows, jnp.diff(A_row), total_repeat_length=entries)


def port(A_row, A_col, A_val, x):
    """All entries times their elements of x, added up by rows."""
    product = jnp.zeros(A_row.size - 1, A_val.dtype)
    return product.at[row_of_each(A_row, A_val.size)].add(A_val * x[A_col])


def expert(A_row, A_col, A_val, x):
    """The same with sorted rows, and without checks of bounds."""
    product = jnp.zeros(A_row.size - 1, A_val.dtype)
    terms = A_val * x.at[A_col.astype(np.int32)].get(mode="promise_in_bounds")
    rows = row_of_each(A_row, A_val.size)
    return product.at[rows].add(terms, indices_are_sorted=True, mode="promise_in_bounds")


def library(A_row, A_col, A_val, x):
    """Product by jax.experimental.sparse."""
    parts = (A_val, jnp.asarray(A_col, dtype=jnp.int32), jnp.asarray(A_row, dtype=jnp.int32))
    return sparse.BCSR(parts, shape=(A_row.size - 1, x.size)) @ x
