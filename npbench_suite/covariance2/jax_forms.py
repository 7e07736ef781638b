"""JAX forms of covariance2. The expert form multiplies halves of the columns, recursively, and mirrors the block
off the diagonal: fewer flops in the gradient than jnp.cov's full product."""

import jax.numpy as jnp


def port(M, float_n, data):
    """The program's call."""
    return jnp.cov(jnp.transpose(data))


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
    return _gram((data - jnp.mean(data, axis=0)) * (data.shape[0] - 1) ** -0.5)
