"""A small network class, trained by mini-batches with momentum, and judged on data that it has not seen."""

import numpy as np


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


class Dense:
    def __init__(self, weights, bias, activation=None):
        self.weights = weights
        self.bias = bias
        self.activation = activation
        self.cache = {}

    def forward(self, x):
        z = x @ self.weights + self.bias
        self.cache["x"], self.cache["z"] = x, z
        return z if self.activation is None else self.activation(z)

    def backward(self, grad):
        if self.activation is np.tanh:
            grad = grad * (1.0 - np.tanh(self.cache["z"]) ** 2)
        elif self.activation is softplus:
            grad = grad / (1.0 + np.exp(-self.cache["z"]))
        return grad @ self.weights.T, {"weights": self.cache["x"].T @ grad, "bias": grad.sum(axis=0)}

    @property
    def parameters(self):
        return {"weights": self.weights, "bias": self.bias}


class Network:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def gradients(self, x, y):
        error = self.forward(x) - y
        grad, found = 2.0 * error / len(x), []
        for layer in reversed(self.layers):
            grad, own = layer.backward(grad)
            found.insert(0, own)
        return found

    def loss(self, x, y):
        return np.mean(np.sum((self.forward(x) - y) ** 2, axis=1))


class Momentum:
    def __init__(self, network, rate, decay):
        self.rate, self.decay = rate, decay
        self.velocity = [{k: np.zeros_like(v) for k, v in layer.parameters.items()} for layer in network.layers]

    def step(self, network, gradients):
        for layer, velocity, own in zip(network.layers, self.velocity, gradients):
            for name in own:
                velocity[name] = self.decay * velocity[name] - self.rate * own[name]
            layer.weights = layer.weights + velocity["weights"]
            layer.bias = layer.bias + velocity["bias"]


def program(params, x, y, rate, decay, batch):
    layers = [Dense(p["w"], p["b"], activation) for p, activation in zip(params, (np.tanh, softplus, None))]
    network = Network(layers)
    optimiser = Momentum(network, rate, decay)
    train = len(x) - batch
    for epoch in range(3):
        for start in range(0, train, batch):
            stop = start + batch
            optimiser.step(network, network.gradients(x[start:stop], y[start:stop]))
        optimiser.rate *= 0.9
    penalty = sum(np.sum(p["w"] ** 2) for p in params)
    return network.loss(x[train:], y[train:]) + 1e-3 * penalty


def arguments(rng):
    sizes = [3, 5, 4, 2]
    params = [
        {"w": 0.5 * rng.standard_normal((m, n)), "b": 0.1 * rng.standard_normal(n)} for m, n in zip(sizes, sizes[1:])
    ]
    return params, rng.standard_normal((24, 3)), rng.standard_normal((24, 2)), 0.05, 0.8, 6
