"""Operations that change where the entries of sparse matrices are, through compiled code."""

import types

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import sdfgad
from sdfgad.errors import SdfgadError, SingularMatrix
from tests.helpers import line_of
from tests.parse.test_sparse import DENSE, X, Z, check, kinds

RNG = np.random.default_rng(21)
OTHER = np.where(RNG.random((4, 5)) < 0.5, RNG.standard_normal((4, 5)), 0.0)
SQUARE = np.where(RNG.random((9, 9)) < 0.3, RNG.standard_normal((9, 9)), 0.0) + 4.0 * np.eye(9)
MIDDLE_OUT = np.array([1.0, 0.0, 2.0])
Y = RNG.standard_normal(9)
# Entries in one place are summed.
ROWS, COLUMNS = np.array([2, 0, 2, 3, 0, 2, 1]), np.array([1, 0, 1, 2, 3, 0, 1])
VALUES = RNG.standard_normal(7)


@pytest.mark.parametrize("make", kinds(), ids=lambda make: make.__name__)
def test_conversions(make):
    B = make(DENSE)

    def program(x, z):
        rows, columns, places = B.tocsr(), B.tocsc(), B.tocoo()
        total = np.sum((rows @ x) ** 2) + np.sum((z @ columns) ** 3) + np.sum(places.data * x[places.col])
        total += np.sum(rows.data * x[rows.indices]) + np.sum(columns.data * z[columns.indices])
        total += np.sum(rows.tocsc().tocoo().asformat("csr").data * x[0] ** 2) + rows.nnz * x[1]
        return total + x[rows.indptr[1] % 4] + z[columns.indptr[1] % 6] + B.sum() * x[2]

    check(program, X, Z)


def test_entries_in_one_place_are_summed():
    def program(values, x):
        places = sp.coo_matrix((values, (ROWS, COLUMNS)), shape=(4, 5))
        rows, columns = places.tocsr(), places.tocsc()
        total = np.sum(rows.data**2) + np.sum(columns.data**3) + np.sum((rows @ x) ** 2) + rows.nnz * x[0]
        straight = sp.csr_array((values, (ROWS, COLUMNS)))
        return total + np.sum(straight.toarray() ** 2) * straight.shape[1] + np.sum(places.data)

    check(program, VALUES, RNG.standard_normal(5))


@pytest.mark.parametrize("make", kinds(("csr", "csc")), ids=lambda make: make.__name__)
def test_parts(make):
    B, few, fixed = make(DENSE), np.array([4, 0, -1, 4]), [1]

    def program(x):
        free = np.setdiff1d(np.arange(4), fixed)
        total = np.sum((B[few] @ x) ** 2) + np.sum((B[:, free] @ x[free]) ** 2) + np.sum(B[few][:, free].data ** 2)
        total += np.sum((B[np.ix_(few, free)] @ x[free]) ** 2) + np.sum((B[1:5:2, ::-1] @ x) ** 3)
        total += B[0, 1] * x[0] + B[-1, 2] ** 2 * x[1] + B[4, 3] * x[2] + np.sum(B[[1, 2]].toarray() * x)
        return total + np.sum(B[few].data) * x[3]

    check(program, X)


def test_a_row_of_a_matrix():
    B = sp.csr_matrix(DENSE)

    def program(x):
        return np.sum((B[0] @ x) ** 2) + np.sum(B[:, 1].toarray() ** 2) * x[0] + np.sum(B[3, 1:].toarray() * x[1:])

    check(program, X)


@pytest.mark.parametrize("left", kinds(), ids=lambda make: make.__name__)
@pytest.mark.parametrize("right", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_products(left, right):
    A, B = left(DENSE), right(OTHER)
    if isinstance(A, sp.sparray) != isinstance(B, sp.sparray):
        return

    def program(s, w):
        C = (A * s[0]) @ (B * s[1])
        return np.sum((C @ w) ** 2) + np.sum(C.data**2) + C.nnz * s[2] + np.sum(((A.T @ A).toarray() * s[3]) ** 2)

    check(program, X, RNG.standard_normal(5))


def test_element_by_element():
    A, B, weights = sp.csr_array(DENSE), sp.coo_array(np.abs(DENSE[:, ::-1])), RNG.standard_normal((6, 4))

    def program(x, z):
        total = np.sum((A.multiply(weights) @ x) ** 2) + np.sum(A.multiply(x).data ** 2)
        total += np.sum(((A * z[:, None]) @ x) ** 2) + np.sum(A.multiply(B).toarray() ** 2) * x[0]
        return total + np.sum(A.sum(axis=0) * x) + np.sum(A.sum(axis=1) * z) + np.sum((A.multiply(x[0]) @ x) ** 2)

    check(program, X, Z)


def test_element_by_element_with_entries_stored_twice():
    A = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))
    B = sp.csr_array(np.array([[0.5, 3.0], [2.0, 0.0]]))

    def program(s):
        product = (A * s[0]).multiply(B * s[1]).toarray() + (B * s[1]).multiply(A).toarray()
        weighed = (sp.diags([s[:2]], [0]).multiply(np.ones((2, 2)) * s[2])).toarray()
        return np.sum(product**2) + np.sum(weighed**2) + (A + B * s[3]).sum()

    check(program, X)


def test_sums_have_entries():
    A, B = sp.csr_array(DENSE), sp.coo_array(np.abs(DENSE[:, ::-1]))

    def program(s, x):
        C = A * s[0] + B * s[1]
        return np.sum(C.tocsr().data ** 2) + np.sum(C.data**3) + np.sum((C[1:4] @ x) ** 2) + C.sum() * s[2]

    check(program, Z, X)


def test_diagonals():
    def program(x, z):
        n = x.size
        second = sp.diags([x[:-1], -2.0 * x, x[1:]], [-1, 0, 1])
        # SciPy cuts diagonals that are longer than the matrix has place for.
        wide = sp.diags([z[0] * np.append(x, x), 3.0 * x], [1, -2], shape=(n + 1, n + 1), format="csr")
        total = np.sum((second @ x) ** 2) + np.sum((wide @ z[:5]) ** 2) + np.sum(second.tocsr().data ** 2)
        total += np.sum(((second + sp.eye(n)) @ x) ** 2) + np.sum(sp.diags(x) @ x) + np.sum((second.T * 2.0 @ x) ** 2)
        total += np.sum(sp.diags_array([z[:3]], offsets=[1]).toarray() ** 2) + np.sum(second.diagonal() ** 3)
        total += np.sum(wide.diagonal(k=1) * z[0]) + np.sum((second + wide[:n, :n]).diagonal(-1) ** 2)
        total += second.diagonal(n).size + np.sum(wide.tocsc().diagonal(-2) ** 2)
        return total + np.sum(sp.diags([1.0, z[0]], [0, 1], shape=(4, 4)) @ x) + np.sum(sp.identity(n) @ x)

    check(program, X, Z)


def test_of_several():
    A, B = sp.csr_matrix(DENSE), sp.coo_matrix(OTHER)

    def program(s, x, z):
        stacked = sp.vstack([A * s[0], A], format="csr") @ x
        beside = sp.hstack([A, A * s[1]]) @ np.concatenate((x, x**2))
        diagonal = sp.block_diag((A, B * s[2])).toarray()
        blocks = sp.bmat([[A, None], [None, A * s[3]]], format="csc").T @ np.concatenate((z, z))
        product = sp.kron(A * s[0], sp.eye(2)).tocsr() @ np.concatenate((x, x))
        return sum(np.sum(part**2) for part in (stacked, beside, diagonal, blocks, product))

    check(program, X, X, Z)


@pytest.mark.parametrize("make", kinds(), ids=lambda make: make.__name__)
def test_systems_of_equations(make):
    A = make(SQUARE)

    def program(s, y):
        B = A * s[0]
        x = spl.spsolve(B.tocsc(), y)
        lu = spl.splu(B.tocsc())
        many = lu.solve(np.stack([y, y**2], axis=1))
        turned = lu.solve(x, "T") + lu.solve(x, trans="H")
        return np.sum(x**2) + np.sum(many**3) + np.sum(turned**2) + np.sum(spl.factorized(B.tocsc())(y * s[1]) ** 2)

    check(program, X, Y)


def test_complex_systems():
    A = sp.csc_matrix(SQUARE + 0.5j * np.roll(SQUARE, 1, 0))

    def program(s, y):
        lu = spl.splu(A * s[0])
        found = [lu.solve(y + 0j), lu.solve(y * 1j, "T"), lu.solve(y + 1j, "H"), spl.spsolve(A, y)]
        return sum(np.sum(np.abs(x) ** 2) for x in found)

    check(program, X, Y)


def test_a_matrix_that_has_no_narrow_band():
    A = SQUARE.copy()
    A[0] = A[:, 0] = 1.0
    rows, columns = np.nonzero(A)

    def program(a, y):
        lu = spl.splu(sp.csc_matrix((a, (rows, columns)), shape=A.shape))
        return np.sum(lu.solve(y) ** 2) + np.sum(lu.solve(y, "T") ** 3)

    check(program, A[rows, columns] + np.where(rows == columns, 9.0, 0.0), Y)


def implicit(data, rows, columns, u, steps):
    """Implicit Euler steps of diffusion on a graph, with one factorisation for all of them."""
    n = u.size
    lu = spl.splu(sp.csc_matrix((data, (rows, columns)), shape=(n, n)) + sp.identity(n, format="csc"))
    for _ in range(steps):
        u = lu.solve(u)
    return np.sum(u**2)


@pytest.mark.parametrize("limit", [None, "64 KiB"])
def test_a_time_loop_with_the_pattern_as_an_argument(limit):
    n = 12
    for shift in (1, 3):
        i, j = np.arange(n), (np.arange(n) + shift) % n
        rows, columns = np.concatenate((i, j, i, j)), np.concatenate((i, j, j, i))
        weights = RNG.random(n)
        data = np.concatenate((weights, weights, -weights, -weights))
        u = RNG.standard_normal(n)
        g = sdfgad.differentiate(implicit, wrt=("data", "u"), memory_limit=limit)
        np.testing.assert_allclose(g.value(data, rows, columns, u, 5), implicit(data, rows, columns, u, 5), rtol=1e-12)
        sdfgad.check_grads(implicit, data, rows, columns, u, 5, wrt=("data", "u"))
        if limit is not None:
            assert g.measure(data, rows, columns, u, 5).peak_bytes <= 2**16


def test_an_argument_that_is_sparse():
    A, B = sp.csr_array(SQUARE), sp.csr_array(np.roll(SQUARE, (2, 2), (0, 1)))
    g = sdfgad.differentiate(lambda A, y: np.sum(spl.spsolve(A, y) ** 2))
    for one in (A, B):
        found = g(one, Y)
        x = np.linalg.solve(one.toarray(), Y)
        expected = -np.outer(np.linalg.solve(one.toarray().T, 2 * x), x)
        np.testing.assert_allclose(found["A"].toarray(), np.where(one.toarray() != 0, expected, 0.0), rtol=1e-9)


def test_a_singular_matrix_fails():
    with pytest.raises(SingularMatrix, match="a matrix is singular"):
        sdfgad.grad(lambda y: np.sum(spl.spsolve(sp.diags([y * MIDDLE_OUT], [0], format="csc"), y)))(Y[:3])


OBJECT = types.SimpleNamespace(A=sp.csr_matrix(DENSE), B=sp.csr_array(DENSE), S=sp.csc_matrix(SQUARE))


def set_element(x):
    A = OBJECT.A.copy()
    A[0, 0] = x[0]
    return np.sum(A @ x)


def one_row(x):
    return np.sum(OBJECT.B[0] @ x)


def masked(x):
    return np.sum(OBJECT.A[x > 0.0] @ x)


def beyond(x):
    return np.sum(OBJECT.A[6, 0] * x)


def at_run_time(x):
    return np.sum(sp.csr_matrix((x, (np.argsort(x), np.arange(4))), shape=(4, 4)) @ x)


def by_element(x):
    K = sp.lil_matrix((4, 4))
    return np.sum(K @ x)


def iterated(x):
    return np.sum(spl.spilu(OBJECT.S).solve(np.ones(9)) * x[0])


def dense(x):
    return np.sum(spl.spsolve(np.eye(4), x))


def row_sums(x):
    return np.sum(np.sqrt(OBJECT.A.sum(axis=0)) @ x)


def by_constant_mask(k, fixed):
    """Rows and columns that are left by a mask."""
    K = sp.diags([k, k[1:]], [0, 1], format="csr")
    inner = np.ones(len(k), dtype=bool)
    inner[fixed] = False
    free = np.flatnonzero(inner)
    u = K[free][:, free] @ np.ones(len(free))
    return u @ u + np.sum(K[np.where(inner)[0]].data ** 3)


def by_mask(k, mask):
    K = sp.diags([k, k[1:]], [0, 1], format="csr")
    return np.sum(K[mask][:, mask].data ** 2)


def test_rows_and_columns_by_masks():
    k, mask = RNG.standard_normal(5), np.array([True, False, True, True, False])
    for fixed in ([0, 4], [0, 2]):
        args = k, np.array(fixed)
        np.testing.assert_allclose(sdfgad.differentiate(by_constant_mask).value(*args), by_constant_mask(*args))
        sdfgad.check_grads(by_constant_mask, *args)
    for one in (mask, ~mask):
        np.testing.assert_allclose(sdfgad.differentiate(by_mask).value(k, one), by_mask(k, one))
        sdfgad.check_grads(by_mask, k, one)


def test_sums_along_an_axis():
    B = sp.csr_matrix(DENSE)

    def program(s):
        A = B * s[0]
        degrees = np.asarray(A.sum(axis=1)).ravel()
        return degrees @ degrees + np.sum(A.sum(axis=0).A1 ** 3) + np.sum(np.array(A.sum(axis=1)) ** 2) * s[1]

    check(program, X)


def spectrum(x):
    return np.sum(spl.eigsh(OBJECT.S, 2)[0] * x[0])


@pytest.mark.parametrize(
    ("program", "line", "text"),
    [
        (set_element, "A[0, 0] =", "Write coo_array((values, (rows, columns)), shape)"),
        (one_row, "return", "Write A[[i]]"),
        (masked, "return", "i = np.flatnonzero(mask) outside"),
        (beyond, "return", "out of range for an axis of 6"),
        (at_run_time, "return", "pass them"),
        (by_element, "K =", "write coo_matrix((values, (rows, columns)), shape).tocsr()"),
        (iterated, "return", "Write spsolve(A, b)"),
        (dense, "return", "Write np.linalg.solve"),
        (row_sums, "return", "Write np.asarray(A.sum(axis=1)).ravel()"),
        (spectrum, "return", "np.linalg.eigh"),
    ],
)
def test_refusals(program, line, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, line)
