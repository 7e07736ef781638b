"""A long short-term memory network in JAX: the four gates by their own matrices."""

import jax
import jax.numpy as jnp


def reference(x, target, W_in, W_hidden, bias, W_out, bias_out):
    inputs, states = jnp.split(W_in, 4, axis=1), jnp.split(W_hidden, 4, axis=1)
    biases = jnp.split(bias, 4)
    h = c = jnp.zeros((x.shape[1], W_hidden.shape[0]))
    loss = 0.0
    for now, wanted in zip(x, target, strict=True):
        i, f, g, o = (now @ A + h @ B + b for A, B, b in zip(inputs, states, biases, strict=True))
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        loss += jnp.sum(jnp.square(h @ W_out + bias_out - wanted))
    return {"return": loss / target.size}
