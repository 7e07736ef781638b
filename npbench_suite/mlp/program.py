"""Multilayer perceptron with three layers, in single precision: relu twice, and softmax at the end."""

import numpy as np


def initialize(C_in, N, S0, S1, S2, rng):
    values = {"input": rng.uniform(-1, 1, (N, C_in))}
    widths = (C_in, S0, S1, S2)
    for layer in (1, 2, 3):
        inputs, outputs = widths[layer - 1 : layer + 1]
        values[f"w{layer}"] = rng.uniform(-1, 1, (inputs, outputs)) / np.sqrt(inputs)
        # The biases, of both signs, outweigh what is added to them, so that relu stays off its kink.
        values[f"b{layer}"] = rng.uniform(1.5, 2, outputs) * np.where(np.arange(outputs) % 3, 1, -1)
    return {name: value.astype(np.float32) for name, value in values.items()}


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    weights = np.exp(x - largest)
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / total


def mlp(input, w1, b1, w2, b2, w3, b3):
    hidden = relu(input @ w1 + b1)
    hidden = relu(hidden @ w2 + b2)
    return softmax(hidden @ w3 + b3)
