"""LeNet-5 convolutional network, in single precision: two convolutions, each with a pool, and three layers."""

import numpy as np


def initialize(N, H, W, rng):
    features = 16 * (((H - 4) // 2 - 4) // 2) * (((W - 4) // 2 - 4) // 2)

    def weights(gain, *shape):
        return rng.uniform(-gain, gain, shape) / np.sqrt(np.prod(shape[:-1]))

    def biases(size):
        return rng.uniform(1.5, 2, size) * np.where(np.arange(size) % 3, 1, -1)

    # Away from the kinks: the biases, of both signs, outweigh what is added to them, and no pool sees two large
    # pixels alike, because kernels weigh the middle most and images repeat a pattern of 4 by 4 pixels, all different.
    pattern = rng.permutation(16).reshape(4, 4) / 8 - 1
    images = np.tile(pattern, (H // 4 + 1, W // 4 + 1))[:H, :W, np.newaxis] * rng.uniform(0.6, 1, (N, 1, 1, 1))
    conv1 = weights(0.03, 5, 5, 1, 6)
    conv1[2, 2] += 1.0
    conv2 = weights(0.03, 5, 5, 6, 16)
    conv2[2, 2, np.arange(16) % 3, np.arange(16)] += 1.0
    values = {
        "input": images + rng.uniform(-0.01, 0.01, (N, H, W, 1)),
        "conv1": conv1,
        "conv1bias": biases(6),
        "conv2": conv2,
        "conv2bias": biases(16),
        "fc1w": weights(0.25, features, 120),
        "fc1b": biases(120),
        "fc2w": weights(0.5, 120, 84),
        "fc2b": biases(84),
        "fc3w": weights(5.0, 84, 10),
        "fc3b": biases(10),
    }
    single = {name: value.astype(np.float32) for name, value in values.items()}
    return {**single, "N": N, "C_before_fc1": features}


def relu(x):
    return np.maximum(x, 0)


def conv2d(input, weights):
    K = weights.shape[0]
    height = input.shape[1] - K + 1
    width = input.shape[2] - K + 1
    output = np.empty((input.shape[0], height, width, weights.shape[3]), dtype=np.float32)
    for i in range(height):
        for j in range(width):
            window = input[:, i : i + K, j : j + K, :, np.newaxis]
            output[:, i, j, :] = np.sum(window * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return output


def maxpool2d(x):
    height, width = x.shape[1] // 2, x.shape[2] // 2
    output = np.empty([x.shape[0], height, width, x.shape[3]], dtype=x.dtype)
    for i in range(height):
        for j in range(width):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def lenet5(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x = maxpool2d(relu(conv2d(input, conv1) + conv1bias))
    x = maxpool2d(relu(conv2d(x, conv2) + conv2bias))
    x = np.reshape(x, (N, C_before_fc1))
    x = relu(x @ fc1w + fc1b)
    x = relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b
