"""Sparse matrix times vector. The matrix is stored by rows: row i has the entries A_row[i] to A_row[i + 1].

A_col has the column of each entry and A_val its value; a row may have no entry.
"""

import numpy as np


def initialize(M, N, nnz, rng):
    entries = np.sort(rng.choice(M * N, nnz, replace=False))
    counts = np.bincount(entries // N, minlength=M)
    return {
        "A_row": np.uint32(np.concatenate([[0], np.cumsum(counts)])),
        "A_col": np.uint32(entries % N),
        "A_val": rng.uniform(-1, 1, nnz),
        "x": rng.uniform(-1, 1, N),
    }


def spmv(A_row, A_col, A_val, x):
    product = np.empty(A_row.size - 1, A_val.dtype)

    for row in range(A_row.size - 1):
        columns = A_col[A_row[row] : A_row[row + 1]]
        values = A_val[A_row[row] : A_row[row + 1]]
        product[row] = values @ x[columns]

    return product
