"""Roots and fixed points: derivatives by the implicit function theorem, against closed forms and differences."""

import numpy as np
import pytest
import scipy.optimize

import sdfgad
from tests.helpers import line_of


def cube_root(p):
    return sdfgad.root(lambda x: x**3 - p, 1.0)


def test_a_root_of_one_equation():
    g = sdfgad.grad(cube_root)
    assert cube_root(8.0) == pytest.approx(2.0, rel=1e-12)
    assert g.value(8.0) == pytest.approx(2.0, rel=1e-12)
    assert g(8.0) == pytest.approx(1 / 12, rel=1e-10)
    assert sdfgad.grad(g)(8.0) == pytest.approx(-2 / 9 * 8.0 ** (-5 / 3), rel=1e-8)


def equations(x, a, b):
    return a @ x + x**3 - b


def of_a_system(a, b):
    return np.sum(sdfgad.root(equations, np.zeros(4), a, b) ** 2)


RNG = np.random.default_rng(0)
A, B = RNG.random((4, 4)) + 4 * np.eye(4), RNG.random(4)


def test_a_system():
    assert sdfgad.check_grads(of_a_system, A, B, order=2).error < 1e-9
    x = sdfgad.root(equations, np.zeros(4), A, B)
    np.testing.assert_allclose(equations(x, A, B), 0.0, atol=1e-12)
    adjoint = np.linalg.solve((A + np.diag(3 * x**2)).T, 2 * x)
    by_a, by_b = sdfgad.differentiate(of_a_system, wrt=("a", "b"))(A, B)
    np.testing.assert_allclose(by_b, adjoint, rtol=1e-9)
    np.testing.assert_allclose(by_a, -np.outer(adjoint, x), rtol=1e-9)


def of_a_grid(shape):
    def program(c):
        return np.sum(sdfgad.fixed_point(lambda x: 0.3 * np.cos(c * x) + 0.1 * np.roll(x, 1, 0), np.zeros(shape)) ** 2)

    return program


def test_a_fixed_point_of_an_array():
    program = of_a_grid((2, 3))
    c = RNG.random((2, 3))
    assert sdfgad.check_grads(program, c).error < 1e-9


def equilibrium(a):
    return np.sum(sdfgad.fixed_point(lambda x: np.cos(a * x), np.zeros(3)))


def test_a_fixed_point_against_its_closed_form():
    a = np.array([0.5, 0.7, 0.9])
    x = np.zeros(3)
    for _ in range(500):
        x = np.cos(a * x)
    expected = -np.sin(a * x) * x / (1 + a * np.sin(a * x))
    np.testing.assert_allclose(sdfgad.grad(equilibrium)(a), expected, rtol=1e-10)


def by_scipy(a, b):
    x = scipy.optimize.fsolve(equations, np.zeros(4), args=(a, b))
    return np.sum(x**2) + scipy.optimize.fixed_point(lambda y: np.cos(b[0] * y), 0.3)


def test_scipys_functions():
    g = sdfgad.differentiate(by_scipy, wrt=("a", "b"))
    assert g.value(A, B) == pytest.approx(by_scipy(A, B), rel=1e-7)
    assert sdfgad.check_grads(by_scipy, A, B).error < 1e-7


def of_several(p):
    evaporation = scipy.optimize.fsolve(lambda e: p[0] * e / (e + p[1]) - e, 230.0)[0]

    def circles(x):
        return np.stack([x[0] ** 2 + x[1] ** 2 - p[2], np.exp(x[0]) + x[1] - 1.0])

    far, near = scipy.optimize.root(circles, [-2.1, -3.8]).x, scipy.optimize.fsolve(circles, [4.0, 2.3])
    return evaporation + far @ np.array([1.0, 2.0]) + near @ np.array([3.0, 1.0])


def test_of_several_roots_scipys_is_found():
    p = np.array([1000.0, 237.0, 4.0])
    # Newton's method goes to the other root of each.
    value, gradient = sdfgad.value_and_grad(of_several)(p)
    assert value == pytest.approx(of_several(p), rel=1e-7)
    assert gradient[:2] == pytest.approx([1.0, -1.0], rel=1e-8)
    step = np.array([0.0, 0.0, 1e-4])
    assert gradient[2] == pytest.approx((of_several(p + step) - of_several(p - step)) / 2e-4, rel=1e-6)


def through_the_start(p):
    return sdfgad.root(lambda x: x**2 - 4.0 + 0.0 * p, p)


def test_the_start_has_no_influence():
    assert sdfgad.grad(through_the_start)(1.0) == 0.0


# --- what has no solution, or no derivative


def diverging(p):
    return sdfgad.fixed_point(lambda x: 2.0 * x + p, 1.0)


def without_a_root(p):
    return sdfgad.root(lambda x: x**3 - p, 1000.0, max_steps=3)


def at_a_kink(p):
    return sdfgad.fixed_point(lambda x: 0.5 * np.abs(x - p) + p, 1.0)


def singular(p):
    return np.sum(sdfgad.root(lambda x: np.stack([x[0] + x[1] - p, x[0] + x[1] - p]), np.ones(2)))


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (diverging, sdfgad.ProgramRaises, "the iteration has not converged within max_steps"),
        (without_a_root, sdfgad.ProgramRaises, "no root has been found within max_steps"),
        (at_a_kink, sdfgad.ProgramRaises, "the function has a kink at its solution"),
        (singular, sdfgad.SingularMatrix, "a matrix is singular"),
    ],
)
def test_no_solution(program, error, message):
    with pytest.raises(error, match=message) as caught:
        sdfgad.grad(program)(1.0)
    assert str(caught.value.where) == line_of(program, "sdfgad.")


def with_full_output(p):
    return np.sum(scipy.optimize.fsolve(lambda x: x - p, 1.0, full_output=1)[0])


def test_full_output_is_refused():
    with pytest.raises(sdfgad.UnsupportedProgram, match="full_output of a root is not supported") as caught:
        sdfgad.grad(with_full_output)(1.0)
    assert str(caught.value.where) == line_of(with_full_output, "fsolve")


# --- scipy.optimize.root


def with_slopes(x, a, b):
    return equations(x, a, b), a + np.diag(3 * x**2)


def slopes(x, a, b):
    return a + np.diag(3 * x**2)


def solved(a, b):
    solution = scipy.optimize.root(equations, np.zeros(4), args=(a, b))
    if not solution.success:
        raise ValueError(solution.message)
    return np.sum(solution.x**2) + np.sum(solution["x"] * solution.fun)


def by_least_squares(a, b):
    return np.sum(scipy.optimize.root(equations, np.zeros(4), (a, b), method="lm", tol=1e-12).x ** 2)


def with_a_jacobian(a, b):
    return np.sum(scipy.optimize.root(equations, np.zeros(4), (a, b), jac=slopes, options={"maxfev": 500}).x ** 2)


def with_both(a, b):
    return np.sum(scipy.optimize.root(with_slopes, np.zeros(4), (a, b), "hybr", True, options={"xtol": 1e-12}).x ** 2)


@pytest.mark.parametrize("program", [solved, by_least_squares, with_a_jacobian, with_both])
def test_scipys_root(program):
    g = sdfgad.differentiate(program, wrt=("a", "b"))
    (value, found), expected = g.value_and_grad(A, B), sdfgad.differentiate(of_a_system, wrt=("a", "b"))(A, B)
    assert value == pytest.approx(program(A, B), rel=1e-9)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def of_a_field(p):
    return np.sum(scipy.optimize.root(lambda x: np.cos(p * x) - x, np.ones((2, 2)), method="krylov", tol=1e-10).x[0])


def of_a_number(p):
    solution = scipy.optimize.root(lambda x: x**3 - p, 1.0)
    return solution.x[0] + np.sum(solution.x.shape)


def test_shapes_of_scipys_root():
    assert sdfgad.grad(of_a_field).value(0.7) == pytest.approx(of_a_field(0.7), rel=1e-8)
    assert sdfgad.check_grads(of_a_field, 0.7).error < 1e-5
    assert sdfgad.grad(of_a_number).value(8.0) == pytest.approx(of_a_number(8.0), rel=1e-9)
    assert sdfgad.grad(of_a_number)(8.0) == pytest.approx(1 / 12, rel=1e-9)


def far_away(p):
    return scipy.optimize.root(lambda x: x**3 - p, 1000.0, options={"maxiter": 3}).x[0]


def test_scipys_root_without_a_solution():
    with pytest.raises(sdfgad.ProgramRaises, match="no root has been found within max_steps") as caught:
        sdfgad.grad(far_away)(1.0)
    assert str(caught.value.where) == line_of(far_away, "root(")


def by_another_method(p):
    return scipy.optimize.root(lambda x: x - p, 1.0, method="bisect").x[0]


def watched(p):
    return scipy.optimize.root(lambda x: x - p, 1.0, callback=print).x[0]


def tuned(p):
    return scipy.optimize.root(lambda x: x - p, 1.0, options={"factor": 10}).x[0]


def overdetermined(p):
    return scipy.optimize.root(lambda x: np.stack([x[0] - p, x[1], x[0]]), np.ones(2), method="lm").x[0]


def counted(p):
    return p * scipy.optimize.root(lambda x: x - p, 1.0).nfev


@pytest.mark.parametrize(
    ("program", "what", "todo"),
    [
        (by_another_method, "this method of root is not known", "Write hybr, lm"),
        (watched, "callback of root is not supported", "Leave it out"),
        (tuned, "an option of root has no meaning", "Leave out all but maxiter"),
        (overdetermined, "more or fewer equations", "Give as many of both"),
        (counted, "how often root has called its function", "Leave it out"),
    ],
)
def test_what_scipys_root_refuses(program, what, todo):
    with pytest.raises(sdfgad.UnsupportedProgram, match=what) as caught:
        sdfgad.grad(program)(1.0)
    assert todo in str(caught.value)
    assert str(caught.value.where) == line_of(program, "root(")
