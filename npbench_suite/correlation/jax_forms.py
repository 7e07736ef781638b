"""JAX forms of correlation. The expert form multiplies halves of the columns, recursively, and mirrors the block
off the diagonal: fewer flops in the gradient than the full product with its own transpose."""

import jax.numpy as jnp
from jax import lax


def port(M, float_n, data):
    """The program's loop, with whole rows and masks for the slices."""
    mean = jnp.mean(data, axis=0)
    deviation = jnp.std(data, axis=0)
    deviation = jnp.where(deviation <= 0.1, 1.0, deviation)
    data = (data - mean) / (jnp.sqrt(float_n) * deviation)

    def row(i, corr):
        later = jnp.arange(M) > i
        products = data[:, i] @ data
        corr = corr.at[i, :].set(jnp.where(later, products, corr[i, :]))
        return corr.at[:, i].set(jnp.where(later, products, corr[:, i]))

    return lax.fori_loop(0, M - 1, row, jnp.eye(M, dtype=data.dtype))


def _gram(x):
    """The product of the transpose of x with x, by halves of the columns; the mirrored block is not computed."""
    half = x.shape[1] // 2
    if half < 100:
        return x.T @ x
    left, right = x[:, :half], x[:, half:]
    corner = left.T @ right
    return jnp.block([[_gram(left), corner], [corner.T, _gram(right)]])


def expert(M, float_n, data):
    """Centred and scaled columns, and their products by halves."""
    centred = data - jnp.mean(data, axis=0)
    variance = jnp.mean(centred * centred, axis=0)
    scale = 1.0 / jnp.sqrt(float_n * jnp.where(variance <= 0.01, 1.0, variance))
    return jnp.where(jnp.eye(M, dtype=bool), 1.0, _gram(centred * scale))


def library(M, float_n, data):
    """jnp.cov of the scaled columns; jnp.corrcoef knows neither float_n nor the limit of the deviation."""
    deviation = jnp.std(data, axis=0)
    scaled = data / jnp.where(deviation <= 0.1, 1.0, deviation)
    products = jnp.cov(scaled, rowvar=False, bias=True) * (data.shape[0] / float_n)
    return jnp.where(jnp.eye(M, dtype=bool), 1.0, products)
