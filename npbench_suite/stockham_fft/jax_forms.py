"""Fourier transform by the Stockham algorithm, in JAX, for timing.

The expert form takes several passes at once, by a butterfly of up to eight rows on real and imaginary parts apart,
and has twiddle factors as constants that are broadcast, not repeated.
"""

import jax
import jax.numpy as jnp
import numpy as np

LARGEST = 8


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


def expert(N, R, K, x, y):
    """The passes with a larger radix, as products with real matrices."""
    together = max([k for k in range(1, K + 1) if R**k <= LARGEST], default=1)
    re, im = jnp.real(x), jnp.imag(x)
    first = 0
    while first < K:
        passes = min(together, K - first)
        radix, done = R**passes, R**first
        left = N // (radix * done)
        re, im = butterfly_pass(re, im, radix, done, left)
        first += passes
    return jax.lax.complex(re, im)


def butterfly_pass(re, im, radix, done, left):
    """One pass of the given radix."""

    def permuted(part):
        return jnp.transpose(part.reshape(done, radix, left), (1, 0, 2))

    re, im = permuted(re), permuted(im)
    digit = np.arange(radix)
    if done > 1:
        twiddle = np.exp(-2j * np.pi / (radix * done) * np.outer(digit, np.arange(done)))[:, :, None]
        re, im = re * twiddle.real - im * twiddle.imag, re * twiddle.imag + im * twiddle.real
    matrix = np.exp(-2j * np.pi / radix * (np.outer(digit, digit) % radix))
    both = np.block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
    result = both @ jnp.concatenate([re.reshape(radix, -1), im.reshape(radix, -1)])
    return result[:radix].ravel(), result[radix:].ravel()


def library(N, R, K, x, y):
    """The library's transform."""
    return jnp.fft.fft(x)
