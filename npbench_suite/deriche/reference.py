"""Deriche edge filter in JAX."""

import jax.numpy as jnp


def smooth(lines, alpha):
    """Both recurrences over the first axis, summed; what lies outside counts as zero."""
    k = (1.0 - jnp.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * jnp.exp(-alpha) - jnp.exp(2.0 * alpha))
    b1, b2 = 2.0 ** (-alpha), -jnp.exp(-2.0 * alpha)
    zero = jnp.zeros_like(lines[0])

    forward = [zero, zero]
    previous = zero
    for line in lines:
        new = k * (line + jnp.exp(-alpha) * (alpha - 1.0) * previous)
        forward.append(new + b1 * forward[-1] + b2 * forward[-2])
        previous = line

    backward = [zero, zero]
    next1, next2 = zero, zero
    for line in lines[::-1]:
        new = k * (jnp.exp(-alpha) * (alpha + 1.0) * next1 - jnp.exp(-2.0 * alpha) * next2)
        backward.append(new + b1 * backward[-1] + b2 * backward[-2])
        next1, next2 = line, next1

    return jnp.stack(forward[2:]) + jnp.stack(backward[:1:-1])


def reference(alpha, imgIn):
    return {"return": smooth(smooth(imgIn.T, alpha).T, alpha)}
