"""scipy.special, which is known where the program has imported it."""

import math
import subprocess
import sys

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import special, stats

import sdfgad
from sdfgad.parse.registry import FUNCTIONS, OPTIONAL, known_function
from tests.helpers import assert_close, assert_gradient
from tests.helpers_ir import evaluated_gradients, gradient_of, outputs_of, parsed


def over_axes(x, w):
    y = special.softmax(x, axis=1) * w + special.log_softmax(x, axis=0) * w
    z = special.logsumexp(x, axis=1) + special.logsumexp(x)
    u = special.logsumexp(x, axis=0, keepdims=True, b=w)
    return np.sum(y * y) + np.sum(z * z) + np.sum(u * x) + np.sum(special.softmax(x) * w)


def over_axes_jax(x, w):
    y = jax.nn.softmax(x, axis=1) * w + jax.nn.log_softmax(x, axis=0) * w
    logsumexp = jax.scipy.special.logsumexp
    z = logsumexp(x, axis=1) + logsumexp(x)
    u = logsumexp(x, axis=0, keepdims=True, b=w)
    return jnp.sum(y * y) + jnp.sum(z * z) + jnp.sum(u * x) + jnp.sum(jax.nn.softmax(x, axis=None) * w)


def test_functions_over_axes(rng):
    assert_gradient(over_axes, over_axes_jax, rng.standard_normal((3, 4)), rng.uniform(0.5, 1.5, (3, 4)))


def test_large_and_infinite_exponents():
    g = sdfgad.differentiate(lambda x: special.logsumexp(x, axis=1))
    x = np.array([[1000.0, 1000.0], [-1000.0, -np.inf], [np.inf, 0.0], [-np.inf, -np.inf]])
    np.testing.assert_allclose(g.value(x), special.logsumexp(x, axis=1), rtol=1e-15)
    found = g.vjp(x, cotangent=np.array([1.0, 1.0, 0.0, 0.0]))["x"]
    np.testing.assert_allclose(found, [[0.5, 0.5], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])


def digamma(x):
    return special.digamma(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_digamma(dtype):
    x = np.concatenate([np.linspace(0.01, 20, 500), np.geomspace(20, 1e6, 50), np.linspace(-3.9, -0.1, 60)]).astype(
        dtype
    )
    g, expected = sdfgad.differentiate(digamma, reduce="sum"), [float(mpmath.digamma(float(v))) for v in x]
    tolerance = 1e-14 if dtype is np.float64 else 1e-6
    value = sdfgad.differentiate(digamma).value(x)
    assert value.dtype == dtype
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)
    slope = special.polygamma(1, x.astype(np.float64))[x > 0]
    np.testing.assert_allclose(g(x)["x"][x > 0], slope, rtol=10 * tolerance)


@pytest.mark.parametrize("x", [1e-12, 1e-9, 1e-5, 1e-3, 0.2, 0.31, 0.32, 1.5])
def test_derivative_of_sinc_near_zero(x):
    """-pi^2 x / 3 and so on: no cancellation."""
    found = sdfgad.grad(lambda x: np.sinc(x))(x)
    series = -(np.pi**2) * x / 3 + np.pi**4 * x**3 / 30
    exact = (np.cos(np.pi * x) - np.sinc(x)) / x if x > 0.1 else series
    np.testing.assert_allclose(found, exact, rtol=1e-11)


def test_derivative_of_erfinv_and_i0():
    x = np.array([1e-9, 0.3, -0.7, 0.999999])
    found = sdfgad.grad(lambda x: np.sum(special.erfinv(x)))(x)
    assert_close(found, np.sqrt(np.pi) / 2 * np.exp(special.erfinv(x) ** 2), 1e-12)
    y = np.array([0.0, 3.0, -50.0, 39.9, 40.1])
    np.testing.assert_allclose(sdfgad.grad(lambda x: np.sum(np.i0(x)))(y), special.i1(y), rtol=1e-14)


def test_scipy_is_not_imported():
    code = "import sys, sdfgad.parse.parse; sys.exit('scipy.special' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_functions_are_known_once_the_module_is_there():
    assert known_function(special.erf) is FUNCTIONS[special.erf]
    assert "scipy.special" not in OPTIONAL
    assert known_function(special.struve) is None
    assert known_function([]) is None


def every_operation(x, s):
    y = special.erf(x) + special.gammaln(x) * special.expit(x) + special.xlogy(x, s) + np.sinc(x)
    y = y + np.modf(x)[0] + math.remainder(s, 0.3) + round(s, 1) + max(s, 0.2) - min(s, 0.1)
    return np.sum(y * special.softmax(x) + special.psi(x))


def test_the_oracle_knows_every_operation(rng):
    """The interpreter of programs computes what Python does, and the gradients of generated code."""
    args = rng.uniform(0.5, 1.5, 4), 0.8
    primal = parsed(every_operation, *args)
    assert_close(outputs_of(primal, *args)["return"], every_operation(*args), 1e-13)
    _, expected = evaluated_gradients(primal, gradient_of(primal), 1.0, *args)
    found = sdfgad.differentiate(every_operation)(*args)
    for name in ("x", "s"):
        assert_close(found[name], expected[name], 1e-12, name)


def by_special_functions(x):
    return special.ndtr(x) + stats.norm.cdf(x) + stats.gamma.pdf(x, 2.0)


def test_what_a_definition_finds_is_the_same_at_each_call():
    """Else each call would parse the program anew."""
    assert parsed(by_special_functions, np.array([0.3, 0.7])).is_current
