"""Denoising of an image in JAX: steps along the gradient of the objective, which JAX derives."""

import jax
import jax.numpy as jnp


def reference(noisy, clean, weight, steps, rate, smoothing):
    def objective(u):
        gx = jnp.diff(u, axis=0, append=u[-1:])
        gy = jnp.diff(u, axis=1, append=u[:, -1:])
        variation = jnp.sum(weight * jnp.sqrt(smoothing**2 + gx * gx + gy * gy))
        return 0.5 * jnp.sum((u - noisy) ** 2) + variation

    u = noisy
    for _ in range(steps):
        u = u - rate * jax.grad(objective)(u)
    return {"return[0]": jnp.sum((u - clean) ** 2) / u.size, "return[1]": u}
