"""Multilayer perceptron, in JAX, for timing.

The expert form takes no derivative of the largest element, on which softmax does not depend; the rest is matmuls.
"""

import jax
import jax.numpy as jnp


def port(input, w1, b1, w2, b2, w3, b3):
    """The class probabilities, with softmax written out."""

    def relu(x):
        return jnp.maximum(x, 0)

    def softmax(x):
        largest = jnp.max(x, axis=-1, keepdims=True)
        weights = jnp.exp(x - largest)
        total = jnp.sum(weights, axis=-1, keepdims=True)
        return weights / total

    hidden = relu(input @ w1 + b1)
    hidden = relu(hidden @ w2 + b2)
    return softmax(hidden @ w3 + b3)


def expert(input, w1, b1, w2, b2, w3, b3):
    """The class probabilities, with the largest logit a constant."""
    hidden = jax.nn.relu(input @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    logits = hidden @ w3 + b3
    weights = jnp.exp(logits - jax.lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True)))
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def library(input, w1, b1, w2, b2, w3, b3):
    """The class probabilities, by the functions of jax.nn."""
    hidden = jax.nn.relu(input @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    return jax.nn.softmax(hidden @ w3 + b3)
