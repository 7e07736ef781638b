"""JAX forms of deriche. The expert form computes what does not recur on whole images, and scans over the lines of the
image, transposed for the first pass, with the last two lines as the carry."""

import jax.numpy as jnp
from jax import lax


def _factors(alpha):
    """The filter's coefficients: a1 to a4, b1, b2."""
    decay = jnp.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - jnp.exp(2.0 * alpha))
    return k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay, 2.0 ** (-alpha), -decay * decay


def port(alpha, imgIn):
    """The program's loops, with in-place updates as .at[].set."""
    a1, a2, a3, a4, b1, b2 = _factors(alpha)
    rows, columns = imgIn.shape
    x = imgIn

    def right(j, y):
        return y.at[:, j].set(a1 * x[:, j] + a2 * x[:, j - 1] + b1 * y[:, j - 1] + b2 * y[:, j - 2])

    def left(k, y):
        j = columns - 3 - k
        return y.at[:, j].set(a3 * x[:, j + 1] + a4 * x[:, j + 2] + b1 * y[:, j + 1] + b2 * y[:, j + 2])

    y1 = jnp.zeros_like(x)
    y2 = jnp.zeros_like(x)
    y1 = y1.at[:, 0].set(a1 * x[:, 0])
    y1 = y1.at[:, 1].set(a1 * x[:, 1] + a2 * x[:, 0] + b1 * y1[:, 0])
    y1 = lax.fori_loop(2, columns, right, y1)
    y2 = y2.at[:, -1].set(0.0)
    y2 = y2.at[:, -2].set(a3 * x[:, -1])
    y2 = lax.fori_loop(0, columns - 2, left, y2)
    out = y1 + y2

    def down(i, y):
        return y.at[i, :].set(a1 * out[i, :] + a2 * out[i - 1, :] + b1 * y[i - 1, :] + b2 * y[i - 2, :])

    def up(k, y):
        i = rows - 3 - k
        return y.at[i, :].set(a3 * out[i + 1, :] + a4 * out[i + 2, :] + b1 * y[i + 1, :] + b2 * y[i + 2, :])

    y1 = y1.at[0, :].set(a1 * out[0, :])
    y1 = y1.at[1, :].set(a1 * out[1, :] + a2 * out[0, :] + b1 * y1[0, :])
    y1 = lax.fori_loop(2, rows, down, y1)
    y2 = y2.at[-1, :].set(0.0)
    y2 = y2.at[-2, :].set(a3 * out[-1, :])
    y2 = lax.fori_loop(0, rows - 2, up, y2)
    return y1 + y2


def _smooth(x, factors):
    """Both recurrences over the first axis, summed."""
    a1, a2, a3, a4, b1, b2 = factors
    zero = jnp.zeros((1, x.shape[1]))
    forward = a1 * x + a2 * jnp.concatenate([zero, x[:-1]])
    backward = a3 * jnp.concatenate([x[1:], zero]) + a4 * jnp.concatenate([x[2:], zero, zero])

    def recur(last, line):
        new = line + b1 * last[0] + b2 * last[1]
        return (new, last[0]), new

    start = (zero[0], zero[0])
    return lax.scan(recur, start, forward)[1] + lax.scan(recur, start, backward, reverse=True)[1]


def expert(alpha, imgIn):
    """The rows' pass on the transpose, then the columns' pass."""
    factors = _factors(alpha)
    return _smooth(_smooth(imgIn.T, factors).T, factors)
