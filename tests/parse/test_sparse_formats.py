"""Sparse matrices of diagonals and blocks, elements of sparse matrices, and their methods, through compiled code."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of
from tests.helpers_tiers import some
from tests.parse.test_sparse import DENSE, X, Z, check

RNG = np.random.default_rng(41)
OFFSETS = np.array([0, 2, -1])
DIAGONALS = RNG.standard_normal((3, 5))
BLOCKS, COLUMNS, STARTS = RNG.standard_normal((3, 2, 3)), np.array([1, 0, 1]), np.array([0, 1, 3])
Y = RNG.standard_normal(6)


def dia(is_array):
    return (sp.dia_array if is_array else sp.dia_matrix)((DIAGONALS, OFFSETS), shape=(4, 6))


def bsr(is_array):
    return (sp.bsr_array if is_array else sp.bsr_matrix)((BLOCKS, COLUMNS, STARTS), shape=(4, 6))


@pytest.mark.parametrize("is_array", some([True, False], 2))
@pytest.mark.parametrize("make", [dia, bsr])
def test_diagonals_and_blocks_from_outside_and_as_arguments(make, is_array):
    outer = make(is_array)

    def program(A, x, z):
        total = np.sum((A @ x) ** 2) + np.sum((z @ A) ** 2) + np.sum((A.T @ z) * x) + np.sum(A.data**3)
        total += (
            np.sum((outer * x[0]).toarray() ** 2)
            + A.nnz * x[1]
            + np.sum(A.diagonal() * z)
            + np.sum(A.diagonal(2) * z) * x[0]
            + np.sum(A.tocsc().diagonal(-1) ** 2)
            + A.trace(1)
            + np.sum(A.tocoo().data) * x[2]
        )
        total += np.sum((outer.tocsr() @ x) ** 2) + np.sum(A.tocsc().data ** 2) + np.sum((A.tocoo() / 2.0) @ x)
        return total + np.sum(np.ravel(A.tocoo().sum(axis=0)) ** 2) + np.sum(outer.copy().T.toarray() @ z) * x[3]

    check_with(program, make(is_array), Y, Z[:4])
    gradient = sdfgad.grad(program)(make(is_array), Y, Z[:4])
    assert type(gradient) is type(outer)
    # What is stored beyond the edge of the matrix is read by nothing but `.data`.
    if make is dia:
        beyond = gradient.data - 3 * DIAGONALS**2
        assert np.array_equal(beyond[1, :2], [0.0, 0.0])


def check_with(program, *args):
    np.testing.assert_allclose(sdfgad.differentiate(program).value(*args), program(*args), rtol=1e-12, atol=1e-12)
    sdfgad.check_grads(program, *args)


def test_diagonals_and_blocks_are_made_inside():
    def program(diagonals, blocks, x):
        A = sp.dia_matrix((diagonals, [0, 2, -1]), shape=(4, 6))
        B = sp.bsr_array((blocks, COLUMNS, STARTS), shape=(4, 6))
        C = sp.spdiags(diagonals, OFFSETS, 5, 5).tocsr()
        total = np.sum((A @ x) ** 2) + np.sum((B @ x) ** 2) + np.sum(B.tocsr().T.toarray() ** 3)
        return total + np.sum((C @ x[:5]) ** 2) + np.sum(sp.spdiags(x, 1, 6, 6, format="csr").data)

    check_with(program, DIAGONALS, BLOCKS, Y)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_single_elements(make):
    A, rows = make(DENSE), np.array([5, 0, 2, -1, 5])

    def program(s, x):
        B = A * s[0]
        some = np.ravel(B[rows, [0, 1, 1, 3, 0]])
        return np.sum(some**2 * np.arange(1.0, 6.0)) + np.sum(np.ravel(B[[1, 3], [2]]) ** 3) + np.sum(B @ x)

    check(program, X, X)


def test_single_elements_that_are_stored_twice():
    places = sp.coo_array((np.array([1.0, 2.0, 4.0]), ([0, 0, 1], [1, 1, 0])), (2, 2))
    rows = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))

    def program(x):
        return np.sum((places * x[0]).tocsr()[[0, 1, 1], [1, 0, 1]] ** 2) + np.sum((rows * x[1])[[0, 1], [1, 0]] ** 2)

    check(program, X)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_matrix, dia])
def test_functions_of_elements(make):
    A = abs(make(DENSE[:4])) if make is not dia else dia(True)

    def program(s, x):
        B = A * s[0]
        total = (
            np.sum((B.power(2) @ x) ** 2) + abs(B).sum() + np.sum(B.sin().toarray()) + np.sum(B.expm1().tocsr().data)
        )
        total += np.sum((B.tanh() @ x) ** 2) + np.sum(np.ravel(B.mean(axis=0)) ** 2) + B.mean() * s[1] + B.trace()
        return total + np.sum(sp.triu(B, 1).toarray() ** 2) + np.sum((sp.tril(B, format="csr") @ x) ** 2)

    check_with(program, np.array([1.3, 0.7]), Y if make is dia else X)


def test_powers_rows_and_sums_of_kronecker_products():
    A, B = sp.csr_matrix(DENSE[:4]), sp.csr_array(DENSE[1:4, :3])

    def program(s, x):
        C, D = A * s[0], B * s[1]
        total = np.sum((C**3 @ x) ** 2) + np.sum((D**2).toarray()) + np.sum(C.getrow(1).toarray() ** 2)
        total += np.sum(C.getcol(2).toarray() ** 3) + np.sum(C.getH().toarray() * x)
        return total + np.sum((sp.kronsum(C, D) @ np.concatenate((x, 2 * x, x**2))) ** 2)

    check_with(program, np.array([1.3, 0.7]), X)


def of_whole_numbers(s, x):
    pattern = np.eye(4, dtype=int) + np.arange(16).reshape(4, 4) // 12
    A = sp.csr_matrix(pattern) * s[0]
    B = sp.csc_array(pattern > 0).astype(float)
    return np.sum((A @ x) ** 2) + A.nnz * s[1] + np.sum((B @ x) ** 3) * s[0] + np.sum(sp.coo_array(pattern).row * x[0])


def test_of_a_dense_matrix_of_known_integers():
    check_with(of_whole_numbers, np.array([1.3, 0.7]), X)


def of_argument(pattern, s):
    return np.sum((sp.csr_matrix(pattern) * s).data ** 2)


def test_of_an_argument_of_integers():
    for pattern in (np.array([[1, 0, 2], [0, 3, 0]]), np.array([[1, 1, 2], [0, 3, 1]])):
        check_with(of_argument, pattern, 1.5)


OUTER = sp.csr_matrix(DENSE)


def dense(x):
    return np.sum(sp.csr_matrix(np.diag(x)) @ x)


def planes(x):
    i = np.array([[0, 1], [1, 2]])
    return np.sum(OUTER[i, i].toarray() * x[0])


def as_matrix(x):
    return np.sum(np.exp(OUTER[[0, 1], [1, 2]] * x[0]))


def largest(x):
    return (OUTER * x[0]).max()


def set_diagonal(x):
    A = OUTER * x[0]
    A.setdiag(1.0)
    return A.sum()


def zeros(x):
    A = OUTER * x[0]
    A.eliminate_zeros()
    return A.sum()


def of_blocks(x):
    A = sp.bsr_matrix((x.reshape(1, 2, 2), [0], [0, 1]), shape=(2, 2))
    return (A @ A).sum()


def to_no_power(x):
    return (OUTER * x[0]).power(0).sum()


@pytest.mark.parametrize(
    ("program", "line", "text"),
    [
        (dense, "return", "i, j = np.nonzero(pattern) outside"),
        (planes, "return", "A[i.ravel(), j.ravel()]"),
        (as_matrix, "return", "np.asarray(A.sum(axis=1)).ravel()"),
        (largest, "return", "Write A.toarray().max()"),
        (set_diagonal, "A.setdiag", "Write A + scipy.sparse.diags"),
        (zeros, "A.eliminate", "Leave eliminate_zeros() out"),
        (of_blocks, "return", "Write A.tocsr()"),
        (to_no_power, "return", "Write A.toarray() ** n"),
    ],
)
def test_refusals(program, line, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, line)
