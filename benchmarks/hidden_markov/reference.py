"""Log-likelihood of a hidden Markov model in JAX: products of matrices of probabilities, not of logarithms."""

import jax
import jax.numpy as jnp


def reference(observations, initial, transition, emission):
    first, steps, emitted = (jax.nn.softmax(logits, axis=-1) for logits in (initial, transition, emission))
    p = first * emitted.T[observations[:, 0]]
    scale = jnp.sum(p, axis=1, keepdims=True)
    total = jnp.sum(jnp.log(scale))
    for t in range(1, observations.shape[1]):
        p = (p / scale) @ steps * emitted.T[observations[:, t]]
        scale = jnp.sum(p, axis=1, keepdims=True)
        total += jnp.sum(jnp.log(scale))
    return {"return": total}
