"""Sums of sparse matrices, through compiled code."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of
from tests.parse.test_sparse import DENSE, MANY, X, Z, check

OTHER = np.where(np.random.default_rng(2).random((6, 4)) < 0.5, 1.5, 0.0)
A, B, M = sp.csr_array(DENSE), sp.coo_array(OTHER), sp.csr_matrix(OTHER)


def test_of_constants():
    def program(x, z, many):
        C = A - B * 2.0
        total = np.sum((C @ x) ** 2) + np.sum((z @ (C + A) / 3.0) ** 2) + np.sum(((-C).T @ z) * x)
        return total + np.sum((C @ many) ** 2) + np.sum(C.toarray() ** 2) + C.diagonal() @ x

    check(program, X, Z, MANY)


def test_of_arguments():
    def program(A, B, x):
        return np.sum(((A + B * x[0]) @ x) ** 2)

    check(program, A, sp.csc_array(OTHER), X)
    check(program, sp.csr_matrix(DENSE), M, X)


def with_dense(x):
    return np.sum(A + x)


def mixed(x):
    return np.sum((A + M) @ x)


@pytest.mark.parametrize(
    ("program", "text"),
    [(with_dense, "A.toarray() + x"), (mixed, "of a csr_matrix and a csr_array")],
)
def test_refusals(program, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")


def test_the_class_of_a_sum_is_refused_with_the_line():
    def program(x):
        total = A + A
        return np.sum(x) if isinstance(total, sp.csr_array) else x[0]

    with pytest.raises(SdfgadError, match="the class of a sum of sparse matrices") as caught:
        sdfgad.differentiate(program)(X)
    assert line_of(program, "isinstance") in str(caught.value)
