"""Fits a decaying oscillation with SciPy: `value_and_grad` is what `minimize(..., jac=True)` asks for."""

import numpy as np
from scipy.optimize import minimize

import sdfgad


def misfit(p, t, measured):
    signal = p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t)
    return np.mean((signal - measured) ** 2)


t = np.linspace(0.0, 5.0, 200)
true = np.array([2.0, 0.4, 3.0])
measured = true[0] * np.exp(-true[1] * t) * np.cos(true[2] * t)
found = minimize(
    sdfgad.differentiate(misfit, wrt="p").value_and_grad, [1.5, 0.5, 2.8], args=(t, measured), jac=True, tol=1e-14
)
print(found.x)
np.testing.assert_allclose(found.x, true, rtol=1e-5)
