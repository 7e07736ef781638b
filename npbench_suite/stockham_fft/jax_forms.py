"""Fourier transform by the Stockham algorithm, in JAX, for timing."""

import jax.numpy as jnp


def port(N, R, K, x, y):
    """The K passes, statement by statement; their shapes are constants of the pass, so the loop is Python's."""
    row, column = jnp.mgrid[0:R, 0:R]
    butterfly = jnp.exp(-2.0j * jnp.pi * row * column / R)
    digit, position = jnp.mgrid[0:R, 0:N]
    y = x
    for i in range(K):
        done, left = R**i, R ** (K - i - 1)
        permuted = jnp.transpose(jnp.reshape(y, (done, R, left)), axes=(1, 0, 2))
        angle = -2.0j * jnp.pi * digit[:, :done] * position[:, :done] / R ** (i + 1)
        twiddle = jnp.repeat(jnp.reshape(jnp.exp(angle), (R, done, 1)), left, axis=2)
        twisted = jnp.reshape(permuted, (N,)) * jnp.reshape(twiddle, (N,))
        y = jnp.reshape(butterfly @ jnp.reshape(twisted, (R, R ** (K - 1))), (N,))
    return y
