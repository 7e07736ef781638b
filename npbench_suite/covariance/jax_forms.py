"""JAX forms of covariance. The expert form multiplies halves of the columns, recursively, and mirrors the block
off the diagonal; the data are scaled before the product, whose value the gradient then does not need."""

import jax.numpy as jnp
from jax import lax


def port(M, float_n, data):
    """The program's loop, with whole rows and masks for the slices."""
    data = data - jnp.mean(data, axis=0)

    def row(i, cov):
        later = jnp.arange(M) >= i
        products = data[:, i] @ data / (float_n - 1.0)
        cov = cov.at[i, :].set(jnp.where(later, products, cov[i, :]))
        return cov.at[:, i].set(jnp.where(later, products, cov[:, i]))

    return lax.fori_loop(0, M, row, jnp.zeros((M, M), dtype=data.dtype))


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
    return _gram((data - jnp.mean(data, axis=0)) * (1.0 / jnp.sqrt(float_n - 1.0)))


def library(M, float_n, data):
    """jnp.cov, which divides by N - 1, with the division by float_n - 1 in its place."""
    return jnp.cov(data, rowvar=False, bias=True) * (data.shape[0] / (float_n - 1.0))
