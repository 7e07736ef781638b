"""Solvers, norms and exponentials of scipy.sparse.linalg, through compiled code."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of

RNG = np.random.default_rng(43)
N = 12
Y, W = RNG.standard_normal(N), RNG.uniform(0.5, 1.5, N)
DENSE = np.where(RNG.random((N, N)) < 0.3, RNG.standard_normal((N, N)), 0.0)


def laplacian(k):
    return sp.diags([-k[1:], 2.0 + 2.0 * k, -k[1:]], [-1, 0, 1]).tocsr()


def iterated(k, y):
    A = laplacian(k)
    x, info = spl.cg(A, y, rtol=1e-12)
    if info != 0:
        raise ValueError("no convergence")
    more = [spl.gmres(A, x, rtol=1e-12)[0], spl.bicgstab(A, x**2, rtol=1e-12)[0], spl.minres(A, y, rtol=1e-13)[0]]
    return np.sum(x**2) + sum(np.sum(one**3) for one in more) + np.sum(spl.lgmres(A, y, x0=x, rtol=1e-12)[0])


def test_solvers_that_iterate_give_the_exact_solution():
    np.testing.assert_allclose(sdfgad.differentiate(iterated).value(W, Y), iterated(W, Y), rtol=1e-9)
    A = laplacian(W).toarray()
    found = sdfgad.grad(lambda k, y: np.sum(spl.cg(laplacian(k), y)[0] ** 2), "y")(W, Y)
    np.testing.assert_allclose(found, np.linalg.solve(A.T, 2 * np.linalg.solve(A, Y)), rtol=1e-10)
    sdfgad.check_grads(iterated, W, Y)


def triangular(k, y):
    A = sp.diags([k, y[1:]], [0, -1]).tocsr()
    return np.sum(spl.spsolve_triangular(A, y) ** 2) + np.sum(spl.spsolve_triangular(A.T.tocsr(), y, lower=False) ** 3)


def test_triangular_systems():
    np.testing.assert_allclose(sdfgad.differentiate(triangular).value(W, Y), triangular(W, Y), rtol=1e-12)
    sdfgad.check_grads(triangular, W, Y)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_norms(make):
    A = make(DENSE)

    def program(s):
        B = A * s[0]
        total = spl.norm(B) + spl.norm(B, "fro") * s[1] + spl.norm(B, 1) ** 2 + spl.norm(B, np.inf)
        return total + np.sum(spl.norm(B, axis=0) ** 3) + np.sum(spl.norm(B, axis=1)) + np.sum(spl.norm(B, 1, axis=0))

    np.testing.assert_allclose(sdfgad.differentiate(program).value(W), program(W), rtol=1e-12)
    sdfgad.check_grads(program, W)


@pytest.mark.parametrize("scale", [0.0, 0.01, 1.0, 20.0])
def test_the_action_of_an_exponential(scale):
    A = sp.csr_matrix(scale * DENSE - scale * np.diag(W))

    def program(s, y, dense):
        B = A * s[0]
        total = np.sum(spl.expm_multiply(B, y) ** 2) + np.sum(spl.expm_multiply(dense, np.stack([y, y**2], axis=1)))
        return total + np.sum(np.abs(spl.expm_multiply(B * 0.1j, y)) ** 2 * y)

    args = W[:2], Y, scale * DENSE / 4.0
    np.testing.assert_allclose(sdfgad.differentiate(program).value(*args), program(*args), rtol=1e-11)
    found = sdfgad.differentiate(lambda s, y: spl.expm_multiply(A * s[0], y)).value(W[:2], Y)
    exact = scipy.linalg.expm(A.toarray() * W[0]) @ Y
    np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-12 * np.abs(exact).max())
    sdfgad.check_grads(program, *args)


OUTER = sp.csr_matrix(DENSE + 4.0 * np.eye(N))


def few_steps(x):
    return np.sum(spl.cg(OUTER, x, maxiter=3)[0])


def coarse(x):
    return np.sum(spl.gmres(OUTER, x, rtol=0.1)[0])


def shifted(x):
    return np.sum(spl.minres(OUTER, x, shift=1.0)[0])


def dense(x):
    return np.sum(spl.cg(np.eye(N), x)[0])


def least_squares(x):
    return np.sum(spl.lsqr(OUTER, x)[0])


def largest(x):
    return spl.norm(OUTER * x[0], 2)


def interval(x):
    return np.sum(spl.expm_multiply(OUTER, x, 0.0, 1.0, 5))


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (few_steps, "Leave them out, or write the steps of the iteration as a loop"),
        (coarse, "Write spsolve(A, b), or the steps of the iteration"),
        (shifted, "Write spsolve(A - shift * eye(n), b)"),
        (dense, "Write np.linalg.solve(A, b)"),
        (least_squares, "Write spsolve(A, b) or splu(A)"),
        (largest, "Write np.linalg.norm(A.toarray(), ord)"),
        (interval, "Write a loop of x = expm_multiply(A * dt, x)"),
    ],
)
def test_refusals(program, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(Y)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")
