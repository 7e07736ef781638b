"""Element-wise functions in their several spellings; the derivatives themselves are tested with the rules."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import assert_close, assert_expressions, assert_gradient

EXPRESSIONS = [
    "x + s * a",
    "(x + 1.0) * (a - x[:, None][:3])",
    "a * a[:, :1] * a[0]",
    "np.add(x, 1) * np.multiply(2, x)",
    "np.power(x, 3) + np.power(x, 2) + pow(s, 3)",
    "np.true_divide(x, s)",
    "np.abs(x) + np.absolute(s)",
    "np.clip(a, 0.8, 1.2)",
    "a.clip(0.8, None)",
    "np.where(a > x, a * x, s)",
    "np.where(x > 1.0, 1.0, x) * np.where(s > 0, s, x[0])",
    "np.maximum(a, 1.0) + np.minimum(x, s)",
    "(x > 0.9) * x * x",
    "(x > 0.9).astype(np.float64) * x",
    "x ** s + s ** x + 2 ** x",
    "k * x + x / k + k / x",
    "x ** k",
    "-x + +x * ~k",
    "x * (k // 2) + x * (k % 3)",
    "np.float64(s) * x",
    "np.sqrt(s) * np.exp(-x) / (1.0 + np.exp(-x))",
    "1.0 / (1.0 + np.exp(-(a @ x)))",
]


def test_expressions(rng, tmp_path):
    arguments = {"x": rng.uniform(0.6, 1.4, 3), "a": rng.uniform(0.6, 1.4, (3, 3)), "s": 0.75, "k": np.array([3, 1, 2])}
    assert_expressions(EXPRESSIONS, arguments, tmp_path)


def scalar_math(s, t):
    y = math.sqrt(s) * math.exp(t) + math.log(s) + math.log(s, 3.0) + math.sin(s) ** 2
    y += math.atan2(s, t) * math.pow(s, t) + math.tanh(s) * math.fabs(t) + math.hypot(s, t)
    return y * math.pi + math.asinh(t) + math.expm1(s) * math.log1p(t)


def scalar_math_jax(s, t):
    y = jnp.sqrt(s) * jnp.exp(t) + jnp.log(s) + jnp.log(s) / jnp.log(3.0) + jnp.sin(s) ** 2
    y += jnp.arctan2(s, t) * jnp.power(s, t) + jnp.tanh(s) * jnp.abs(t) + jnp.hypot(s, t)
    return y * jnp.pi + jnp.arcsinh(t) + jnp.expm1(s) * jnp.log1p(t)


def test_math_module():
    assert_gradient(scalar_math, scalar_math_jax, 0.8, 1.3)


def scalar_choices(x, s):
    y = x if s > 0.5 else x * x
    z = x * x if s < 0.5 else 2.0 * x
    m = max(s, x[0], 0.1) * min(x[1], x[2]) * abs(s - 2.0)
    return np.sum(y * z) * m * float(s)


def scalar_choices_jax(x, s):
    m = jnp.maximum(s, x[0]) * jnp.minimum(x[1], x[2]) * jnp.abs(s - 2.0)
    return jnp.sum(x * 2.0 * x) * m * s


def test_choices_between_scalars(rng):
    assert_gradient(scalar_choices, scalar_choices_jax, rng.uniform(0.5, 1.5, 3), 0.8)


def out_and_dtype(x, y):
    np.multiply(x, y, out=y)
    np.sin(y, out=y)
    z = np.add(x, y, dtype=np.float64)
    return np.sum(z * y)


def test_out(rng):
    x, y = rng.uniform(0.5, 1, 4), rng.uniform(0.5, 1, 4)

    def reference(x, y):
        y = jnp.sin(x * y)
        return jnp.sum((x + y) * y)

    assert_gradient(out_and_dtype, reference, x, y)


def promotions(x, w, k):
    a = x * 0.1
    b = w * np.float32(0.1) + k
    c = x * k
    d = np.float64(x[0]) * w[0]
    return np.sum(a * b[:2]) + np.sum(c) + d


def test_dtype_promotion_follows_numpy():
    x, w, k = np.array([1.1, 2.3], np.float32), np.array([0.3, 0.7, 1.9]), np.array([1, 2, 3])[:2]
    g = sdfgad.differentiate(promotions)
    args = (x, w[:2], k)
    assert g.value(*args) == promotions(*args)
    half = np.array([1.1], np.float32)
    same = sdfgad.differentiate(lambda x: x * 0.1 + 1)
    np.testing.assert_array_equal(same.value(half), half * 0.1 + 1, strict=True)


def test_nan_and_infinity_stay_what_they_are():
    def program(x):
        return np.sqrt(x) + np.log(x) * 0.0 + np.maximum(x, 1.0)

    x = np.array([-1.0, 0.0, np.inf, np.nan, 4.0])
    with np.errstate(all="ignore"):
        expected = program(x)
    np.testing.assert_array_equal(sdfgad.differentiate(program).value(x), expected)


def test_large_and_small_values_do_not_overflow():
    def program(x):
        return np.sum(np.logaddexp(x, 0.0) + np.tanh(x) + np.hypot(x, 1.0))

    # Of logaddexp: 0, 1, 1/2; of tanh: 0, 0, 1; of hypot: -1, 1, 0, within rounding.
    x = np.array([-1e9, 1e9, 1e-300])
    found = sdfgad.differentiate(program, wrt="x")(x)
    assert_close(found, [-1.0, 2.0, 1.5])


def test_function_of_wrong_dtype_is_refused():
    with pytest.raises(UnsupportedProgram, match="bitwise_and does not take"):
        sdfgad.differentiate(lambda x: np.sum(x & 1))(np.ones(2))
