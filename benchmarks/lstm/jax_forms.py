"""A long short-term memory network in JAX, to time gradients of.

The expert form multiplies all inputs, and all hidden states, with their matrices at once, outside of the scan.
"""

import jax
import jax.numpy as jnp
from jax import lax


def sigmoid(x):
    """As the program has it."""
    return 1.0 / (1.0 + jnp.exp(-x))


def cell(x, h, c, W_in, W_hidden, bias):
    """One step."""
    n = h.shape[1]
    gates = x @ W_in + h @ W_hidden + bias
    i = sigmoid(gates[:, :n])
    f = sigmoid(gates[:, n : 2 * n])
    g = jnp.tanh(gates[:, 2 * n : 3 * n])
    o = sigmoid(gates[:, 3 * n :])
    c = f * c + i * g
    h = o * jnp.tanh(c)
    return h, c


def port(x, target, W_in, W_hidden, bias, W_out, bias_out):
    """The program, statement by statement: a scan stacks the outputs."""
    h = jnp.zeros((x.shape[1], W_hidden.shape[0]))

    def step(state, x):
        h, c = cell(x, *state, W_in, W_hidden, bias)
        return (h, c), h @ W_out + bias_out

    _, outputs = lax.scan(step, (h, jnp.zeros_like(h)), x)
    return jnp.mean((outputs - target) ** 2)


def expert(x, target, W_in, W_hidden, bias, W_out, bias_out):
    """A scan with one product a step."""
    n = W_hidden.shape[0]
    h = jnp.zeros((x.shape[1], n))

    def step(state, driven):
        h, c = state
        gates = driven + h @ W_hidden
        i, f, o = (jax.nn.sigmoid(gates[:, k * n : (k + 1) * n]) for k in (0, 1, 3))
        c = f * c + i * jnp.tanh(gates[:, 2 * n : 3 * n])
        h = o * jnp.tanh(c)
        return (h, c), h

    _, states = lax.scan(step, (h, h), x @ W_in + bias)
    return jnp.mean((states @ W_out + bias_out - target) ** 2)
