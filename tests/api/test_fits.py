"""Parameters of differential equations, fitted by SciPy with gradients of ours."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import sdfgad

TIMES = np.linspace(0.0, 4.0, 9)


def predators(t, state, rates):
    prey, hunters = state[0], state[1]
    return np.stack([rates[0] * prey - prey * hunters, prey * hunters - rates[1] * hunters])


def trajectory(rates):
    found = solve_ivp(predators, (0.0, 4.0), np.array([1.0, 0.5]), t_eval=TIMES, args=(rates,), rtol=1e-8, atol=1e-8)
    return found.y


def misfit(rates, seen):
    return np.sum((trajectory(rates) - seen) ** 2)


def test_rates_are_found_by_quasi_newton_steps():
    rates = np.array([1.3, 0.8])
    seen = trajectory(rates)
    value_and_slope = sdfgad.value_and_grad(misfit)
    found = minimize(value_and_slope, np.array([1.0, 1.0]), args=(seen,), jac=True, method="L-BFGS-B", tol=1e-14)
    np.testing.assert_allclose(found.x, rates, rtol=1e-4)
    assert sdfgad.check_grads(misfit, np.array([1.1, 0.9]), seen, wrt="rates").error < 1e-6
