"""Constructors of scipy.sparse in programs, through compiled code."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of
from tests.parse.test_sparse import DENSE, X, Z, check

ROWS, COLUMNS = np.nonzero(DENSE)
POINTERS = sp.csr_array(DENSE).indptr
DATA = DENSE[ROWS, COLUMNS]


def by_rows(data, x):
    A = sp.csr_matrix((data**2, COLUMNS, POINTERS), shape=(6, 4))
    return np.sum((A * x) ** 2) + np.sum(A.T @ np.ones(6) * x)


def by_columns(data, x):
    A = sp.csc_array((data, COLUMNS, POINTERS), shape=(4, 6))
    return np.sum((x @ A) ** 2) + np.sum(A.toarray() ** 3)


def by_coordinates(data, x):
    A = sp.coo_matrix((data, (ROWS, COLUMNS)), shape=(6, 4))
    return np.sum((A @ x) ** 2) * np.sum(np.sin(A.data))


@pytest.mark.parametrize("program", [by_rows, by_columns, by_coordinates])
def test_of_entries(program):
    check(program, DATA, X)


def test_of_numbers():
    def program(z, n):
        second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n), format="csr")
        return (
            np.sum((second @ z) ** 2)
            + np.sum(sp.identity(n, format="csr") @ z)
            + np.sum(sp.eye_array(6, format="coo") @ z)
        )

    check(program, Z, 6)


def of_dense(x):
    return np.sum(sp.csr_array(np.outer(x, x)) @ x)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (of_dense, "Find i, j = np.nonzero(pattern) outside"),
    ],
)
def test_refusals(program, text):
    with pytest.raises(UnsupportedProgram) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")
