"""A long short-term memory network on a batch of sequences, and its mean squared error at all times."""

import numpy as np


def initialize(T, batch, inputs, hidden, outputs, rng):
    return {
        "x": rng.normal(size=(T, batch, inputs)),
        "target": rng.normal(size=(T, batch, outputs)),
        "W_in": rng.normal(size=(inputs, 4 * hidden)) / np.sqrt(inputs),
        "W_hidden": rng.normal(size=(hidden, 4 * hidden)) / np.sqrt(hidden),
        "bias": 0.1 * rng.normal(size=4 * hidden),
        "W_out": rng.normal(size=(hidden, outputs)) / np.sqrt(hidden),
        "bias_out": 0.1 * rng.normal(size=outputs),
    }


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell(x, h, c, W_in, W_hidden, bias):
    n = h.shape[1]
    gates = x @ W_in + h @ W_hidden + bias
    i = sigmoid(gates[:, :n])
    f = sigmoid(gates[:, n : 2 * n])
    g = np.tanh(gates[:, 2 * n : 3 * n])
    o = sigmoid(gates[:, 3 * n :])
    c = f * c + i * g
    h = o * np.tanh(c)
    return h, c


def lstm(x, target, W_in, W_hidden, bias, W_out, bias_out):
    T, batch, _ = x.shape
    h = np.zeros((batch, W_hidden.shape[0]))
    c = np.zeros_like(h)
    outputs = []
    for t in range(T):
        h, c = cell(x[t], h, c, W_in, W_hidden, bias)
        outputs.append(h @ W_out + bias_out)
    outputs = np.stack(outputs)
    return np.mean((outputs - target) ** 2)
