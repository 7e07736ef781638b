"""`sdfgad.scipy` against SciPy's own answers, found with finite differences."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize

import sdfgad
import sdfgad.scipy
from sdfgad.errors import ArgumentError, InfeasibleBudget, OutputError
from sdfgad.scipy.flat import Flat

T = np.linspace(0.0, 3.0, 20)
Y = 2.5 * np.exp(-0.3 * T)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def misfit(p, t, y):
    return np.sum((p["a"] * np.exp(-p["k"] * t) - y) ** 2)


def decay(t, a, k):
    return a * np.exp(-k * t)


def chain(x):
    """The residuals of Rosenbrock's function: each has one or two unknowns."""
    return np.concatenate((10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]))


def circle_and_line(p):
    return np.array([p["x"] ** 2 + p["y"] ** 2 - 1.0, p["x"] - p["y"]])


def parabola(x):
    return x[0] ** 2 + x[1]


@dataclass
class Model:
    w: np.ndarray
    z: complex
    scale: float
    steps: int


# --- vectors of containers


def test_a_container_comes_back_from_its_vector():
    like = {"m": Model(np.arange(4, dtype=np.float32).reshape(2, 2), 1 + 2j, 0.5, 3), "name": "u", "k": np.arange(2)}
    flat = Flat.of(like)
    assert flat.start.tolist() == [0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 0.5]
    back = flat.tree(flat.start + 1.0)
    assert back["m"].w.dtype == np.float32
    np.testing.assert_array_equal(back["m"].w, like["m"].w + 1)
    assert (back["m"].z, back["m"].scale, back["m"].steps, back["name"]) == (2 + 3j, 1.5, 3, "u")
    assert flat.direction(flat.start)["name"] is None
    np.testing.assert_array_equal(flat.vector(back), flat.start + 1.0)


@pytest.mark.parametrize(
    ("start", "back"), [([1, 2.5], np.array([1.0, 2.5])), (3, 3.0), (np.arange(2), np.array([0.0, 1.0]))]
)
def test_numbers_are_read_as_scipy_reads_them(start, back):
    found = Flat.of(start).tree(Flat.of(start).start)
    assert type(found) is type(back)
    np.testing.assert_array_equal(found, back)


def test_a_start_without_floats_is_refused():
    with pytest.raises(ArgumentError, match="x0 has no floats"):
        sdfgad.scipy.minimize(misfit, {"n": 3})


# --- minimize


def test_an_objective_has_value_gradient_and_hessian():
    start = np.array([0.3, -0.2, 0.8])
    one = sdfgad.scipy.objective(rosenbrock, start)
    value, gradient = one.fun(start)
    assert value == one.value(start) == pytest.approx(optimize.rosen(start), rel=1e-14)
    np.testing.assert_allclose(gradient, optimize.rosen_der(start), rtol=1e-12)
    np.testing.assert_allclose(one.hess(start), optimize.rosen_hess(start), rtol=1e-12)
    np.testing.assert_allclose(one.hessp(start, start), optimize.rosen_hess_prod(start, start), rtol=1e-12)
    found = optimize.minimize(one.fun, one.x0, jac=one.jac, hessp=one.hessp, method="trust-ncg")
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-6)


@pytest.mark.parametrize("method", [None, "CG", "BFGS", "L-BFGS-B", "SLSQP", "Newton-CG", "trust-ncg", "trust-exact"])
def test_minimize_finds_scipys_minimum_in_fewer_evaluations(method):
    start = np.array([0.3, -0.2, 0.8])
    found = sdfgad.scipy.minimize(rosenbrock, start, method=method, tol=1e-9)
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-4)
    by_differences = optimize.minimize(
        rosenbrock, start, method=method if _uses_differences(method) else None, tol=1e-9
    )
    assert found.nfev < by_differences.nfev


def _uses_differences(method):
    return method in (None, "CG", "BFGS", "L-BFGS-B", "SLSQP")


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell"])
def test_a_method_without_derivatives_gets_the_value(method):
    found = sdfgad.scipy.minimize(rosenbrock, np.full(3, 0.7), method=method, options={"maxiter": 2000})
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-3)


def test_minimize_keeps_containers():
    seen = []
    found = sdfgad.scipy.minimize(
        misfit, {"a": 1.0, "k": np.array([1.0])}, (T, Y), method="trust-ncg", callback=lambda p: seen.append(p["a"])
    )
    assert found.x["a"] == pytest.approx(2.5, rel=1e-6)
    np.testing.assert_allclose(found.x["k"], [0.3], rtol=1e-6)
    assert abs(found.jac["a"]) < 1e-4
    assert seen[-1] == found.x["a"]


def test_a_callback_may_take_the_result():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.x["a"])

    found = sdfgad.scipy.minimize(misfit, {"a": 1.0, "k": 0.5}, (T, Y), method="BFGS", callback=callback)
    assert seen[-1] == found.x["a"] == pytest.approx(2.5, rel=1e-5)


def test_bounds_are_arranged_as_the_start():
    bounds = optimize.Bounds({"a": 0.0, "k": 0.4}, 10.0)
    found = sdfgad.scipy.minimize(misfit, {"a": 1.0, "k": 0.5}, (T, Y), method="L-BFGS-B", bounds=bounds)
    own = optimize.minimize(
        lambda v: np.sum((v[0] * np.exp(-v[1] * T) - Y) ** 2), [1.0, 0.5], bounds=[(0.0, 10.0), (0.4, 10.0)]
    )
    assert found.x["k"] == 0.4
    assert found.x["a"] == pytest.approx(own.x[0], rel=1e-4)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_are_kept(method):
    start = np.full(3, 0.2)
    constraint = sdfgad.scipy.NonlinearConstraint(parabola, -np.inf, 0.5, start)
    found = sdfgad.scipy.minimize(rosenbrock, start, method=method, constraints=[constraint])
    own = optimize.minimize(
        rosenbrock, start, method="SLSQP", constraints={"type": "ineq", "fun": lambda x: 0.5 - parabola(x)}
    )
    np.testing.assert_allclose(found.x, own.x, atol=2e-3)
    assert parabola(found.x) <= 0.5 + 1e-6


def test_a_constraint_has_the_hessian_of_its_lagrangian():
    start, weights, p = np.array([0.3, 0.1]), np.array([2.0, -1.0, 0.5]), np.array([0.7, -0.4])

    def two(x):
        return np.array([x[0] ** 2 * x[1], np.sin(x[0] * x[1]), x[1] ** 3])

    hess = sdfgad.scipy.NonlinearConstraint(two, 0.0, 1.0, start).hess(start, weights)
    slopes = [(weights @ _jacobian_of_two(start + h * p)) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(hess @ p, (slopes[0] - slopes[1]) / 2e-5, rtol=1e-8)


def _jacobian_of_two(x):
    c = np.cos(x[0] * x[1])
    return np.array([[2 * x[0] * x[1], x[0] ** 2], [x[1] * c, x[0] * c], [0.0, 3 * x[1] ** 2]])


# --- least squares, equations, curves


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_has_the_exact_jacobian(method):
    found = sdfgad.scipy.least_squares(chain, [0.5] * 4, method=method)
    own = optimize.least_squares(chain, [0.5] * 4, method=method)
    np.testing.assert_allclose(found.x, own.x, atol=1e-7)
    assert found.nfev <= own.nfev


def test_a_sparse_jacobian_solves_a_large_problem():
    found = sdfgad.scipy.least_squares(chain, np.full(2000, 0.5), sparsity="auto", method="trf")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    assert found.jac.nnz <= 3 * 2000


def test_a_sparse_jacobian_by_a_container_is_refused():
    with pytest.raises(ArgumentError, match=r"sparse Jacobian.*no array of real numbers"):
        sdfgad.scipy.least_squares(circle_and_line, {"x": 1.0, "y": 0.0}, sparsity="auto")


def test_least_squares_takes_containers():
    found = sdfgad.scipy.least_squares(lambda p, t, y: p["a"] * np.exp(-p["k"] * t) - y, {"a": 1.0, "k": 1.0}, (T, Y))
    assert found.x == pytest.approx({"a": 2.5, "k": 0.3})


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root_solves_equations(method):
    found = sdfgad.scipy.root(circle_and_line, {"x": 1.0, "y": 0.3}, method=method)
    assert found.x == pytest.approx({"x": np.sqrt(0.5), "y": np.sqrt(0.5)}, abs=1e-5)


def test_curve_fit_gives_scipys_parameters_and_covariance():
    noisy = Y + 0.01 * np.random.default_rng(3).standard_normal(T.size)
    found, covariance, info, *_ = sdfgad.scipy.curve_fit(decay, T, noisy, full_output=True)
    own, own_covariance, own_info, *_ = optimize.curve_fit(decay, T, noisy, full_output=True)
    np.testing.assert_allclose(found, own, rtol=1e-6)
    np.testing.assert_allclose(covariance, own_covariance, rtol=1e-4)
    assert info["nfev"] < own_info["nfev"]


# --- refusals


def test_derivatives_are_not_passed():
    with pytest.raises(ArgumentError, match="`jac` is passed, which is derived from the program"):
        sdfgad.scipy.minimize(rosenbrock, np.ones(3), jac=optimize.rosen_der)


def test_a_program_that_returns_an_array_is_refused():
    with pytest.raises(OutputError, match=r"shape \(3,\), not that of a scalar"):
        sdfgad.scipy.minimize(decay, np.ones(3), (1.0, 2.0))


def test_a_memory_limit_holds():
    with pytest.raises(InfeasibleBudget):
        sdfgad.scipy.objective(rosenbrock, np.ones(3000), memory_limit="20 KiB").fun(np.ones(3000))


# --- how SciPy calls, and what it passes


def square(p):
    return np.sum((p["a"] - 2.0) ** 2) + (p["b"] - 3.0) ** 2


def test_trust_constr_needs_no_constraints():
    found = sdfgad.scipy.minimize(square, {"a": np.zeros(2), "b": 0.0}, method="trust-constr")
    np.testing.assert_allclose(found.x["a"], 2.0, rtol=1e-5)
    assert isinstance(found.jac, list)  # SciPy's: Jacobians of constraints.


def test_bounds_go_by_name_and_take_one_number_for_an_array():
    start = {"a": np.full(2, 0.5), "b": 0.5}
    bounds = optimize.Bounds({"b": 0.0, "a": 0.0}, {"b": 2.5, "a": np.array([1.0, np.inf])})
    found = sdfgad.scipy.minimize(square, start, bounds=bounds)
    np.testing.assert_allclose([*found.x["a"], found.x["b"]], [1.0, 2.0, 2.5])
    for wrong, message in (
        ({"a": 0.0, "b": np.zeros(2)}, r"`x\['b'\]` is float64 of shape \(2,\), and in x0 float64 of shape \(\)"),
        ({"a": 0.0}, r"a container has x\['a'\], and x0 has x\['a'\], x\['b'\]"),
        ({"a": 1j, "b": 0.0}, r"`x\['a'\]` is complex128"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sdfgad.scipy.minimize(square, start, bounds=optimize.Bounds(wrong, 1.0))


def test_bounds_of_a_matrix():
    def distance(x):
        return np.sum((x - np.arange(4.0).reshape(2, 2)) ** 2)

    bounds = optimize.Bounds(np.zeros((2, 2)), np.array([[1.0, 1.0], [1.0, 5.0]]))
    np.testing.assert_allclose(sdfgad.scipy.minimize(distance, np.zeros((2, 2)), bounds=bounds).x, [[0, 1], [1, 3]])


def test_tnc_passes_callbacks_the_point_alone():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    sdfgad.scipy.minimize(square, {"a": np.zeros(2), "b": 0.0}, method="TNC", callback=callback)
    assert seen[-1].keys() == {"a", "b"}


def test_least_squares_takes_a_pair_of_bounds():
    def residuals(p):
        return np.concatenate((p["a"] - 2.0, np.array([p["b"] - 3.0])))

    upper = {"a": np.array([1.0, np.inf]), "b": 2.5}
    found = sdfgad.scipy.least_squares(residuals, {"a": np.zeros(2), "b": 0.0}, bounds=(-np.inf, upper))
    np.testing.assert_allclose([*found.x["a"], found.x["b"]], [1.0, 2.0, 2.5], rtol=1e-4)


def test_complex_residuals_are_refused():
    def residuals(x):
        return x * (1.0 + 1j) - 2.0

    with pytest.raises(ArgumentError, match="returns complex numbers"):
        sdfgad.scipy.least_squares(residuals, np.ones(2))


def test_curve_fit_takes_one_sigma_for_all():
    def line(t, a, b):
        return a * t + b

    t = np.linspace(0.0, 1.0, 9)
    found = sdfgad.scipy.curve_fit(line, t, t**2, sigma=0.5, absolute_sigma=True)
    expected = optimize.curve_fit(line, t, t**2, sigma=0.5, absolute_sigma=True)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)
