"""Mandelbrot set by masks, in JAX, for timing.

The expert form iterates on real and imaginary parts in blocks of five that the reverse sweep recomputes, so that
XLA fuses each block into one loop over the points and only the iterates between blocks are stored.
"""

import jax
import jax.numpy as jnp

BLOCK = 5


def port(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
    """The iterates, on whole complex arrays, with a mask for the points inside."""
    real = jnp.linspace(xmin, xmax, xn, dtype=jnp.float64)
    imaginary = jnp.linspace(ymin, ymax, yn, dtype=jnp.float64)
    C = real + imaginary[:, None] * 1j

    def step(_, Z):
        inside = jnp.less(jnp.abs(Z), horizon)
        return jnp.where(inside, Z**2 + C, Z)

    return jax.lax.fori_loop(0, maxiter, step, jnp.zeros(C.shape, dtype=jnp.complex128))


def expert(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
    """The iterates, real and imaginary parts apart, in recomputed blocks."""
    c_re = jnp.broadcast_to(jnp.linspace(xmin, xmax, xn)[None, :], (yn, xn))
    c_im = jnp.broadcast_to(jnp.linspace(ymin, ymax, yn)[:, None], (yn, xn))

    def iterate(count):
        def block(re, im, c_re, c_im):
            for _ in range(count):
                re2, im2 = re * re, im * im
                inside = re2 + im2 < horizon**2
                re, im = jnp.where(inside, re2 - im2 + c_re, re), jnp.where(inside, 2.0 * re * im + c_im, im)
            return re, im

        return jax.checkpoint(block, prevent_cse=False)

    blocks, rest = divmod(maxiter, BLOCK)
    zeros = jnp.zeros((yn, xn))
    z, _ = jax.lax.scan(lambda z, _: (iterate(BLOCK)(*z, c_re, c_im), None), (zeros, zeros), None, length=blocks)
    return jax.lax.complex(*iterate(rest)(*z, c_re, c_im))
