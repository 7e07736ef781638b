"""Attention, recurrent layers and losses, with ATen's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from sdfgad.models import operators as op

Array = Any


def scaled_dot_product_attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Array:
    """Values weighted by the softmax of scaled products of queries and keys, with a mask that is added or cuts off."""
    factor = 1.0 / float(np.sqrt(q.shape[-1])) if scale is None else scale
    scores = (q * factor) @ np.swapaxes(k, -1, -2)
    if is_causal:
        scores = np.where(np.tril(np.ones((q.shape[-2], k.shape[-2]), np.bool_)), scores, -np.inf)
    if mask is None:
        return op.softmax(scores) @ v
    scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    # Of a query that sees nothing all weights are zero.
    most = np.max(scores, axis=-1, keepdims=True)
    e = np.exp(scores - np.where(most == -np.inf, 0.0, most))
    total = np.sum(e, axis=-1, keepdims=True)
    return (e / np.where(total == 0, 1.0, total)) @ v


def _lstm_step(gates: Array, c: Array, n: int) -> tuple[Array, Array]:
    """The next output and cell state; gates in the order input, forget, cell, output."""
    i, f, o = expit(gates[:, :n]), expit(gates[:, n : 2 * n]), expit(gates[:, 3 * n :])
    c = f * c + i * np.tanh(gates[:, 2 * n : 3 * n])
    return o * np.tanh(c), c


def _lstm_layer(x: Array, h: Array, c: Array, weights: Any, way: int) -> tuple[Array, Array, Array]:
    """All outputs of one direction of a layer, the last output, and the last cell state."""
    steps, batch, n = x.shape[0], x.shape[1], h.shape[1]
    gates = np.reshape(np.reshape(x, (steps * batch, -1)) @ weights[0].T, (steps, batch, 4 * n))
    gates = gates + (weights[2] + weights[3]) if len(weights) == 4 else gates
    y = np.empty((steps, batch, n), x.dtype)
    for t in range(steps)[::way]:
        h, c = _lstm_step(gates[t] + h @ weights[1].T, c, n)
        y[t] = h
    return y, h, c


def lstm(
    x: Array,
    states: Any,
    weights: Any,
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array, Array]:
    """Long short-term memory, of several layers and both directions."""
    each, ways = 4 if has_biases else 2, (1, -1) if bidirectional else (1,)
    x = np.swapaxes(x, 0, 1) if batch_first else x
    last_h: list[Array] = []
    last_c: list[Array] = []
    for _ in range(layers):
        found = []
        for way in ways:
            k = len(last_h)
            y, h, c = _lstm_layer(x, states[0][k], states[1][k], weights[k * each : (k + 1) * each], way)
            found.append(y)
            last_h.append(h)
            last_c.append(c)
        x = np.concatenate(found, axis=2) if bidirectional else found[0]
    return (np.swapaxes(x, 0, 1) if batch_first else x), np.stack(last_h), np.stack(last_c)


def _gru_layer(x: Array, h: Array, weights: Any, way: int) -> tuple[Array, Array]:
    """All outputs of one direction of a layer, and the last one; gates in the order reset, update, new."""
    steps, batch, n = x.shape[0], x.shape[1], h.shape[1]
    gates = np.reshape(np.reshape(x, (steps * batch, -1)) @ weights[0].T, (steps, batch, 3 * n))
    gates = gates + weights[2] if len(weights) == 4 else gates
    y = np.empty((steps, batch, n), x.dtype)
    for t in range(steps)[::way]:
        own = h @ weights[1].T + weights[3] if len(weights) == 4 else h @ weights[1].T
        r, z = expit(gates[t, :, :n] + own[:, :n]), expit(gates[t, :, n : 2 * n] + own[:, n : 2 * n])
        new = np.tanh(gates[t, :, 2 * n :] + r * own[:, 2 * n :])
        h = (1.0 - z) * new + z * h
        y[t] = h
    return y, h


def gru(
    x: Array,
    states: Array,
    weights: Any,
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array]:
    """Gated recurrent unit, of several layers and both directions."""
    each, ways = 4 if has_biases else 2, (1, -1) if bidirectional else (1,)
    x = np.swapaxes(x, 0, 1) if batch_first else x
    last: list[Array] = []
    for _ in range(layers):
        found = []
        for way in ways:
            k = len(last)
            y, h = _gru_layer(x, states[k], weights[k * each : (k + 1) * each], way)
            found.append(y)
            last.append(h)
        x = np.concatenate(found, axis=2) if bidirectional else found[0]
    return (np.swapaxes(x, 0, 1) if batch_first else x), np.stack(last)


def _reduced(each: Array, reduction: int) -> Array:
    """All losses, their mean or their sum: 0, 1 or 2."""
    if reduction == 0:
        return each
    return np.mean(each) if reduction == 1 else np.sum(each)


def nll_loss_forward(x: Array, target: Array, weight: Array, reduction: int, ignore_index: int) -> tuple[Array, None]:
    """The negative of what is there for the target classes."""
    scores = x if x.ndim > 1 else x[None]
    kind = ("none", "mean", "sum")[reduction]
    loss = op.negative_log_likelihood_loss(
        scores, np.reshape(target, -1), weight, ignore_index=ignore_index, reduction=kind
    )
    return loss, None


def mse_loss(x: Array, target: Array, reduction: int = 1) -> Array:
    """Squares of differences."""
    return _reduced((x - target) * (x - target), reduction)
