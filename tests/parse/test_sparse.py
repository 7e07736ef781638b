"""Sparse matrices of scipy.sparse from outside the program, through compiled code."""

import types

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of

RNG = np.random.default_rng(8)
DENSE = np.where(RNG.random((6, 4)) < 0.4, RNG.standard_normal((6, 4)), 0.0)
DENSE[2] = 0.0  # a row without entries
X, Z, MANY = RNG.standard_normal(4), RNG.standard_normal(6), RNG.standard_normal((4, 3))
FORMATS = ("csr", "csc", "coo")
A = sp.csr_array(DENSE)
OBJECT = types.SimpleNamespace(A=sp.csc_matrix(DENSE), several=[sp.coo_array(DENSE)])


def kinds(formats=FORMATS):
    return [getattr(sp, f"{name}_{kind}") for name in formats for kind in ("array", "matrix")]


def check(program, *args):
    """Compiled values are those of SciPy, and gradients have the slopes of differences."""
    np.testing.assert_allclose(sdfgad.differentiate(program).value(*args), program(*args), rtol=1e-12, atol=1e-12)
    sdfgad.check_grads(program, *args)


@pytest.mark.parametrize("make", kinds(), ids=lambda make: make.__name__)
def test_products_and_parts(make):
    B = make(DENSE)

    def program(x, z, many):
        total = np.sum((B @ x) ** 2) + np.sum((z @ B) ** 2) + np.sum((B.T @ z) * x) + np.sum((B @ many) ** 2)
        total += np.sum((many.T @ B.T) ** 2) + np.sum(B.dot(x) * z) + np.sum((-B / 2.0 @ x) ** 2)
        total += np.sum((3 * B * x[0]).toarray() ** 2) + np.sum(B.diagonal() * x) + np.sum(B.data) * x[1]
        return total + B.nnz * x[0] + B.shape[0] * x[1]

    check(program, X, Z, MANY)


@pytest.mark.parametrize("kind", [np.float32, np.complex128, np.int64])
def test_dtypes(kind):
    B = sp.csr_array(DENSE.astype(kind) * (1 + 2j) if kind is np.complex128 else (3 * DENSE).astype(kind))

    def program(x):
        return np.sum(np.abs(B @ x) ** 2)

    for x in (X, X.astype(np.float32)):
        g = sdfgad.differentiate(program)
        value = g.value(x)
        assert np.asarray(value).dtype == program(x).dtype
        np.testing.assert_allclose(value, program(x), rtol=1e-5)
        np.testing.assert_allclose(g(x)["x"], 2 * np.real(B.T.conj() @ (B @ x)), rtol=1e-4, atol=1e-5)


def test_entries_that_are_stored_twice_count_twice():
    B = sp.coo_array((np.array([1.0, 2.0, 4.0]), ([0, 0, 1], [1, 1, 0])), (2, 2))
    C = sp.csc_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))

    def program(x):
        return np.sum((B @ x) ** 2 + (C @ x) ** 3) + np.sum(B.toarray() * x) + C.diagonal() @ x

    check(program, X[:2])


def test_without_entries_and_without_rows():
    B, C = sp.csr_array((3, 4)), sp.csr_array((0, 4))

    def program(x):
        return np.sum((B @ x + x[:3]) ** 2) + np.sum(C @ x)

    check(program, X)


def of_global(x):
    return np.sum((A @ x) ** 2)


def of_object(x):
    return np.sum((OBJECT.A * x) ** 2) + np.sum((OBJECT.several[0] @ x) ** 3)


def test_values_are_those_at_the_call():
    old, g = A.data.copy(), sdfgad.grad(of_global)
    np.testing.assert_allclose(g(X), 2 * A.T @ (A @ X), rtol=1e-12)
    A.data[:] *= 3
    np.testing.assert_allclose(g(X), 18 * DENSE.T @ (DENSE @ X), rtol=1e-12)
    A.data = old
    np.testing.assert_allclose(g(X), 2 * DENSE.T @ (DENSE @ X), rtol=1e-12)


def test_another_matrix_by_the_same_name(monkeypatch):
    g = sdfgad.grad(of_global)
    g(X)
    for other in (sp.csr_matrix(DENSE[:3]), sp.csc_array(DENSE), sp.coo_matrix(DENSE)):
        monkeypatch.setitem(globals(), "A", other)
        np.testing.assert_allclose(g(X), 2 * other.T @ (other @ X), rtol=1e-12)


def test_attributes_of_objects_and_items():
    check(of_object, X)


def test_a_copy_with_other_values():
    def program(x):
        B = A.copy()
        B.data = B.data * x[0]
        return np.sum((B @ x) ** 2)

    def same(x):
        return np.sum((A * x[0] @ x) ** 2)

    np.testing.assert_allclose(sdfgad.grad(program)(X), sdfgad.grad(same)(X), rtol=1e-12)
    sdfgad.check_grads(program, X)


def test_its_class_is_that_of_scipy():
    def program(x):
        is_known = (
            sp.issparse(A)
            and not sp.issparse(x)
            and isinstance(A, sp.csr_array)
            and not isinstance(A, (sp.csc_array, sp.csr_matrix))
        )
        return np.sum((A @ x) ** 2) if is_known else x[0]

    check(program, X)


def unknown(x):
    return A.argmax() * x[0]


def elementwise(x):
    return np.sum(A * x)


def of_two(x):
    return np.sum((A @ A) @ x)


def in_place(x):
    B = A.copy()
    B *= 2.0
    return np.sum(B @ x)


def as_matrix(x):
    return np.sum(OBJECT.A.todense()) + x[0]


def shapes(x):
    return np.sum(A.T @ x)


LIL = sp.lil_array(DENSE)


def of_lists(x):
    return np.sum(LIL @ x)


@pytest.mark.parametrize(
    ("program", "line", "text"),
    [
        (elementwise, "return", "a sparse matrix is not a number or an array"),
        (of_two, "return", "matching shapes"),
        (in_place, "B *=", r"Write A = A \* c"),
        (as_matrix, "return", r"Write A.toarray\(\)"),
        (shapes, "return", "matching shapes"),
        (unknown, "return", r"`.argmax` of a sparse matrix"),
        (of_lists, "return", r"Convert it before, by .tocsr\(\)"),
    ],
)
def test_refusals(program, line, text):
    with pytest.raises(SdfgadError, match=text) as caught:
        sdfgad.grad(program)(X)
    assert str(caught.value.where) == line_of(program, line)
