"""Sparse matrices of scipy.sparse as arguments: gradients are sparse matrices with entries at the same places."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import ArgumentError
from tests.parse.test_sparse import DENSE, MANY, X, kinds

ROWS, COLUMNS = np.nonzero(DENSE)


def program(A, x):
    return np.sum((A @ x) ** 2) + np.sum(A.data**3)


def expected(A, x):
    dense = A.toarray()
    full = 2 * np.outer(dense @ x, x) + 3 * dense**2
    return np.where(dense != 0, full, 0), 2 * dense.T @ (dense @ x)


@pytest.mark.parametrize("make", kinds(), ids=lambda make: make.__name__)
def test_gradients(make):
    A = make(DENSE)
    before = A.copy()
    value, (dA, dx) = sdfgad.differentiate(program, wrt=("A", "x")).value_and_grad(A, X)
    np.testing.assert_allclose(value, program(A, X), rtol=1e-12)
    assert type(dA) is type(A)
    assert (dA.shape, dA.nnz) == (A.shape, A.nnz)
    for found, right in zip((dA.toarray(), dx), expected(A, X), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
    assert abs(A - before).sum() == 0
    sdfgad.check_grads(program, A, X)


def test_each_call_has_its_own_structure():
    g = sdfgad.differentiate(program, wrt=("A", "x"))
    others = [DENSE, np.where(DENSE, 0.0, 1.0), DENSE[::-1], DENSE[:2]]
    for A in [make(dense) for dense in others for make in (sp.csr_array, sp.csc_matrix, sp.csr_matrix)]:
        dA, dx = g(A, X)
        np.testing.assert_allclose(dx, expected(A, X)[1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dA.toarray(), expected(A, X)[0], rtol=1e-12, atol=1e-12)


def test_in_containers_and_by_name_of_its_data():
    def of_dict(params, x):
        return np.sum((params["A"] @ x + params["b"]) ** 2)

    params = {"A": sp.csr_array(DENSE), "b": np.arange(6.0)}
    inner = 2 * (DENSE @ X + params["b"])
    found = sdfgad.grad(of_dict, "params")(params, X)
    np.testing.assert_allclose(found["b"], inner, rtol=1e-12)
    np.testing.assert_allclose(found["A"].toarray(), np.where(DENSE, np.outer(inner, X), 0.0), rtol=1e-12)
    data = sdfgad.grad(of_dict, "params['A'].data")(params, X)
    np.testing.assert_allclose(data, np.outer(inner, X)[ROWS, COLUMNS], rtol=1e-12)


def test_what_star_means_follows_the_class():
    def star(A, x):
        return np.sum((A * x) ** 2)

    sdfgad.check_grads(star, sp.csr_matrix(DENSE), X)
    sdfgad.check_grads(lambda A, x: np.sum((A * x).data ** 2), sp.csr_array(DENSE), X)


def test_data_that_is_updated_in_place():
    def scaled(A, x, many):
        A.data *= x[0]
        return np.sum((A @ many) ** 2)

    A = sp.csr_array(DENSE)
    dA = sdfgad.grad(scaled, "A")(A, X, MANY)
    right = 2 * X[0] ** 2 * (DENSE @ MANY) @ MANY.T
    np.testing.assert_allclose(dA.toarray(), np.where(DENSE, right, 0.0), rtol=1e-12)
    np.testing.assert_array_equal(A.toarray(), DENSE)


@pytest.mark.parametrize("make", [sp.lil_array, sp.dok_matrix, lambda dense: sp.coo_array(dense[0])])
def test_other_formats_are_refused(make):
    with pytest.raises(ArgumentError, match=r"by .tocsr\(\)"):
        sdfgad.grad(program, "x")(make(DENSE), X)
