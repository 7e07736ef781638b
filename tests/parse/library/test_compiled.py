"""A sample of the library compiled, against JAX."""

import numpy as np

import sdfgad
from tests.helpers import assert_close, assert_expressions, jax_vjp

EXPRESSIONS = [
    "np.prod(a, axis=0)",
    "np.prod(x)",
    "np.cumsum(a, axis=1)",
    "np.cumprod(x)",
    "np.std(a, axis=0, ddof=1)",
    "np.average(a, axis=1, weights=x)",
    "np.corrcoef(a)",
    "np.einsum('ij,kj->ik', a, a)",
    "np.einsum('i,ij,j', y, a, x)",
    "np.tensordot(a, a, axes=([0, 1], [0, 1]))",
    "np.kron(x, y)",
    "np.convolve(x, y, 'same')",
    "np.pad(a, ((1, 2), (0, 3)), mode='reflect')",
    "np.roll(a, 1, axis=1)",
    "np.tile(x, 2)",
    "np.repeat(a, 2, axis=1)",
    "np.gradient(x, y[0])",
    "np.trapezoid(a, x)",
    "np.interp(x, np.cumsum(y), y)",
    "np.linalg.norm(a, axis=1)",
    "np.cross(y, y * y)",
    "np.histogram(a, 4, weights=a)[0]",
    "np.take(x, k)",
    "np.take_along_axis(a, k[:, None], 1)",
    "np.linspace(x[0], x[1], 5)",
    "x[np.argmax(x)] * np.where(np.any(a > 1, axis=0), x, 1.0)",
    "np.mgrid[0:2, 0:4][1] * x",
    "np.select([x > 1.0, x > 0.8], [x * x, 3 * x], -x)",
    "np.polyval(y, x)",
]


def test_expressions(rng, tmp_path):
    arguments = {
        "x": rng.uniform(0.5, 1.5, 4),
        "y": rng.uniform(0.5, 1.5, 3),
        "a": rng.uniform(0.5, 1.5, (3, 4)),
        "k": np.array([2, 0, 1]),
    }
    assert_expressions(EXPRESSIONS, arguments, tmp_path)


def summed_at(x, k, y):
    np.add.at(x, k, y * y)
    np.subtract.at(x, k[::-1], np.sin(y))
    return x * x


def summed_at_jax(x, k, y):
    x = x.at[k].add(y * y).at[k[::-1]].add(-jax_sin(y))
    return x * x


def jax_sin(y):
    import jax.numpy as jnp

    return jnp.sin(y)


def test_elements_that_are_chosen_twice_accumulate(rng):
    x, y, k = rng.standard_normal(3), rng.standard_normal(500), rng.integers(0, 3, 500)
    g = sdfgad.differentiate(summed_at)
    cotangent = rng.standard_normal(3)
    expected = summed_at(x.copy(), k, y)
    assert_close(g.value(x.copy(), k, y), expected)
    gradients = g.vjp(x, k, y, cotangent=cotangent)
    for found, wanted in zip(gradients.values(), jax_vjp(summed_at_jax, (x, k, y), cotangent), strict=True):
        assert_close(found, wanted)
