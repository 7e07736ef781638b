"""Training of a classifier with one hidden layer by stochastic gradient descent with momentum.

The result is the mean cross-entropy of the trained network on other data.
"""

import numpy as np


def initialize(batches, batch, features, hidden, classes, epochs, rng):
    n = batches * batch
    centres = rng.normal(size=(classes, features))
    labels_train = rng.integers(0, classes, n)
    labels_valid = rng.integers(0, classes, n // 2)
    return {
        "x_train": centres[labels_train] + rng.normal(size=(n, features)),
        "labels_train": labels_train,
        "x_valid": centres[labels_valid] + rng.normal(size=(n // 2, features)),
        "labels_valid": labels_valid,
        "w1": rng.normal(size=(features, hidden)) / np.sqrt(features),
        "b1": 0.1 * rng.normal(size=hidden),
        "w2": rng.normal(size=(hidden, classes)) / np.sqrt(hidden),
        "b2": 0.1 * rng.normal(size=classes),
        "rate": 0.05,
        "momentum": 0.8,
        "batch": batch,
        "epochs": epochs,
    }


def softmax(scores):
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def forward(x, w1, b1, w2, b2):
    h = np.tanh(x @ w1 + b1)
    return h, softmax(h @ w2 + b2)


def backward(x, labels, h, p, w2):
    n = x.shape[0]
    d_scores = p.copy()
    d_scores[np.arange(n), labels] -= 1.0
    d_scores /= n
    d_w2 = h.T @ d_scores
    d_b2 = d_scores.sum(axis=0)
    d_h = (d_scores @ w2.T) * (1.0 - h**2)
    d_w1 = x.T @ d_h
    d_b1 = d_h.sum(axis=0)
    return d_w1, d_b1, d_w2, d_b2


def mlp_training(x_train, labels_train, x_valid, labels_valid, w1, b1, w2, b2, rate, momentum, batch, epochs):
    n = x_train.shape[0]
    params = [w1.copy(), b1.copy(), w2.copy(), b2.copy()]
    speeds = [np.zeros_like(p) for p in params]

    for _ in range(epochs):
        for start in range(0, n, batch):
            x = x_train[start : start + batch]
            labels = labels_train[start : start + batch]
            h, p = forward(x, *params)
            grads = backward(x, labels, h, p, params[2])
            for param, speed, grad in zip(params, speeds, grads, strict=True):
                speed *= momentum
                speed -= rate * grad
                param += speed

    h, p = forward(x_valid, *params)
    return -np.mean(np.log(p[np.arange(x_valid.shape[0]), labels_valid]))
