"""Mandelbrot set by dropping what diverged, in JAX, for timing: what has left stays in its place and is masked.

The expert form iterates on real and imaginary parts in blocks of five that the reverse sweep recomputes, so that
XLA fuses each block into one loop over the points and only the iterates between blocks are stored.
"""

import jax
import jax.numpy as jnp

BLOCK = 5


def port(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon):
    """Where the points leave, on whole complex arrays, with a mask for the points that are still iterated on."""
    rows, columns = jnp.mgrid[0:xn, 0:yn]
    real = jnp.linspace(xmin, xmax, xn, dtype=jnp.float64)[rows]
    imaginary = jnp.linspace(ymin, ymax, yn, dtype=jnp.float64)[columns]
    C = real + imaginary * 1j

    def step(_, state):
        Z, last, going = state
        Z = jnp.where(going, Z * Z + C, Z)
        left = going & (jnp.abs(Z) > horizon)
        return Z, jnp.where(left, Z, last), going & ~left

    zeros = jnp.zeros(C.shape, dtype=jnp.complex128)
    _, last, _ = jax.lax.fori_loop(0, itermax, step, (zeros, zeros, jnp.ones(C.shape, dtype=bool)))
    return last.T


def expert(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon):
    """Where the points leave, real and imaginary parts apart, in recomputed blocks; what has left stays put."""
    c_re = jnp.broadcast_to(jnp.linspace(xmin, xmax, xn)[None, :], (yn, xn))
    c_im = jnp.broadcast_to(jnp.linspace(ymin, ymax, yn)[:, None], (yn, xn))

    def iterate(count):
        def block(re, im, c_re, c_im):
            for _ in range(count):
                re2, im2 = re * re, im * im
                going = re2 + im2 <= horizon**2
                re, im = jnp.where(going, re2 - im2 + c_re, re), jnp.where(going, 2.0 * re * im + c_im, im)
            return re, im

        return jax.checkpoint(block, prevent_cse=False)

    blocks, rest = divmod(itermax, BLOCK)
    zeros = jnp.zeros((yn, xn))
    z, _ = jax.lax.scan(lambda z, _: (iterate(BLOCK)(*z, c_re, c_im), None), (zeros, zeros), None, length=blocks)
    re, im = iterate(rest)(*z, c_re, c_im)
    left = re * re + im * im > horizon**2
    return jax.lax.complex(jnp.where(left, re, 0.0), jnp.where(left, im, 0.0))
