"""Training of a classifier, in JAX, to time gradients of.

The expert form scans over epochs and batches, with the gradients of a step by JAX.
"""

import jax
import jax.numpy as jnp
from jax import lax


def port_softmax(scores):
    """Probabilities, as the program has them."""
    e = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
    return e / jnp.sum(e, axis=1, keepdims=True)


def port_forward(x, w1, b1, w2, b2):
    """The network, as the program has it."""
    h = jnp.tanh(x @ w1 + b1)
    return h, port_softmax(h @ w2 + b2)


def port_backward(x, labels, h, p, w2):
    """The gradients, as the program has them."""
    n = x.shape[0]
    d_scores = p.at[jnp.arange(n), labels].add(-1.0)
    d_scores = d_scores / n
    d_w2 = h.T @ d_scores
    d_b2 = d_scores.sum(axis=0)
    d_h = (d_scores @ w2.T) * (1.0 - h**2)
    d_w1 = x.T @ d_h
    d_b1 = d_h.sum(axis=0)
    return d_w1, d_b1, d_w2, d_b2


def port(x_train, labels_train, x_valid, labels_valid, w1, b1, w2, b2, rate, momentum, batch, epochs):
    """The program, statement by statement."""
    n = x_train.shape[0]
    labels_train, labels_valid = jnp.asarray(labels_train), jnp.asarray(labels_valid)
    params = (w1, b1, w2, b2)
    speeds = tuple(jnp.zeros_like(p) for p in params)

    def step(k, state):
        params, speeds = state
        x = lax.dynamic_slice_in_dim(x_train, k * batch, batch)
        labels = lax.dynamic_slice_in_dim(labels_train, k * batch, batch)
        h, p = port_forward(x, *params)
        grads = port_backward(x, labels, h, p, params[2])
        speeds = tuple(momentum * speed - rate * grad for speed, grad in zip(speeds, grads, strict=True))
        return tuple(param + speed for param, speed in zip(params, speeds, strict=True)), speeds

    def epoch(_, state):
        return lax.fori_loop(0, n // batch, step, state)

    params, speeds = lax.fori_loop(0, epochs, epoch, (params, speeds))
    _, p = port_forward(x_valid, *params)
    return -jnp.mean(jnp.log(p[jnp.arange(x_valid.shape[0]), labels_valid]))


def expert(x_train, labels_train, x_valid, labels_valid, w1, b1, w2, b2, rate, momentum, batch, epochs):
    """Two scans; each step takes its batch as it comes."""

    def loss(params, x, labels):
        w1, b1, w2, b2 = params
        scores = jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    def step(state, data):
        params, speeds = state
        grads = jax.grad(loss)(params, *data)
        speeds = jax.tree.map(lambda speed, grad: momentum * speed - rate * grad, speeds, grads)
        return (jax.tree.map(jnp.add, params, speeds), speeds), None

    data = x_train.reshape(-1, batch, x_train.shape[1]), jnp.asarray(labels_train).reshape(-1, batch)

    def epoch(state, _):
        return lax.scan(step, state, data)[0], None

    params = (w1, b1, w2, b2)
    (params, _), _ = lax.scan(epoch, (params, jax.tree.map(jnp.zeros_like, params)), None, length=epochs)
    return loss(params, x_valid, jnp.asarray(labels_valid))
